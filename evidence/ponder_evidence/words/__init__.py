"""What only the evidence of lesson 12 runs and draws."""

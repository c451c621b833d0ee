"""What only the evidence of lesson 11 runs and draws."""

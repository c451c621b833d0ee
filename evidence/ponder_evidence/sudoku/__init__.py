"""What only the evidence of lesson 10 runs and draws."""

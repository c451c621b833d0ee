"""What only the evidence of lesson 02 runs and draws."""

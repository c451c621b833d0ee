"""What only the evidence of lesson 05 runs and draws."""

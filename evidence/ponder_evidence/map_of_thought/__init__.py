"""What only the evidence of lesson 07 runs and draws."""

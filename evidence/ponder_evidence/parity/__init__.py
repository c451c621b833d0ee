"""What only the evidence of lesson 03 runs and draws."""

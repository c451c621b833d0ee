"""What only the evidence of lesson 01 runs and draws."""

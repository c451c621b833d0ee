"""What only the evidence of lesson 04 runs and draws."""

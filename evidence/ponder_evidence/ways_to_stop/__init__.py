"""What only the evidence of lesson 06 runs and draws."""

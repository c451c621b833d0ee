"""What only the evidence of lesson 09 runs and draws."""

"""What only the evidence of lesson 08 runs and draws."""

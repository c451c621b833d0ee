"""What halting saves, and what a GPU makes of training: `make bench`, `make gpu`."""

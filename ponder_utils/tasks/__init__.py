"""Tasks: whole batches of inputs and targets, made on the device from a `torch.Generator`."""

"""One module per foreign format; each holds a `READER`."""

"""One module per foreign format; each defines a `READER`."""

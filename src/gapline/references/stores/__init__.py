"""One module per store that snapshots are frozen from."""

"""Files: atomic writes, reads within size limits, safe unpacking."""

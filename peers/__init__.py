"""gapline beside other tools, on the same traces: `python -m peers` writes docs/compared.md."""

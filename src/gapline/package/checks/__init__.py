"""What `gapline verify` checks: one module per kind of evidence."""

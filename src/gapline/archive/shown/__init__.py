"""What `gapline verify` shows, a module for each thing that it looks at."""

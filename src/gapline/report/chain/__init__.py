"""The page of a chain of snapshots: who improved what, and when."""

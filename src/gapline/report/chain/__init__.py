"""The page of a chain of snapshots: who improved which value, and when."""

"""A study as a replication package: written, shown to be true, and run again."""

"""Logs and trace files of others, and our own journal, turned into a `Campaign`."""

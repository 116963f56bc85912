"""Replication packages: pack, verify, run again."""

"""Traces as CSV, JSONL, Parquet, Arrow, frames or recordings: read as a `Campaign`, and exported."""

"""Read traces (CSV, JSONL, Parquet, Arrow, frames, recordings) as a `Campaign`, and export them."""

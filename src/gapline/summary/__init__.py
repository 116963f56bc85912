"""Per-run scores turned into means with their uncertainty."""

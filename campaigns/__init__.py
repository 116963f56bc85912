"""The campaign of the documentation: `python -m campaigns` runs it and writes docs/campaign.md."""

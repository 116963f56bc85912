"""What a study states about its analysis, and what a caller may state instead."""

"""Five campaigns from a question to a page: `python -m campaigns.gallery` runs them and writes docs/gallery/."""

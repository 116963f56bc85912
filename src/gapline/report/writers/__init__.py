"""The four ways a table is written: terminal, Markdown, LaTeX, CSV."""

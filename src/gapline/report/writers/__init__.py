"""The writers of tables: terminal, Markdown, LaTeX, CSV."""

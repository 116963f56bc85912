"""Tables for a paper: built once, written as Markdown, CSV and LaTeX."""

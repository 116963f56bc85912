"""The report as one HTML file that works offline: data, template, styles and the script that recomputes it."""

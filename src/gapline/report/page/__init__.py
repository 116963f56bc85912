"""The report as one HTML file that needs no network: data, template, styles and the script that recomputes it."""

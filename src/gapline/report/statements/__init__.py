"""Every sentence about a study: headline, methods paragraph, comparison, summary of an analysis, remarks."""

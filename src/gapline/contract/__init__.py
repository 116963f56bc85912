"""The contract of a study, its plan and choices, and the schemas and names that every folder shares."""

"""The nouns: campaigns, their tables and keys, declared transforms."""

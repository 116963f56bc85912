"""One file format in one room: what a run said, what checkers said of it, and what was planned."""

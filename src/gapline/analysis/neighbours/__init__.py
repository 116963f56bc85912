"""Classical measures beside the primal integral, from the same envelopes."""

"""Classical measures of anytime performance, from the same envelopes."""

"""Envelopes and references turned into scores, companions and curves."""

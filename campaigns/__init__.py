"""Campaigns of real solvers: those of the gallery, and that of the paper."""

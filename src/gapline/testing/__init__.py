"""Suites that the author of a plug-in inherits: what holds for ours must hold for theirs."""

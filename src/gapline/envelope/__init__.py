"""Build envelopes: the accepted steps of each run, selected from its captured candidates."""

"""How often intervals and tests err: simulated on data where the truth is known. `python -m simulations`."""

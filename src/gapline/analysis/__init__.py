"""What changes when the choices change: the same traces under other kernels, references, horizons and weights."""

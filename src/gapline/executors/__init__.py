"""Run functions over partitions or cells on processes, Dask, SLURM or OAR."""

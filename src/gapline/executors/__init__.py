"""Functions over partitions or cells: threads, processes, Dask, SLURM, OAR."""

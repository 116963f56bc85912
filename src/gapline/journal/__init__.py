"""Read and write the journals of runs, the verdicts on them and the register of plans."""

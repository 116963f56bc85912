"""Where runs are made: cores of this machine, workers, batch systems."""

"""One run as a process: started, stamped, bounded, stopped, cleared."""

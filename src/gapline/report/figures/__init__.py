"""One file per figure: what it shows is an object, drawing it is a function."""

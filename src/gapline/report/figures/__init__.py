"""One module per figure: its content is an object, and a function draws it."""

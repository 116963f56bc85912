"""The zoo holds solvers that misbehave; they are run by tests, not imported."""

# Doctest collection imports modules, and to import one of these is to run it.
collect_ignore = ["zoo"]

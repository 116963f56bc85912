"""A contract in, journals out: plan, process control, solver adapters, resume."""

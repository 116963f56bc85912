"""From a contract to journals: plan, process control, solver adapters, executors, resume."""

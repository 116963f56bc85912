"""Mean scores with their uncertainty: intervals, contrasts, rankings, power."""

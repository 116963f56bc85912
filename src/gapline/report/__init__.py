"""Tables and curves for people: terminal, figures, documents."""

"""Tables and curves as people look at them: terminal, figures, documents."""

"""How the documentation is made: outputs quoted and compared, drawings, generated tables and references, the site."""

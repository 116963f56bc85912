"""The paper's figures and computable tables, drawn again from its definitions, the built-in campaign or a study."""

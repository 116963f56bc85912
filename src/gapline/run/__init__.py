"""Run the cells of a contract and write their journals, with checks and resume."""

"""Solvers as child processes: the command line that runs an arm, and what is missing for it.

A solver prints one JSON object per line on its standard output, flushed at once::

    {"solver": "kayros", "version": "1.6.1"}
    {"objective": 1234.5, "solution": [[1, 2], [3]]}
    {"objective": 1200.0, "solution": [[1, 3], [2]], "time": 0.7, "bound": 900.0}

The first line names the solver and its version, and with `"model": "mean travel times"` states that it solves a
simplified model. Each later line is a candidate: the objective according to the solver, and a solution that the checker
can read; `time` (the solver's own seconds) and `bound` (a dual bound) may be added. The host stamps the line when it
arrives. Any program in any language that does this is a solver: see `solver = "command"`. In Python, `run_adapter` with
`announce` and `emit` does the printing; `gapline.testing.AdapterSuite` tests an adapter.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gapline.solvers.protocol import Task, announce, emit, emit_bound, run_adapter

if TYPE_CHECKING:
    from gapline.solvers.catalogue import (
        Adapter,
        Option,
        arms_lack,
        check_setup,
        command_line,
        model_of,
        program_files,
        simplified_arms,
        solver_identity,
    )

__all__ = [
    "Adapter", "Option", "Task", "announce", "arms_lack", "check_setup", "command_line", "emit", "emit_bound",
    "model_of", "program_files", "run_adapter", "simplified_arms", "solver_identity",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Adapters import this package within the solver's time: do not load the contract and its libraries for them.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("gapline.solvers.catalogue"), name)

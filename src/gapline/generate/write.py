"""Write generated instances into a directory."""

import re
from collections.abc import Callable
from operator import methodcaller
from pathlib import Path

from gapline.errors import UsageError
from gapline.generate.cvrp import cvrp_files
from gapline.generate.mip import knapsack_files, setcover_files
from gapline.generate.tdvrptw import tdvrptw_files
from gapline.generate.vrptw import vrptw_files
from gapline.model.text import meant
from gapline.model.writing import write_atomically

PROBLEMS: dict[str, dict[str, Callable[[str, int], dict[str, bytes]]]] = {
    "tdvrptw": {"": tdvrptw_files},
    "vrptw": {"": vrptw_files},
    "cvrp": {"": cvrp_files},
    "mip": {"setcover": setcover_files, "knapsack": knapsack_files},
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


def write_instances(problem: str, folder: str | Path, *, name: str, customers: int, count: int = 1) -> list[Path]:
    """Write `count` instances called NAME-nCUSTOMERS-1, -2, ... and return the paths of their instance files.

    `mip` has two families, `setcover` and `knapsack`, and `count` of each, called NAME-FAMILY-nCUSTOMERS-1, -2, ...;
    its `customers` are variables. Everything about an instance follows from its problem, name, size and number: the
    same files on every machine. A file of the same name is replaced.
    """
    refuse_unknown(problem)
    if not _NAME.fullmatch(name):
        raise UsageError(f"name: expected up to 60 letters, digits, dots, dashes or underscores, got {name!r}")
    if customers < 1 or count < 1:
        raise UsageError(f"expected at least one customer or variable and one instance, got {customers} and {count}")
    paths = []
    for family, make_files in PROBLEMS[problem].items():
        for number in range(1, count + 1):
            files = make_files("-".join(filter(None, [name, family, f"n{customers}", str(number)])), customers)
            for file_name, content in files.items():
                write_atomically(Path(folder) / file_name, methodcaller("write", content))
            # The instance file comes first; what follows lies beside it.
            paths.append(Path(folder) / next(iter(files)))
    return paths


def refuse_unknown(problem: str) -> None:
    """Raise an error that shows the nearest problem, where there is none of this name."""
    if problem not in PROBLEMS:
        hint = meant(problem, PROBLEMS)
        raise UsageError(f"problem: expected one of {', '.join(PROBLEMS)}, got {problem!r}", hint=hint)

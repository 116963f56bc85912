"""Whether an arm was one solver: a version that changes inside it makes two arms of it."""

import polars as pl

from gapline.model.text import counted


def version_changes(runs: pl.DataFrame) -> list[str]:
    """Name each arm whose runs were made by several versions of its solver; runs that state none change nothing.

    >>> runs = pl.DataFrame({"arm": ["a", "a", "a", "b"], "solver_version": ["1.0", "1.1", "1.0", None]})
    >>> version_changes(runs)
    ['arm a: 1.0 made 2 runs, 1.1 made 1 run']
    """
    if "solver_version" not in runs.columns:
        return []
    # Imports rarely state a version; a run that is silent contradicts nobody.
    known = runs.select("arm", "solver_version").drop_nulls().group_by("arm", "solver_version").len()
    found: dict[str, list[str]] = {}
    for arm, version, count in known.sort("arm", "solver_version").iter_rows():
        found.setdefault(arm, []).append(f"{version} made {counted(count, 'run')}")
    return [f"arm {arm}: {', '.join(versions)}" for arm, versions in found.items() if len(versions) > 1]

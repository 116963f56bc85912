"""Solver versions of an arm: runs of several versions are not one arm."""

from collections.abc import Mapping

import polars as pl

from gapline.text import counted


def version_changes(runs: pl.DataFrame) -> list[str]:
    """Name each arm whose runs were made by several versions of its solver; runs without a version are ignored.

    >>> runs = pl.DataFrame({"arm": ["a", "a", "a", "b"], "solver_version": ["1.0", "1.1", "1.0", None]})
    >>> version_changes(runs)
    ['arm a: 1.0 made 2 runs, 1.1 made 1 run']
    """
    if "solver_version" not in runs.columns:
        return []
    # Imports rarely state a version; a run without one contradicts nothing.
    known = runs.select("arm", "solver_version").drop_nulls().group_by("arm", "solver_version").len()
    return several_versions({(arm, version): count for arm, version, count in known.iter_rows()})


def several_versions(runs: Mapping[tuple[str, str], int]) -> list[str]:
    """Name each arm with several versions, given the number of runs per arm and version."""
    found: dict[str, list[str]] = {}
    for (arm, version), count in sorted(runs.items()):
        found.setdefault(arm, []).append(f"{version} made {counted(count, 'run')}")
    return [f"arm {arm}: {', '.join(versions)}" for arm, versions in found.items() if len(versions) > 1]

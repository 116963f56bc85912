"""Kernels, statistics and weights of the user's own are loaded; what a contract names needs leave to run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gapline.contract.layout import CONTRACT_FILE
from gapline.contract.names import WeightCode, check_statistic_name, keep_weight, split_python_name
from gapline.contract.user_code import refuse_code
from gapline.errors import listing
from gapline.scoring.user_functions import Weight, as_weight, load_kernel, load_statistic, load_weight


def load_functions(
    folder: Path | None, given: Mapping[str, Any], stated: Mapping[str, Any], noticed: list[str]
) -> tuple[str, ...]:
    """Import the functions that are named, and return the statistics; what a contract names needs leave to run."""
    allow_code = given.get("allow_code", False)
    kernels, statistics = given.get("kernels"), given.get("statistics")
    wanted = [name for name in kernels or stated.get("kernels", ()) if split_python_name(name)]
    found = tuple(statistics or stated.get("statistics", ()))
    for name in found:
        check_statistic_name(name)
    if not allow_code and not kernels and wanted:
        refuse_code(wanted, folder, where=f"{folder}/{CONTRACT_FILE}: score.kernel")
    if not allow_code and not statistics and found:
        noticed.append(f"statistics of the contract are left out, as its code may not run: {listing(found)}")
        found = ()
    for name in wanted:
        load_kernel(name, folder=folder if allow_code else None)
    for name in found:
        load_statistic(name, folder=folder if allow_code else None)
    return found


def load_time_weight(folder: Path | None, given: Mapping[str, Any], chosen: Weight) -> str:
    """Return the name of the time weight, its function loaded where it is one; a contract's needs leave to run."""
    if not isinstance(chosen, str):
        made = as_weight(chosen)
        # Steps under a name of the caller's: from here on everything goes by the name.
        named = made.code is WeightCode.STEPS and not made.name.startswith("steps:")
        return keep_weight(made).name if named else made.name
    if split_python_name(chosen):
        allow_code = given.get("allow_code", False)
        if not allow_code and "weight" not in given:
            refuse_code([chosen], folder, where=f"{folder}/{CONTRACT_FILE}: score.weight", option="--weight")
        load_weight(chosen, folder=folder if allow_code else None)
    return chosen

"""What this machine and installation have, for `gapline doctor` and for records of runs."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from gapline.model.version import VERSION

CORE = ("numpy", "numba", "polars", "pydantic", "msgspec", "rfc8785", "packaging", "rich", "rich-click")
_BROUGHT = {
    "figures": ("altair", "vl-convert-python", "jinja2"),
    "mip": ("miplog", "highspy", "pyscipopt"),
    "zst": ("zstandard",),
    "routing": ("kayros", "mamut-routing-lib", "pyvrp", "ortools", "vrplib"),
    "solvers": ("vrp-cli", "hygese", "pyvroom"),
    "timefold": ("solverforge-legacy",),
    "hexaly": ("hexaly",),
    "serve": ("starlette", "uvicorn"),
    "dask": ("distributed",),
    "slurm": ("submitit",),
    "oar": ("submitit-oar",),
    "cloud": ("fsspec", "s3fs"),
}
EXTRAS = {package: extra for extra, packages in _BROUGHT.items() for package in packages}


def package_version(name: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def describe_environment() -> dict[str, str]:
    """Return versions, cores and, for each missing extra, the command that brings it."""
    facts = {
        "gapline": VERSION,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
    }
    facts |= {name: package_version(name) or "missing" for name in CORE}
    for name, extra in EXTRAS.items():
        facts[name] = package_version(name) or f"missing: pip install 'gapline[{extra}]'"
    return facts

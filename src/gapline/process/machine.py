"""Facts about this machine: hardware, load, versions, installed packages."""

import contextlib
import os
import platform
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gapline.contract.version import VERSION

# /proc/stat counts in these ticks, usually hundredths of a second.
_TICKS = os.sysconf("SC_CLK_TCK")
CPUS = Path("/sys/devices/system/cpu")


@lru_cache(maxsize=1)
def describe_machine() -> dict[str, str]:
    """Return host name, processor, cores, memory, kernel and versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "host": platform.node(),
        "processor": _processor_name(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "gapline": VERSION,
    }


def _processor_name() -> str:
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"^model name\s*:(.*)$", text, re.MULTILINE):
            return found[1].strip()
    return platform.machine()


def frequency_policy(cpus: Sequence[int], root: Path = CPUS) -> dict[str, str]:
    """Return the frequency governor of the cores and whether boost is on, as far as the system reports them."""
    # If the clock of a core follows the load or rises for some seconds, later solvers get a faster or slower machine.
    governors = {first_line(root / f"cpu{cpu}/cpufreq/scaling_governor") for cpu in cpus} - {None}
    boost = first_line(root / "cpufreq/boost")
    no_turbo = first_line(root / "intel_pstate/no_turbo")
    facts = {}
    if governors:
        facts["governor"] = "+".join(sorted(str(name) for name in governors))
    if boost is not None or no_turbo is not None:
        # AMD and generic drivers have `boost`; Intel's has `no_turbo`, with the opposite meaning.
        facts["boost"] = "on" if (boost == "1" if boost is not None else no_turbo == "0") else "off"
    return facts


def first_line(path: Path) -> str | None:
    """Return the content of a small file of the kernel; None if it cannot be read."""
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None


def load_average() -> float | None:
    """Return the load average of the last minute; None if the system does not report it."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def busy_seconds(cpus: Sequence[int]) -> float | None:
    """Return for how many seconds the given cores have worked since boot, for all processes."""
    wanted = {f"cpu{number}" for number in cpus}
    total = 0
    try:
        for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
            name, *fields = line.split()
            if name in wanted:
                user, nice, system, _idle, _wait, irq, softirq, steal = (int(field) for field in fields[:8])
                total += user + nice + system + irq + softirq + steal
    except (OSError, ValueError):
        return None
    return total / _TICKS


CORE = ("numpy", "numba", "polars", "scipy", "pydantic", "msgspec", "rfc8785", "packaging", "rich", "rich-click")
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
    """Return versions, cores and, for each missing extra, the command that installs it."""
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

"""The host at a moment: what it is, how loaded it is, how busy single cores were."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Above this share of a run's cores used by others, the run's stamps are not those of a quiet machine. The system counts
# in ticks of 10 ms and the supervisor works too, so a fraction of a second says nothing.
NOISY_SHARE = 0.1
NOISY_SECONDS = 0.3


def is_noisy(foreign_share: float | None, elapsed: float) -> bool:
    """Say whether others used a run's cores to an extent that shows in its stamps."""
    return foreign_share is not None and foreign_share > NOISY_SHARE and foreign_share * elapsed > NOISY_SECONDS


def describe_machine() -> dict[str, str]:
    """Return processor, cores, memory, kernel and versions."""
    from gapline import __version__

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor_name(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "gapline": __version__,
    }


def _processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.machine()


def load_average() -> float | None:
    """Return the load over the last minute, where the system tells."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def busy_seconds(cpus: Sequence[int]) -> float | None:
    """Return for how long the given cores have worked since the machine started, whoever they worked for."""
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

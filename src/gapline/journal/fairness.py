"""Fairness of the measurement: what the journal says of a run's cores, clock and neighbours."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gapline.journal.records import Ending, Order

# If other processes use more than this share of a run's cores, its time stamps are not those of a quiet machine. The
# system counts in ticks of 10 ms and the supervisor works too, so a fraction of a second is not significant.
NOISY_SHARE = 0.1
NOISY_SECONDS = 0.3
# On a quiet machine, stamps are a few milliseconds late.
LATE = 0.02
STALLED = 0.1
# Below this, the files may be the machine's own files on tmpfs.
MUCH_SHARED = 100_000_000
# The number of limits that the kernel can keep: processes, cores, memory and the number of processes.
ALL_KEPT = 4

SHARED_CORES = "shared cores"
LOADED_HOST = "loaded host"
LATE_STAMPS = "late stamps"
SLOW_DISK = "slow disk"
STOPPED = "stopped supervisor"

_WORST = ("load", "foreign_share", "overshoot", "jitter", "shared_memory")

Value = str | int | float | bool | None


def is_noisy(foreign_share: float | None, elapsed: float) -> bool:
    """Whether other processes used enough of a run's cores to affect its time stamps."""
    return foreign_share is not None and foreign_share > NOISY_SHARE and foreign_share * elapsed > NOISY_SECONDS


def disturbances(order: Order, ending: Ending) -> list[str]:
    """Return what disturbed a run from outside; effects of the solver on itself are not included.

    `shared cores`: other processes used more than a tenth of its cores. `loaded host`: the run was not pinned, and the
    load exceeded the number of cores when it began. `late stamps`: the supervisor, which takes the stamps, was woken
    more than 20 ms late. `slow disk`: the solver's output waited for the disk. `stopped supervisor`: the supervisor was
    stopped for a while.
    """
    found = []
    if is_noisy(ending.foreign_share, ending.elapsed):
        found.append(SHARED_CORES)
    cores = order.machine.get("cores", "")
    # A pinned run is judged by the share of its own cores: the load of the host includes work on other cores.
    if not order.cpus and order.load is not None and cores.isdecimal() and order.load > int(cores):
        found.append(LOADED_HOST)
    if ending.jitter is not None and ending.jitter > LATE:
        found.append(LATE_STAMPS)
    if ending.stalled > STALLED:
        found.append(SLOW_DISK)
    if ending.stops:
        found.append(STOPPED)
    return found


def fairness_columns(order: Order, ending: Ending | None) -> dict[str, Value]:
    """Return the columns of the runs table that say how a run was measured; null if unknown."""
    columns: dict[str, Value] = {name: order.machine.get(name) for name in ("host", "governor", "boost")}
    columns |= {"cpus": ",".join(map(str, order.cpus)) or None, "load": order.load}
    if ending is None:
        return columns | dict.fromkeys(("cpu_share", "foreign_share", "overshoot", "jitter", "disturbed"))
    # A run that was not pinned may use any core; its share is of one core and can exceed 1.
    width = max(1, len(order.cpus))
    if ending.limits:
        # Older runs did not record these: without the columns, the digests of their campaigns do not change.
        columns |= {name: getattr(ending, name) for name in ("limits", "unpinned", "shared_memory")}
    return columns | {
        "cpu_share": round(ending.cpu_time / (ending.elapsed * width), 4) if ending.elapsed > 0 else None,
        "foreign_share": ending.foreign_share,
        "overshoot": round(max(0.0, ending.elapsed - order.horizon), 6),
        "jitter": ending.jitter,
        "disturbed": ", ".join(disturbances(order, ending)),
    }


@dataclass(slots=True)
class Fairness:
    """Summary of how the runs of a campaign were measured; numbers are None if no run has them.

    `cpu_share` is the median of CPU time over wall time and cores; the other numbers are the worst of all runs.
    """

    runs: int = 0
    pinned: int = 0
    disturbed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    hosts: list[str] = field(default_factory=list)
    governors: list[str] = field(default_factory=list)
    boost: list[str] = field(default_factory=list)
    cpu_share: float | None = None
    load: float | None = None
    foreign_share: float | None = None
    overshoot: float | None = None
    jitter: float | None = None
    limits: Counter[str] = field(default_factory=Counter)
    unpinned: int = 0
    shared_memory: float | None = None

    def document(self) -> dict[str, object]:
        """Return the summary as a JSON object."""
        counters = {"reasons": dict(self.reasons), "limits": dict(self.limits)}
        return {name: getattr(self, name) for name in self.__slots__ if name not in counters} | counters

    def lines(self) -> list[str]:
        """Return the summary as a few lines of text."""
        if not self.runs:
            return []
        where = f"{len(self.hosts)} hosts" if len(self.hosts) > 1 else "one host"
        clock = f"governor {_listed(self.governors)}, boost {_listed(self.boost)}"
        share = f", CPU time / wall time {self.cpu_share:.2f} (median)" if self.cpu_share is not None else ""
        return [
            f"{self.pinned} of {self.runs} runs pinned to their cores on {where}; {clock}{share}",
            *self._disturbance_lines(),
            *self._limit_lines(),
        ]

    def disturbed_lines(self) -> list[str]:
        """Return how many runs were disturbed, and the worst values; empty if none was."""
        return self._disturbance_lines() if self.disturbed else []

    def _disturbance_lines(self) -> list[str]:
        worst = [
            f"load {self.load:g}" if self.load is not None else "",
            f"others' share of the cores {self.foreign_share:.1%}" if self.foreign_share is not None else "",
            f"overshoot {self.overshoot:.3f} s" if self.overshoot is not None else "",
            f"stamps' jitter {1000 * self.jitter:.1f} ms" if self.jitter is not None else "",
        ]
        # For candidates, `late` means after the horizon: the text says "delayed" for stamps, unlike the column.
        words = {name: name.replace("late", "delayed") for name in self.reasons}
        reasons = ", ".join(f"{words[name]} {count}" for name, count in sorted(self.reasons.items()))
        return [
            f"{self.disturbed} of {self.runs} runs were disturbed" + (f" ({reasons})" if reasons else ""),
            f"at worst: {', '.join(filter(None, worst))}",
        ]

    def _limit_lines(self) -> list[str]:
        lines = [f"limits {who_kept(limits)}: {count} runs" for limits, count in sorted(self.limits.items())]
        if self.unpinned:
            lines.append(f"{self.unpinned} runs left their cores and were put back")
        if self.shared_memory is not None and self.shared_memory > MUCH_SHARED:
            lines.append(f"up to {self.shared_memory / 1e6:.0f} MB in files on /dev/shm or the like beside the runs")
        return lines


def who_kept(limits: str) -> str:
    """Describe how the limits of a run were enforced.

    >>> who_kept("kernel: processes, memory")
    'kept by the kernel (cgroup v2: processes, memory), the rest by sampling ten times a second'
    """
    kernel, _, what = limits.partition(": ")
    if kernel != "kernel":
        return "kept by sampling ten times a second"
    rest = "" if what.count(",") == ALL_KEPT - 1 else ", the rest by sampling ten times a second"
    return f"kept by the kernel (cgroup v2: {what}){rest}"


def _listed(values: list[str]) -> str:
    return " and ".join(values) if values else "not readable"


def summarise_fairness(rows: Iterable[Mapping[str, object]]) -> Fairness:
    """Summarise rows with the columns of `fairness_columns`, such as those of a campaign's runs table."""
    found = Fairness()
    shares: list[float] = []
    named: dict[str, set[str]] = {name: set() for name in ("host", "governor", "boost")}
    worst: dict[str, float] = {}
    # Row by row, so that for 100,000 runs only the summary stays in memory.
    for row in rows:
        found.runs += 1
        found.pinned += row.get("cpus") is not None
        reasons = [reason for reason in str(row.get("disturbed") or "").split(", ") if reason]
        found.disturbed += bool(reasons)
        found.reasons.update(reasons)
        for name, values in named.items():
            if (value := row.get(name)) is not None:
                values.add(str(value))
        if row.get("limits"):
            found.limits[str(row["limits"])] += 1
        found.unpinned += (_number(row, "unpinned") or 0) > 0
        if (share := _number(row, "cpu_share")) is not None:
            shares.append(share)
        for name in _WORST:
            if (number := _number(row, name)) is not None:
                worst[name] = max(worst.get(name, number), number)
    found.hosts, found.governors, found.boost = (sorted(values) for values in named.values())
    found.cpu_share = statistics.median(shares) if shares else None
    for name in _WORST:
        setattr(found, name, worst.get(name))
    return found


def _number(row: Mapping[str, object], name: str) -> float | None:
    return float(value) if isinstance(value := row.get(name), int | float) else None

"""Was a run measured fairly: what the journal tells of its cores, its clock and its neighbours."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gapline.journal.records import Ending, Order

# Above this share of a run's cores used by others, the run's stamps are not those of a quiet machine. The system counts
# in ticks of 10 ms and the supervisor works too, so a fraction of a second says nothing.
NOISY_SHARE = 0.1
NOISY_SECONDS = 0.3
# Stamps of a quiet machine are a few milliseconds late.
LATE = 0.02
STALLED = 0.1
# Below this the machine's own files on tmpfs are as large.
MUCH_SHARED = 100_000_000
# Processes, cores, memory and the number of processes.
ALL_KEPT = 4

SHARED_CORES = "shared cores"
LOADED_HOST = "loaded host"
LATE_STAMPS = "late stamps"
SLOW_DISK = "slow disk"
STOPPED = "stopped supervisor"

_WORST = ("load", "foreign_share", "overshoot", "jitter", "shared_memory")

Value = str | int | float | bool | None


def is_noisy(foreign_share: float | None, elapsed: float) -> bool:
    """Say whether others used a run's cores to an extent that shows in its stamps."""
    return foreign_share is not None and foreign_share > NOISY_SHARE and foreign_share * elapsed > NOISY_SECONDS


def disturbances(order: Order, ending: Ending) -> list[str]:
    """Say what disturbed a run from outside; nothing that a solver does to itself is among it.

    `shared cores`: others used more than a tenth of its cores. `loaded host`: it was not pinned, and there was more
    work than cores when it began. `late stamps`: the supervisor, which stamps, was woken more than 20 ms late.
    `slow disk`: the solver's output waited for the disk. `stopped supervisor`: somebody stopped it for a while.
    """
    found = []
    if is_noisy(ending.foreign_share, ending.elapsed):
        found.append(SHARED_CORES)
    cores = order.machine.get("cores", "")
    # A pinned run is told by the share of its own cores; the load of the whole host would blame it for others.
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
    """Return the columns of the runs table that say how a run was measured; null where nobody could tell."""
    columns: dict[str, Value] = {name: order.machine.get(name) for name in ("host", "governor", "boost")}
    columns |= {"cpus": ",".join(map(str, order.cpus)) or None, "load": order.load}
    if ending is None:
        return columns | dict.fromkeys(("cpu_share", "foreign_share", "overshoot", "jitter", "disturbed"))
    # A run that was not pinned may use any core; its share is then of one core and can exceed 1.
    width = max(1, len(order.cpus))
    if ending.limits:
        # Not of runs from before anybody looked: the digest of older campaigns stays what it was.
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
    """How the runs of a campaign were measured, taken together; numbers are None where no run tells.

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
        """Return it as JSON takes it."""
        counters = {"reasons": dict(self.reasons), "limits": dict(self.limits)}
        return {name: getattr(self, name) for name in self.__slots__ if name not in counters} | counters

    def lines(self) -> list[str]:
        """Say it in a few lines."""
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
        """Say how many runs were disturbed, and how much at worst; nothing where none was."""
        return self._disturbance_lines() if self.disturbed else []

    def _disturbance_lines(self) -> list[str]:
        worst = [
            f"load {self.load:g}" if self.load is not None else "",
            f"others' share of the cores {self.foreign_share:.1%}" if self.foreign_share is not None else "",
            f"overshoot {self.overshoot:.3f} s" if self.overshoot is not None else "",
            f"stamps' jitter {1000 * self.jitter:.1f} ms" if self.jitter is not None else "",
        ]
        # Of candidates `late` means after the horizon: to a reader a stamp is delayed, whatever the column says.
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
    """Say who kept the limits of a run.

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
    """Summarise rows that have the columns of `fairness_columns`, such as those of a campaign's runs table."""
    found = Fairness()
    shares: list[float] = []
    named: dict[str, set[str]] = {name: set() for name in ("host", "governor", "boost")}
    worst: dict[str, float] = {}
    # Row by row: of a campaign of 100,000 runs, only what is summarised stays in memory.
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

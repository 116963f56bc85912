"""`Reading`: the choices behind a number, part of every result and printed with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gapline.contract.instance_set import InstanceSet
from gapline.contract.layout import Identity
from gapline.contract.result_table import as_document
from gapline.errors import listing
from gapline.text import counted, error_bound

if TYPE_CHECKING:
    from gapline.contract.time_scale import TimeScale

# A relative difference up to this is no difference: checkers and solvers disagree in the last bits.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ReferenceLabel:
    """The reference of a result: policy, name and digest, and the instances for which it has no value.

    `unreferenced` are instances that no run solved; they are scored without a value.
    """

    policy: str
    name: str
    digest: str
    unreferenced: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} ({self.policy}, {self.digest[:19]}…)"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        return as_document(self)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The part of the planned runs that a number is based on.

    `runs` are scored; of them `empty` have no valid candidate, `failed` ended badly, and the end of `unknown` is not
    recorded; `unreferenced` are on instances without a reference, which no run solved, and score the worst value.
    `planned` is None without a contract. `running`, `interrupted` and `missing` are planned cells without a complete
    attempt: in progress, cut short and never started; `filled` of them are counted as empty runs, on request.
    `unchecked` runs are complete, wait for a verdict, and are left out. Also left out are `removed` runs, of arms or
    cells that the contract does not have; `unscorable` ones, whose instance cannot be scored; and `unshared` ones,
    whose instance some compared arm did not run. `aside` of the absent cells are on such instances.
    """

    runs: int
    empty: int = 0
    failed: int = 0
    unknown: int = 0
    planned: int | None = None
    interrupted: int = 0
    missing: int = 0
    filled: int = 0
    removed: int = 0
    unscorable: int = 0
    unshared: int = 0
    aside: int = 0
    unreferenced: int = 0
    running: int = 0
    unchecked: int = 0

    @property
    def absent(self) -> int:
        """Planned cells without a complete attempt, or without its verdict."""
        return self.running + self.interrupted + self.missing + self.unchecked

    @property
    def complete(self) -> bool:
        """Whether every planned cell has a complete attempt and its verdict, as far as is known."""
        return not self.absent

    @property
    def short(self) -> bool:
        """Whether planned cells are neither run nor counted as empty; then no ranking may be headlined.

        Cells on instances that are left out do not count.
        """
        return self.absent > self.filled + self.aside

    def __str__(self) -> str:
        whole = self.runs - self.filled
        words = counted(whole, "run") if self.planned is None else f"{whole:,} of {self.planned:,} planned runs"
        more = {name: getattr(self, name) for name in ("running", "interrupted", "missing")}
        words += "".join(f", {number:,} {name}" for name, number in more.items() if number)
        words += f", {waiting_words(self.unchecked)}" if self.unchecked else ""
        if self.filled:
            words += f", {self.filled:,} of them counted as empty"
        if self.unreferenced:
            verb = "scores" if self.unreferenced == 1 else "score"
            words += f"; {counted(self.unreferenced, 'run')} on instances that nobody solved, without reference, "
            words += f"{verb} the worst value"
        if self.unscorable:
            words += f"; {counted(self.unscorable, 'run')} on unscorable instances left out"
        if self.unshared:
            words += f"; {counted(self.unshared, 'run')} on instances that not every compared arm ran left out"
        return words + (f"; {self.removed:,} runs outside the contract left out" if self.removed else "")

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        # Without a plan it is unknown whether cells are missing: null, not true.
        known = None if self.planned is None else self.complete
        return {name: getattr(self, name) for name in self.__slots__} | {"complete": known}


def waiting_words(runs: int) -> str:
    """Return how many runs wait for a verdict, in the same words everywhere.

    >>> waiting_words(1), waiting_words(2000)
    ('1 waiting for a verdict', '2,000 waiting for a verdict')
    """
    return f"{runs:,} waiting for a verdict"


def vouched(validation: str, checker: str | None = None) -> str:
    """Return who validated the candidates, as captions print it.

    >>> vouched("checker"), vouched("checker", "cvrp 1.0"), vouched("declared", "cvrp 1.0")
    ('validated by checker', 'validated by checker cvrp 1.0', 'valid as the source declares')
    """
    if validation == "declared":
        return "valid as the source declares"
    # In a mixture, the name follows the word `checker`.
    return f"validated by {validation.replace('checker', f'checker {checker}', 1) if checker else validation}"


def add_coverage(parts: Sequence[Coverage]) -> Coverage:
    """Add up the coverage of disjoint parts; `planned` is known only if every part knows it."""
    planned = None if any(part.planned is None for part in parts) else sum(part.planned or 0 for part in parts)
    names = [name for name in Coverage.__slots__ if name != "planned"]
    return Coverage(planned=planned, **{name: sum(getattr(part, name) for part in parts) for name in names})


@dataclass(frozen=True, slots=True)
class Reading:
    """The choices behind a number; two readings that differ are never averaged.

    `weighting` is None until runs are averaged. `tier_two` are arms that are described and not compared. `instance_set`
    says which of the others are ranked: those that ran the same instances. `announced` are the horizons that the
    solvers were given, `horizons` those that are scored; under a `time_scale` the former are in seconds of each
    machine, the latter in those of the reference machine. `checker` is the name and version of the checker whose
    verdicts count, if known. `statistics` are user-defined numbers per run. `code` has the digest of the source of each
    kernel, weight and statistic that is a user's function. `weight_error` is the relative error of the integral of such
    a weight. `packages` are the replication packages that the runs come from. `origins` says where clock, horizon,
    validation, sense, threads, machine and reference date were stated.
    """

    reference: ReferenceLabel
    kernels: tuple[str, ...]
    weight: str
    horizons: tuple[float, ...]
    validation: str
    transform: str
    goals: tuple[float, ...] = ()
    announced: tuple[float, ...] = ()
    tolerance: float = TOLERANCE
    weighting: str | None = None
    tier_two: tuple[str, ...] = ()
    instance_set: InstanceSet = field(default_factory=InstanceSet)
    coverage: Coverage = field(default_factory=lambda: Coverage(0))
    time_unit: str = "s"
    time_scale: "TimeScale | None" = None
    statistics: tuple[str, ...] = ()
    checker: str | None = None
    code: tuple[tuple[str, str], ...] = ()
    weight_error: float | None = None
    packages: tuple[Identity, ...] = ()
    origins: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def line(self) -> str:
        """Return the choices in one line, as captions print them; kernels are in the heads of their columns."""
        off = "" if self.weight_error is None else f" (integrated to {error_bound(self.weight_error)})"
        parts = [f"against {self.reference}", f"weight {self.weight}{off}"]
        if self.weighting is not None:
            parts.append(f"{self.weighting}-equal")
        horizons = listing((f"{h:g}" for h in self.horizons), most=4)
        # The user gave the horizon if neither the runner nor the source states one.
        given = " (given)" if "option" in self.origins.get("horizon", ()) else ""
        parts += [f"horizon {horizons} {self.time_unit}{given}", vouched(self.validation, self.checker)]
        if self.time_scale is not None:
            parts.append(f"time scaled: {self.time_scale}")
        for source in dict.fromkeys(digest for _, digest in self.code):
            names = [name for name, digest in self.code if digest == source]
            parts.append(f"code {listing(names)} ({source[:19]}…)")
        if self.transform != "none":
            parts.append(f"transform {self.transform}")
        parts.append(str(self.coverage))
        if self.tier_two:
            parts.append(f"descriptive, not compared: {listing(self.tier_two)}")
        parts += [str(self.instance_set)] if str(self.instance_set) else []
        parts += [f"from the package {package}" for package in self.packages]
        return "; ".join(parts)

    def document(self) -> dict[str, Any]:
        """Return it for JSON, under the same names in every command."""
        # Only with packages: the report of a study directory goes into its package, and must not change.
        packages = {"packages": [package.document() for package in self.packages]} if self.packages else {}
        return {
            "reference": self.reference.document(),
            "kernels": list(self.kernels),
            "weight": self.weight,
            "weight_error": self.weight_error,
            "weighting": self.weighting,
            "horizons": {"announced": list(self.announced), "scored": list(self.horizons)},
            "time_scale": None if self.time_scale is None else self.time_scale.document(),
            "statistics": list(self.statistics),
            "code": dict(self.code),
            "validation": self.validation,
            "checker": self.checker,
            "transform": self.transform,
            "tolerance": self.tolerance,
            "tier_two": list(self.tier_two),
            "instance_set": self.instance_set.document(),
            "coverage": self.coverage.document(),
            "origins": {fact: list(map(str, origins)) for fact, origins in self.origins.items()},
            **packages,
        }

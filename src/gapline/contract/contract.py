"""The contract of a study, `study.toml`: everything a reader needs to interpret a score."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from gapline.contract.metadata import Metadata
from gapline.contract.reading import TOLERANCE
from gapline.text import model_name

PLACEHOLDERS = ("instance", "seed", "horizon", "threads")
# The adapters that ship with gapline; other packages add theirs through the entry point group below.
SOLVERS = (
    "kayros", "kayros.lera", "pyvrp", "ortools", "vrp-cli", "hygese", "pyvroom", "timefold", "hexaly", "jsprit",
    "highs", "scip", "cpsat",
)  # fmt: skip
SOLVER_ENTRY_POINTS = "gapline.solvers"
CHECKERS = ("tdvrptw", "vrptw", "cvrp", "mip")
CHECKER_PREFIXES = ("command:", "python:")

Threads = Annotated[int, Field(ge=1)]
Megabytes = Annotated[int, Field(ge=1)]
# Each seed is a run of every arm on every instance.
MOST_SEEDS = 1_000_000
# Chosen by the type of the value, so that a mistake is reported for a list or for a count, not for both.
Seeds = Annotated[
    Annotated[int, Field(ge=1, le=MOST_SEEDS), Tag("count")]
    | Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1), Tag("list")],
    Discriminator(lambda given: "list" if isinstance(given, list) else "count"),
]
Option = str | int | float | bool
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]
Factor = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class StudyTable(Metadata):
    """What the study is called, and what those need who cite, archive and find it."""

    name: Name
    """Short name, used in file names and snapshots."""
    instances_source: str = ""
    """Where others get the instances (a URL, a DOI, words), for packages that may not hold them."""


class ObjectiveTable(_Section):
    """What is minimised, and who says that a candidate is valid."""

    name: str = "objective"
    """What the objective measures, for example duration or distance."""
    sense: Literal["min", "max"] = "min"
    """A maximised objective without a transform is scored through its reciprocal."""
    transform: str | list[str] = "none"
    """none, shift:C, reciprocal[:C], negate-shift:C, hierarchical:M or :10n; in a list also rules: panel:P=shift:C."""
    validation: Literal["checker", "solver"] = "checker"
    """Who validates candidates; printed on every output."""
    checker: str | None = None
    """tdvrptw, vrptw, cvrp, mip, command:PROGRAM [ARGUMENTS], or python:MODULE:FUNCTION."""


class TimeTable(_Section):
    """The timing protocol."""

    horizon: Seconds
    """Seconds announced to each solver, and scored."""
    grace: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Seconds after the horizon until a solver that has not stopped is told to."""
    clock: Literal["wall", "cpu"] = "wall"
    """The clock of the stamps; gapline's runner stamps by the host's monotonic wall clock."""
    charged: str = "process start, reading, model construction and search; not checking"
    """The work that the clock charges to the solver."""
    granularity: str = "nanoseconds, at receipt by the host"
    """The granularity of the stamps."""
    threads: Threads = 1
    """Cores given to each run."""
    memory: Megabytes | None = None
    """Memory limit of each run in MB; none when left out."""
    machine: str = ""
    """The machine class, in words; the runner records what it finds besides."""
    scale: dict[Name, Factor] = {}
    """Reference seconds per second of a host, by name or pattern."""


class ReferenceTable(_Section):
    """What the scores are measured against."""

    policy: Literal["frozen", "analysis", "retrospective"] = "frozen"
    """frozen: known before the first run; analysis: folded from the campaign; retrospective: known later."""
    snapshot: str | None = None
    """Path of the snapshot, relative to the study directory."""
    tolerance: float = Field(default=TOLERANCE, ge=0, lt=1)
    """A relative difference up to this is none: to beat a reference, to attain a goal, to pass a threshold."""


class ScoreTable(_Section):
    """Which scores are computed."""

    kernel: str | list[str] = "squeezed"
    """One name or several: squeezed, maxform, berthold, dimacs:THETA, raw, python:MODULE:FUNCTION."""
    statistics: list[str] = []
    """Functions of one run, python:MODULE:FUNCTION, averaged beside the scores; run only with --allow-code."""
    weight: str = "uniform"
    """uniform, early-log:TMIN, end-log:TCUT, or steps such as steps:0=1,10=0.5."""
    goals: list[Annotated[float, Field(ge=0, allow_inf_nan=False)]] = [0.0, 0.01, 0.05]
    """Raw gaps whose attainment is reported."""

    @property
    def kernels(self) -> list[str]:
        """The kernels as a list."""
        return [self.kernel] if isinstance(self.kernel, str) else list(self.kernel)


class BootstrapTable(_Section):
    """How confidence intervals and p-values are found."""

    method: Literal["skew-t", "t", "percentile", "sign-flip"] = "skew-t"
    """`percentile` is the paper's cluster bootstrap, which is too sure with few instances; see docs/statistics.md."""
    draws: int = Field(default=10_000, ge=1)
    """Number of resamples."""
    seed: int = Field(default=0, ge=0)
    """Seed of the resampling."""
    level: float = Field(default=0.95, gt=0, lt=1)
    """Confidence level."""


def _named(given: object) -> object:
    """Expand the name of a method into the whole table."""
    return {"method": given} if isinstance(given, str) else given


class AggregateTable(_Section):
    """How runs are averaged."""

    weighting: Literal["panel", "instance", "run"] = "panel"
    """What counts equally in a mean."""
    bootstrap: Annotated[BootstrapTable, BeforeValidator(_named, json_schema_input_type=BootstrapTable | str)] = (
        BootstrapTable()
    )
    """A table, or the name of the method alone: bootstrap = "percentile"."""
    simultaneous: bool = False
    """Widen the intervals of the declared contrasts so that all hold together, and draw joint bands."""
    contrasts: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = []
    """Pairs of tier-1 arms whose difference was declared of interest before the runs."""


class _Allotment(_Section):
    """What a run is given, where it differs from the study's."""

    seeds: Seeds | None = None
    """How many seeds (10: seeds 1 to 10), or which."""
    horizon: Seconds | None = None
    """Seconds announced and scored."""
    threads: Threads | None = None
    """Cores of each run."""
    memory: Megabytes | None = None
    """Memory limit of each run in MB."""


class _Problem(_Allotment):
    panel: Name = "all"
    """Family and size, for example demo-25."""
    sense: Literal["min", "max"] | None = None
    """Where it differs from the study's."""
    transform: str | None = None
    """Where it differs from the study's: none, shift:C, reciprocal[:C] or negate-shift:C."""
    name: str = ""
    """Unique name; the file name without its suffix when left out."""
    source: str = ""
    """Where others get the file, where it differs from the study's `instances_source`."""


class Instance(_Problem):
    """One instance and the panel it belongs to."""

    path: Name
    """Path of the instance file, relative to the study directory."""
    size: int | None = None
    """Number of customers, jobs, rows: whatever size means in this study."""


class InstanceEntry(_Problem):
    """An instance, every file that a pattern finds, or every row of a list.

    In `panel`, `name` and `size` of a pattern or a list, {stem} is the file name without its suffix, {parent} the name
    of its folder, {folder} the path of that, and {1}, {2}, … what the wildcards of the pattern stand for.
    """

    path: str = ""
    """A file relative to the study directory, or a pattern: * and ? inside a folder, ** across folders."""
    csv: str = ""
    """Instead of a path: a list of instances, with the columns path and panel, size, name, … where these differ."""
    exclude: list[str] = []
    """Patterns of paths that are left out."""
    size: Annotated[int, Field(ge=1)] | str | None = None
    """Number of customers, jobs, rows: whatever size means in this study; or where it stands, as "{1}"."""


class Arm(_Allotment):
    """A solver with its version and settings."""

    name: Name
    """Unique name of the arm."""
    solver: Annotated[str, Field(min_length=1, examples=[*SOLVERS, "command"])]
    """The adapter, ours or another package's; `command` runs any program that prints gapline's JSON lines."""
    options: dict[str, Option | list[Option]] = {}
    """Settings handed to the adapter."""
    tier: Literal[1, 2] = 1
    """Tier 1 is compared, tier 2 is descriptive."""
    model: str = ""
    """The simplified problem that it solves, such as "mean travel times": then it is of tier 2. "exact": none."""
    command: list[str] = []
    """For solver = "command": program and arguments; {instance}, {seed}, {horizon} and {threads} are filled in."""
    format: str = ""
    """For solver = "command": the format of its log, as `gapline import --format` names it, where it prints no JSON."""
    instances: list[str] = []
    """The instances it runs on, all when left out: patterns of names, panel:PATTERN, or size<=50."""
    steps: dict[str, Option] = {}
    """Where it stands on its ladder; filled in by gapline."""
    step_of: str = ""
    """The name of the entry that declares its ladder; filled in by gapline."""


class ArmEntry(Arm):
    """An arm, or a ladder of them."""

    ladder: dict[str, Annotated[list[Option], Field(min_length=1)]] = {}
    """Settings at several steps, an arm for each: ladder = {slices = [5, 24, 96]}. In `name` and `command` the name in
    braces is the step; threads, memory, horizon are the run's, others go to `options`."""


class Where(_Allotment):
    """What some runs are given: those that fit every pattern named here. Of several that fit, the last counts."""

    arm: str | list[str] = []
    """Patterns of names of arms."""
    panel: str | list[str] = []
    """Patterns of names of panels."""
    instance: str | list[str] = []
    """Patterns of names of instances."""
    size: str = ""
    """<=50, >50, =100 or 20..50."""


class ReplicatesTable(_Section):
    """What this study runs again: a replication package, or a part of it. Written by `gapline replicate`."""

    name: Name
    """The name of the package's file."""
    sha256: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    """The digest of the package's file."""
    swhid: Annotated[str, Field(pattern=r"^swh:1:dir:[0-9a-f]{40}$")]
    """The identifier of what is in it."""
    arms: list[str] = []
    """The arms that are run, by name or pattern; all when left out."""
    panels: list[str] = []
    """The panels that are run, by name or pattern; all when left out."""
    seeds: list[Annotated[int, Field(ge=0)]] = []
    """The seeds that are run; all when left out."""
    horizon_scale: Factor = 1.0
    """By what every horizon of this contract is multiplied."""


class _Declared(_Section):
    study: StudyTable
    objective: ObjectiveTable
    time: TimeTable
    reference: ReferenceTable = ReferenceTable()
    score: ScoreTable = ScoreTable()
    aggregate: AggregateTable = AggregateTable()
    where: list[Where] = []
    replicates: ReplicatesTable | None = None


class ContractFile(_Declared):
    """A study's contract, as written in `study.toml`."""

    seeds: Seeds
    """How many seeds (10: seeds 1 to 10), or which; each is run once per arm and instance."""
    instances: list[InstanceEntry] = Field(min_length=1)
    arms: list[ArmEntry] = Field(min_length=1)


class Contract(_Declared):
    """A study's contract with patterns, lists and ladders expanded into single instances and arms.

    `load_contract` (`contract/study_file.py`) reads one and reports every mistake at once.
    """

    seeds: list[int]
    instances: list[Instance]
    arms: list[Arm]

    @property
    def senses(self) -> dict[str, str]:
        """The sense of each instance: its own, or else that of the study."""
        return {one.name: one.sense or self.objective.sense for one in self.instances}

    @property
    def stated_senses(self) -> dict[str, str]:
        """The senses that the contract states; the default `min` does not count."""
        is_stated = "sense" in self.objective.model_fields_set
        return {one.name: one.sense or self.objective.sense for one in self.instances if one.sense or is_stated}

    @property
    def transforms(self) -> tuple[str, ...]:
        """The declared transforms as `open_study` takes them: that of the study and those of single instances."""
        own = [f"{one.name}={one.transform}" for one in self.instances if one.transform is not None]
        given = self.objective.transform
        # An instance's own entry first: of two rules that fit it, the first counts.
        return (*own, *(one for one in ([given] if isinstance(given, str) else given) if one != "none"))


def default_name(path: str) -> str:
    """Return the name of an instance whose entry states none.

    >>> default_name("instances/demo-1.vrp.json"), default_name("X/X-n101-k25.vrp")
    ('demo-1', 'X-n101-k25')
    """
    name = re.split(r"[/\\]", path)[-1]
    if (bare := model_name(name.removesuffix(".vrp.json"))) != name:
        return bare
    return name.rpartition(".")[0] or name


def study_schema() -> dict[str, object]:
    """Return the JSON Schema of `study.toml`; `study.schema.json` next to this module holds the same for editors."""
    schema = ContractFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}

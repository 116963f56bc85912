"""The format of `results.json`, the numbers of a report for machines, and its reader.

A version (`gapline.results/1`) only gains fields. A file of an older gapline lacks some of them, which are None or
empty here; a file of a newer gapline has more, which are kept but not interpreted. Changing or removing a field
requires a new version, which this reader refuses. `results.schema.json` next to this module is the same format as a
JSON Schema.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from gapline.contract.layout import RESULTS, RESULTS_FILE
from gapline.contract.mistakes import field_mistakes, suggestion
from gapline.errors import TraceError, UsageError, found_at, listing
from gapline.files.open_file import read_document, reason_of
from gapline.text import printable

SCHEMA = "gapline.results/1"
_FAMILY, _, _VERSION = SCHEMA.partition("/")

# JSON has no infinity: a mean that exceeds the range of doubles is "overflow".
Number = float | Literal["overflow"] | None
Rows = list[dict[str, JsonValue]]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]+$")]


class _Part(BaseModel):
    # Keep fields that a newer gapline adds.
    model_config = ConfigDict(extra="allow", frozen=True, use_attribute_docstrings=True, protected_namespaces=())


class ReferenceResult(_Part):
    """What the scores are measured against."""

    policy: str
    """frozen, registered after the runs began, retrospective, given or analysis."""
    name: str
    digest: str
    unreferenced: list[str] = []
    """Instances without a value, which no run solved."""


class CoverageResult(_Part):
    """How much of what was meant to happen the numbers rest on."""

    runs: int
    empty: int
    """Runs without a valid candidate."""
    failed: int
    unknown: int
    """Runs of which nobody says how they ended."""
    planned: int | None
    """None where no contract says what was meant to happen."""
    interrupted: int
    missing: int
    filled: int
    removed: int
    unscorable: int = 0
    unshared: int = 0
    aside: int = 0
    unreferenced: int = 0
    running: int = 0
    unchecked: int = 0
    """Whole runs that wait for a verdict."""
    complete: bool | None
    """None where no contract says what was meant to happen."""


class HorizonsResult(_Part):
    """Seconds that the solvers were told, and those that are scored."""

    announced: list[float]
    scored: list[float]


class OtherInstancesResult(_Part):
    """A compared arm that ran other instances than the ranked ones, and how many of these and of others."""

    arm: str
    shared: int
    more: int


class InstanceSetResult(_Part):
    """Which arms are ranked: those that ran the same instances."""

    rule: str
    """What becomes of missing runs: leave-out, common, empty or refuse."""
    arms: list[str]
    instances: int
    others: list[OtherInstancesResult] = []
    left_out: int = 0
    """Instances that not every compared arm ran, where these are left out."""
    reason: str | None = None
    """Why no arm is ranked."""


class ReadingResult(_Part):
    """Under which choices numbers were made: two that differ here are never averaged."""

    reference: ReferenceResult
    kernels: list[str]
    """The first one ranks."""
    weight: str
    weight_error: float | None = None
    weighting: str | None
    """What counts equally in a mean: panel, instance or run."""
    horizons: HorizonsResult
    time_scale: dict[str, JsonValue] | None = None
    statistics: list[str] = []
    code: dict[str, str] = {}
    """Kernels, weights and statistics of one's own, with the digest of their source."""
    validation: str
    """Who vouches for the candidates: checker, declared or solver."""
    checker: str | None = None
    transform: str
    tolerance: float | None = None
    tier_two: list[str] = []
    """Arms that are described and not compared."""
    instance_set: InstanceSetResult | None = None
    coverage: CoverageResult | None = None
    origins: dict[str, list[str]] = {}
    """Who stated each fact: journal, log, file, contract or option; or it is not stated."""


class ArmResult(_Part):
    """The means of an arm under one reading."""

    arm: str
    tier: int | None = None
    rank: int | None = None
    """By the first kernel, among arms of tier 1; None where nothing is ranked."""
    runs: int
    empty: int
    rejected: int
    late: int
    unchecked: int
    scores: dict[str, Number]
    """By kernel: 0 is best."""
    statistics: dict[str, Number] = {}
    final_gap: Number
    """Mean raw gap at the horizon, over runs that are not empty."""
    final_squeezed: Number
    attainment: dict[str, float | None]
    """By goal: the share of runs that reached it."""


class ReadingOfArms(ReadingResult):
    """The means of all arms against one reference."""

    statistic: str
    arms: list[ArmResult]
    notes: list[str] = []


class CampaignResult(_Part):
    """The runs that everything is computed from."""

    digest: str
    runs: int
    notes: list[str] = []


class HeadlineResult(_Part):
    """One statement and the numbers behind it; `settled` where an arm is said to be better than another."""

    text: str
    detail: str
    settled: bool


class SolverResult(_Part):
    """What an arm ran, as its runs record it."""

    arm: str
    tier: int
    solver: list[str]
    solver_version: list[str]
    model: str | None = None
    """The simplified model that it solves in place of the instances, if it does."""


class FactsResult(_Part):
    """Counts and identities of the study."""

    runs: int
    arms: int
    instances: int
    panels: int
    captured: int
    rejected: int
    late: int
    coverage: CoverageResult
    unreadable: int
    superseded: int = 0
    superseded_because: dict[str, int] = {}
    left_behind: int = 0
    over_cap: int = 0
    validation: str
    checker: str | None
    solvers: list[SolverResult]
    transform: str
    hierarchy: list[str]
    tolerance: float
    instance_set: str | None
    """sha256 over the sorted digests of the instance files."""
    contrasts_registered: bool | None
    """Whether the contrasts were registered before the first run; None where nobody knows."""


class IntervalResult(_Part):
    """The confidence interval of an arm's mean score; without bounds where `reason` says why."""

    arm: str
    instances: int
    mean: Number
    low: Number
    high: Number
    reason: str | None


class ContrastResult(_Part):
    """The difference of two arms, a minus b: below zero, a is ahead."""

    a: str
    b: str
    declared: bool
    """Declared before the data."""
    instances: int
    mean_a: Number
    mean_b: Number
    difference: Number
    low: Number
    high: Number
    p: float | None
    p_smallest: float | None = None
    p_holm: float | None
    wins: int
    ties: int
    losses: int
    reason: str | None


class HealthResult(_Part):
    """What became of the candidates and runs of an arm."""

    arm: str
    runs: int
    captured: int
    rejected: int
    terminal_invalid: int
    empty: int
    late: int
    unchecked: int
    crashed: int
    unknown: int = 0


class RejectionResult(_Part):
    """How many candidates of an arm were rejected for a reason."""

    arm: str
    reason: str
    rejected: int


class ClaimResult(_Part):
    """One side of a contradiction; without a value it claims that there is no solution."""

    value: float | None
    source: str
    certified: bool
    arm: str | None = None
    """Whose run it is; None for a stored value."""


class AlarmResult(_Part):
    """A contradiction on one instance."""

    kind: str
    instance: str
    certificate: ClaimResult
    other: ClaimResult


class ClauseResult(_Part):
    """A statement of the methods paragraph; `declared` is false where nobody said."""

    topic: str
    text: str
    declared: bool


class Results(_Part):
    """What a report found, as `results.json` holds it; None or empty where an older gapline did not write it."""

    format: Annotated[str, Field(alias="schema", pattern=rf"^{_FAMILY}/{_VERSION}$")]
    """Name and version of this format."""
    title: str
    """Title of the study."""
    versions: dict[str, str]
    """gapline and the libraries that decide bytes."""
    campaign: CampaignResult
    headline: HeadlineResult | None = None
    reading: ReadingResult | None = None
    """The choices of the study."""
    facts: FactsResult | None = None
    readings: list[ReadingOfArms] = Field(min_length=1)
    """Means of all arms, against each reference: that of the contract first."""
    intervals: list[IntervalResult] | None
    """The confidence interval of each arm's mean score."""
    contrasts: list[ContrastResult] | None
    """Differences of pairs of arms, declared and exploratory."""
    no_intervals: str | None
    """Why there are no intervals."""
    health: list[HealthResult]
    design: Rows | None = None
    """Which runs the contract asks for, by kind of evidence, and how many are done."""
    ladders: dict[str, Rows] = {}
    """By name of the ladder: what each step delivers."""
    rejections: list[RejectionResult]
    metric_sensitivity: dict[str, JsonValue]
    """The same runs under every kernel and reference: means, saturated runs, signs, ratios, orders that reverse."""
    reference_sensitivity: dict[str, JsonValue] | None
    """How far each arm's mean moves from one reference to the other."""
    transform_sensitivity: dict[str, JsonValue] | None = None
    """Means and orders under other transforms of the objective."""
    complementarity: dict[str, JsonValue]
    """Pairs of arms with similar scores that end elsewhere, and over which thresholds."""
    horizon_sweep: dict[str, JsonValue]
    """Mean scores at shorter horizons, and the horizons at which two arms swap."""
    cutoff_sweep: dict[str, JsonValue] | None = None
    """Means under logarithmic weights by their cutoff, and cutoffs at which two arms swap."""
    neighbours: Rows = []
    """The classical measures of each arm."""
    neighbour_choices: dict[str, JsonValue] | None = None
    """Under which choices the classical measures were made."""
    ranks: dict[str, JsonValue] | None = None
    """Mean ranks over instances, Friedman's test and the critical difference."""
    ratings: dict[str, JsonValue] | None = None
    """Bradley-Terry ratings on the Elo scale."""
    neighbour_pairs: Rows | None = None
    """Pairs of arms by Wilcoxon's test, the probability of improvement and the area between their curves."""
    no_ranks: str | None = None
    """Why there are no ranks."""
    alarms: list[AlarmResult]
    methods: list[ClauseResult]
    files: dict[str, Digest]
    """Every other file of the report with the digest of its bytes."""
    derived: list[str] = []
    """Files without a digest: PDF is not the same twice."""
    drawing: dict[str, JsonValue] = {}
    """How the figures were drawn: width in centimetres, title, caption, font size, grey, logarithmic time."""

    @property
    def arms(self) -> list[ArmResult]:
        """The means under the reference of the contract."""
        return self.readings[0].arms

    def arm(self, name: str) -> ArmResult:
        """Return the means of an arm under the reference of the contract."""
        names = [one.arm for one in self.arms]
        if name not in names:
            raise UsageError(f"arm: expected one of {listing(names)}, got {name!r}{suggestion(name, names)}")
        return self.arms[names.index(name)]

    def frame(self, section: str) -> pl.DataFrame:
        """Return a section that is a list of rows (arms, intervals, contrasts, health, neighbours, …) as a frame."""
        # Readings have arms inside them, and the derived files are names.
        fields = [name for name in type(self).model_fields if isinstance(getattr(self, name), list)]
        known = ["arms", *(name for name in fields if name not in ("readings", "derived"))]
        if section not in known:
            raise UsageError(
                f"section: expected one of {', '.join(known)}, got {section!r}{suggestion(section, known)}"
            )
        rows = getattr(self, section)
        plain = [row.model_dump() if isinstance(row, _Part) else row for row in rows]
        return pl.DataFrame(plain, infer_schema_length=None)


class _Stated(msgspec.Struct):
    """The field with the version of the format."""

    schema: str


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema of `results.json`, which is also stored in `results.schema.json` next to this module."""
    schema = Results.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def read_results(path: str | Path, /) -> Results:
    """Read the results of a report.

    Parameters
    ----------
    path
        A `results.json`, or the folder of the report or of the study that holds it.

    Raises
    ------
    TraceError
        If there is no such file, this gapline does not know its version, or it does not match the format of its
        version; the message names the mismatches.
    """
    file = Path(path)
    for inside in (file / RESULTS_FILE, file / RESULTS / RESULTS_FILE):
        if file.is_dir() and inside.is_file():
            file = inside
    try:
        data = read_document(file)
    except OSError as error:
        found = found_at(file) if file.is_dir() or not file.exists() else reason_of(error)
        raise TraceError(f"{file}: expected a {RESULTS_FILE}, got {found}", hint="gapline report writes one") from None
    _refuse_others(file, data)
    try:
        return Results.model_validate_json(data, strict=True)
    except ValidationError as error:
        mistakes = field_mistakes(error, Results)
        shown = "".join(f"\n  {printable(mistake[:300])}" for mistake in mistakes[:20])
        more = f"\n  and {len(mistakes) - 20} more" if len(mistakes) > 20 else ""
        raise TraceError(
            f"{file}: expected what {SCHEMA} says, got {len(mistakes)} places that differ{shown}{more}",
            hint="the file was changed after it was written; gapline report writes it anew",
        ) from None


def _refuse_others(file: Path, data: bytes) -> None:
    try:
        stated = msgspec.json.decode(data, type=_Stated).schema
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise TraceError(f"{file}: expected the results of a report ({SCHEMA}), got {error}") from None
    if stated != SCHEMA:
        newer = stated.startswith(f"{_FAMILY}/")
        raise TraceError(
            f"{file}: expected schema {SCHEMA}, got {printable(stated)!r}",
            hint="upgrade gapline to read it" if newer else None,
        )

"""Settle arm, instance, seed and panel of a run from options, a path pattern, or the log itself."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.row_groups import Numbered
from gapline.errors import TraceError, UsageError, closest, listing
from gapline.files.compression import PACKED, path_without_packing
from gapline.logs.reader import FoundRun
from gapline.text import model_name

FIELDS = ("arm", "instance", "seed", "panel")
SEED_NOTES = (
    "",
    "no seed stated, the only run of its arm and instance: seed 0",
    "no seed stated: numbered in file order",
)


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """The known parts of a run's identity; None if unknown."""

    arm: str | None = None
    instance: str | None = None
    seed: int | None = None
    panel: str | None = None


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern such as `{arm}/{instance}-s{seed}.log`, matched against the tail of each path; `*` matches anything.

    >>> PathPattern.parse("{arm}/{instance}-s{seed}.log").match("runs/hgs/X-n101-k25-s7.log.gz")
    LogIdentity(arm='hgs', instance='X-n101-k25', seed=7, panel=None)
    """

    text: str
    shortest: re.Pattern[str] = field(repr=False)
    longest: re.Pattern[str] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> "PathPattern":
        """Compile a pattern; fields other than arm, instance, seed and panel raise an error."""
        names = re.findall(r"\{([^{}]*)\}", text)
        for name in names:
            if name not in FIELDS:
                near, known = closest(name, FIELDS), listing("{" + field + "}" for field in FIELDS)
                hint = f"did you mean {{{near}}}?" if near else None
                raise UsageError(f"--name {text}: expected {known}, got {{{name}}}", hint=hint)
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise UsageError(f"--name {text}: expected each field once, got {{{twice[0]}}} twice")
        if not names:
            raise UsageError(f"--name {text}: expected a field such as {{instance}}, got none")
        return cls(text, _compile(text, "+?", "*?"), _compile(text, "+", "*"))

    def match(self, path: str) -> LogIdentity | None:
        """Read the fields from a path, or None if it does not match; raise an error if there are two ways."""
        path = path.replace("\\", "/")
        # A pattern that ends in .log also matches run.log.gz.
        if not self.text.lower().endswith(PACKED):
            path = path_without_packing(path)
        short, long = self.shortest.search(path), self.longest.search(path)
        if short is None or long is None:
            return None
        # The shortest and the longest match agree only if there is no third one.
        if short.groupdict() != long.groupdict():
            raise TraceError(
                f"{path}: --name {self.text} can be read in two ways: {_fields(short)} or {_fields(long)}",
                hint="put a text between the fields that occurs once, or give a field with --arm, --instance or --seed",
            )
        fields = short.groupdict()
        seed = fields.pop("seed", None)
        return LogIdentity(**fields, seed=None if seed is None else int(seed))


def _compile(text: str, many: str, any_number: str) -> re.Pattern[str]:
    parts = []
    for piece in re.split(r"(\{[^{}]*\}|\*)", text.lstrip("/")):
        if piece == "*":
            parts.append(f"[^/]{any_number}")
        # 18 digits always fit into the 64 bits of a seed.
        elif piece == "{seed}":
            parts.append(f"(?P<seed>[0-9]{{1,18}}{'?' if many == '+?' else ''})")
        elif piece.startswith("{") and piece.endswith("}"):
            parts.append(f"(?P<{piece[1:-1]}>[^/]{many})")
        else:
            parts.append(re.escape(piece))
    return re.compile("(?:^|/)" + "".join(parts) + r"\Z")


def _fields(match: re.Match[str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in match.groupdict().items())


@dataclass(slots=True)
class Naming:
    """Settles identities: options take precedence over the path pattern, which takes precedence over the log."""

    options: LogIdentity = field(default_factory=LogIdentity)
    pattern: PathPattern | None = None
    matched: int = 0

    def from_path(self, path: str) -> LogIdentity:
        """Return the identity from options and a file's path; called once per file."""
        matched = self.pattern.match(path) if self.pattern else None
        if matched is None:
            return self.options
        self.matched += 1
        # `p0033.opb.log` is the log of p0033: that is the name in the log and in the references.
        matched = replace(matched, instance=matched.instance and model_name(matched.instance))
        return replace(matched, **{n: v for n in FIELDS if (v := getattr(self.options, n)) is not None})

    def settle(self, run: FoundRun, given: LogIdentity) -> LogIdentity:
        """Complete the identity from options and path with that of the log."""
        return LogIdentity(
            given.arm or run.arm,
            given.instance or run.instance,
            run.seed if given.seed is None else given.seed,
            given.panel or run.panel,
        )


def overruled(run: FoundRun, settled: LogIdentity) -> list[str]:
    """Report each field in which an option or a path contradicts a log."""
    both = ((name, getattr(run, name), getattr(settled, name)) for name in ("arm", "instance", "panel", "seed"))
    return [
        f"the log states another {name} than the option or path pattern, which was taken"
        for name, own, taken in both
        if own is not None and own != taken
    ]


def settle_seeds(
    who: pl.DataFrame, places: Callable[[Iterable[int]], Sequence[str]], *, number_runs: bool = False
) -> tuple[pl.Series, pl.Series]:
    """Return a seed for every run (0 if it is the only one; duplicates are refused or numbered), and a note on it.

    A note is an index of `SEED_NOTES`. `who` has arm, instance and seed of each run; `places` describes where runs are.
    """
    silent = who["seed"].is_null()
    if not silent.any():
        return who["seed"], pl.repeat(0, who.height, dtype=pl.Int8, eager=True)
    pairs = Numbered(who).by("arm", "instance").row
    twins = silent & pl.Series(np.bincount(pairs)[pairs] > 1)
    rows = twins.arg_true()
    if len(rows) and not number_runs:
        named = zip(places(rows), who[rows].select("arm", "instance").iter_rows(), strict=True)
        shown = listing((f"{place} ({arm}/{instance})" for place, (arm, instance) in named), most=8)
        raise TraceError(
            f"expected a seed for each of the runs that share arm and instance, got none in {shown}",
            hint="read it from the path with --name '…{seed}…', or number the runs in file order with --number-runs",
        )
    seeds = who["seed"].fill_null(0)
    if len(rows):
        seeds = seeds.scatter(rows, _numbered(pairs, who["seed"], twins))
    return seeds, silent.cast(pl.Int8) + twins.cast(pl.Int8)


def _numbered(pairs: NDArray[np.int64], stated: pl.Series, twins: pl.Series) -> list[int]:
    """Number runs without a seed in their order, skipping numbers that other runs of the pair state."""
    known = stated.is_not_null()
    taken = set(zip(pairs[known.to_numpy()].tolist(), stated.filter(known).to_list(), strict=True))
    following: Counter[int] = Counter()
    seeds = []
    for pair in pairs[twins.to_numpy()].tolist():
        while (pair, following[pair]) in taken:
            following[pair] += 1
        seeds.append(following[pair])
        following[pair] += 1
    return seeds


def refuse_missing(identities: Sequence[LogIdentity], where: Sequence[str], *, pattern: PathPattern | None) -> None:
    """Raise one error for all runs without arm or instance, with their paths."""
    # A seed is settled later, over all runs.
    needed = ("arm", "instance")
    missing = [[name for name in needed if not getattr(who, name)] for who in identities]
    lacking = [(place, without) for place, without in zip(where, missing, strict=True) if without]
    if not lacking:
        return
    names = [name for name in needed if any(name in without for _, without in lacking)]
    shown = listing((f"{place} (no {' and no '.join(without)})" for place, without in lacking), most=8)
    looks = f"--name {pattern.text} does not match them: correct it" if pattern else ""
    if not pattern:
        suffix = re.search(r"\.[A-Za-z0-9.]+\Z", path_without_packing(lacking[0][0].split(" ")[0]))
        example = "/".join(f"{{{name}}}" for name in names) + (suffix.group() if suffix else "")
        looks = f"give --name, such as --name '{example}'"
    options = " or ".join(f"--{name}" for name in names)
    raise TraceError(
        f"expected {' and '.join(names)} for every run, got {len(lacking):,} without: {shown}",
        hint=f"{looks}, or give {options}",
    )

"""Shell completion: names of the current study, kernels, weights, tables, formats and files.

Every press of the key starts a process, so nothing here imports NumPy or reads a large file. On any error there are no
suggestions: a message would end up in the middle of the user's command line.
"""

import csv
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import rich_click as click
from click.shell_completion import CompletionItem, split_arg_string

from gapline.files.open_file import open_regular

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw", "python:")
WEIGHTS = ("uniform", "early-log:", "end-log:", "steps:", "python:")
COLUMNS = ("arm", "panel", "instance", "seed", "status")
STATISTICS = ("mean", "median", "quantile:", "trimmed:", "python:")
PLACES = ("local:", "dask:", "slurm", "oar")
CHECKERS = ("tdvrptw", "vrptw", "cvrp", "mip", "command:", "python:")
# Copies of those in `gapline.report.analysis_tables` and `gapline.logs.formats`, which import slowly; a test compares.
TABLES = (
    "design", "health", "rejections", "ladder-validity", "ladder-means", "completeness", "pooled", "saturation",
    "signs", "ratios", "kernel-ratios", "reversals", "references", "transforms", "pairs", "robustness", "swaps",
    "cutoffs", "intervals", "contrasts", "ranking", "neighbours", "averages", "ranks", "ratings", "neighbour-pairs",
    "power",
)  # fmt: skip
FORMATS = (
    "auto", "neutral", "dimacs", "hgs", "pyvrp", "hexaly", "timefold", "lkh", "olines", "solu", "cpsat", "mip",
    "minizinc", "iohprofiler", "coco", "qoblib", "optuna",
)  # fmt: skip
# The first rows of a long table are enough to find the names of arms.
_MOST_BYTES = 1 << 21
# A shell interprets other characters: the user has to quote such a name.
_TYPED = re.compile(r"[\w.@%+=:,/-]+")


def words(*known: str) -> Complete:
    """Complete one of these words."""
    return _guarded(lambda: known)


def names(kind: str, *ours: str) -> Complete:
    """Complete the given names, then the arms, instances, panels, kernels or weights of the sources on the line."""
    return _guarded(lambda: [*ours, *_known(kind)])


def files(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Let the shell complete a path."""
    return [CompletionItem(typed, type="file")]


def snapshots(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete a snapshot of the study, or any path if there is none."""
    found = _guarded(lambda: _known("snapshot"))(context, parameter, typed)
    return found or files(context, parameter, typed)


def source_and_arm(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete SOURCE:ARM: a path, and after the colon an arm of that source."""
    source, colon, _ = typed.rpartition(":")
    found = _guarded(lambda: [f"{source}:{arm}" for arm in _names_of(source, "arm")])
    return found(context, parameter, typed) if colon else files(context, parameter, typed)


def _guarded(offer: Callable[[], Iterable[str]]) -> Complete:
    def complete(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        try:
            known = dict.fromkeys(offer())
        # Whatever is wrong with the files, the shell cannot show a message.
        except Exception:
            return []
        return [CompletionItem(name) for name in known if name.startswith(typed) and _TYPED.fullmatch(name)]

    return complete


def _known(kind: str) -> list[str]:
    """Return the names of a kind in the sources on the line: all words that are paths."""
    known: list[str] = []
    # Read the line from the shell's variable: click has no arguments yet while an option waits for its value.
    line = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
    for word in dict.fromkeys(line):
        source = word if Path(word).exists() else word.rpartition(":")[0]
        if source and Path(source).exists():
            known += _names_of(source, kind)
    return known


def _names_of(source: str, kind: str) -> list[str]:
    place = Path(source)
    # A source that cannot be read must not hide the names of another.
    try:
        if place.is_dir():
            return _of_study(place, kind) if (place / "study.toml").is_file() else _of_campaign(place, kind)
        if place.suffix == ".json" and kind == "instance":
            with open_regular(place) as stream:
                return list(json.load(stream)["values"])
        return _of_table(place, kind) if place.suffix in (".csv", ".tsv") else []
    except Exception:
        return []


def _of_study(folder: Path, kind: str) -> list[str]:
    import tomllib

    with open_regular(folder / "study.toml") as stream:
        contract = tomllib.load(stream)
    if kind == "snapshot":
        return [str(path) for path in sorted((folder / "references").glob("*.json"))]
    if kind in ("kernel", "weight"):
        given = contract.get("score", {}).get(kind, [])
        return [given] if isinstance(given, str) else list(given)
    entries = contract.get("arms" if kind == "arm" else "instances", ())
    stated = [entry.get("panel" if kind == "panel" else "name") for entry in entries]
    if all(isinstance(name, str) and not set(name) & set("*?[{") for name in stated) and "ladder" not in str(entries):
        return stated
    # Names given by patterns, ladders, lists or files need the whole contract, which takes a while to load.
    from gapline.contract.study_file import load_contract

    expanded = load_contract(folder)
    if kind == "arm":
        return [arm.name for arm in expanded.arms]
    return [one.panel if kind == "panel" else one.name for one in expanded.instances]


def _of_campaign(folder: Path, kind: str) -> list[str]:
    import polars as pl

    with open_regular(folder / "runs.parquet") as stream:
        return list(pl.read_parquet(stream, columns=[kind])[kind].unique(maintain_order=True))


def _of_table(file: Path, kind: str) -> list[str]:
    with open_regular(file) as stream:
        data = stream.read(_MOST_BYTES)
    # The last row may be cut off inside a name.
    text = (data if len(data) < _MOST_BYTES else data.rpartition(b"\n")[0]).decode("utf-8", errors="ignore")
    rows = csv.DictReader(text.splitlines(), delimiter="\t" if file.suffix == ".tsv" else ",")
    return list(dict.fromkeys(row[kind] for row in rows if row.get(kind)))

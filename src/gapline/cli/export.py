"""`gapline export`: campaigns as neutral trace files, or as a zip of a campaign directory."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.cli.output import show_work
from gapline.contract.progress import doing
from gapline.terminal import say, say_words
from gapline.text import counted, printable

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from gapline.campaign.campaign import Campaign
    from gapline.campaign.diagnostics import Diagnostics
    from gapline.contract.contract import Contract
    from gapline.references.snapshot import Snapshot

SHOWN_PROBLEMS = 10


@click.command("export", cls=Command)
@options.sources
@options.memory
@options.choice_options(*options.FILTER_CHOICES, *options.TABLE_CHOICES, "checker")
@click.option("--references", metavar="FILE|STORE:PLACE", help="Into a .zip: reference values for whoever reads it.")
@click.option("--snapshot", "snapshots", multiple=True, type=click.Path(), help="Into a .zip: the same, from its file.")
@click.option("-o", "--output", required=True, type=click.Path(), help="File: .csv, .jsonl, .parquet, .arrow or .zip.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl", "parquet", "arrow", "zip"]),
    help="Where the name does not say it.",
)
def command(
    sources: tuple[str, ...],
    output: str,
    form: str | None,
    checker: str | None,
    references: str | None,
    snapshots: tuple[str, ...],
    **choices: Any,
) -> None:
    """Write campaigns or studies as one neutral trace file, or as a .zip of a campaign directory with its references.

    Either scores again to the same bits; a .zip has what a trace has no place for too, and is what a gate in CI is set
    against (docs/compare-in-ci.md).

    Example: gapline export campaign/ -o baseline.zip
    """
    import shlex
    from pathlib import Path

    from gapline.contract.study_file import load_contract
    from gapline.errors import UsageError
    from gapline.files.atomic_write import refuse_no_file
    from gapline.scoring.run_references import descriptive_arms
    from gapline.study import score_options
    from gapline.traces.campaign_archive import write_archive
    from gapline.traces.export import not_in_a_trace, write_trace
    from gapline.traces.package_source import study_folder

    packed = (form or Path(output).suffix.lstrip(".")).lower() == "zip"
    if (references or snapshots) and not packed:
        raise UsageError(f"{output}: expected a .zip for --references and --snapshot, got a trace, which holds none")
    show_work()
    doing("reading")
    filters = {name: choices.pop(name) for name in options.FILTER_CHOICES}
    campaign, lines = read_and_count(sources, filters, checker=checker, **choices)
    doing("writing")
    command, contract = "", None
    folder = study_folder(sources[0]) if len(sources) == 1 else None
    if folder is not None:
        contract = load_contract(folder)
        campaign = _as_scored(campaign, contract, folder, filters, lines, packed=packed)
    carried = None
    if packed:
        refuse_no_file(Path(output))
        carried, words = _carried(sources, folder, contract, references, snapshots)
        write_archive(campaign, Path(output), references=None if carried is None else carried.to_bytes())
        lines += [f"campaign {campaign.digest()}", *words, *campaign.notes()]
    else:
        write_trace(campaign, Path(output), form=form)
        lines += not_in_a_trace(campaign)
    if contract is not None and folder is not None:
        lines += (inside := [] if carried is not None else _left_inside(sources, folder, contract))
        arms = set(campaign.rows.names("arm")).difference(descriptive_arms(campaign.runs))
        options_of_study = score_options(contract, folder, carried=carried is not None or bool(inside), arms=arms)
        command = shlex.join(["gapline", "score", output, *options_of_study])
    say_words(f"wrote {output}: {contents(campaign)}")
    options.print_lines("", lines)
    if command:
        # On one line, however long: it is there to be copied.
        say(f"next, to score it as the study does: {printable(command)}")


def contents(campaign: "Campaign") -> str:
    """Say what a campaign holds; a dual bound that came without a candidate is none."""
    from gapline.contract.tables import VerdictCode

    alone = 0
    if campaign.bound is not None:
        alone = sum(int((piece.verdict == VerdictCode.BOUND).sum()) for _, piece in campaign.pieces())
    words = [counted(len(campaign), "run"), counted(campaign.candidates - alone, "candidate")]
    return ", ".join([*words, *([f"{counted(alone, 'dual bound')} alone"] if alone else [])])


def _with_tiers(runs: "pl.DataFrame", contract: "Contract") -> "pl.DataFrame":
    """Return runs with the tiers and models of their arms where the contract states them."""
    import polars as pl

    stated: dict[str, dict[str, Any]] = {
        "simplified_model": {arm.name: arm.model for arm in contract.arms if arm.model},
        "tier": {arm.name: arm.tier for arm in contract.arms if arm.tier == 2},
    }
    for name, values in stated.items():
        if values:
            recorded = pl.col(name) if name in runs.columns else None
            runs = runs.with_columns(pl.col("arm").replace_strict(values, default=recorded).alias(name))
    return runs


def _as_scored(
    campaign: "Campaign", contract: "Contract", folder: "Path", filters: Any, lines: list[str], *, packed: bool
) -> "Campaign":
    """Return what a study scores of its runs, and add to `lines` what the file will not say."""
    from dataclasses import replace

    from gapline.contract.ladders import with_ladders
    from gapline.contract.layout import JOURNALS
    from gapline.contract.reading import TOLERANCE
    from gapline.journal.plan_coverage import planned_cells, runs_of_contract
    from gapline.study import declared_choices
    from gapline.traces.export import with_senses

    # Not the runs of arms that its contract no longer has.
    planned = (folder / JOURNALS).is_dir()
    campaign, removed = runs_of_contract(campaign, contract, cells=planned)
    if removed:
        lines.append(f"left out, because the contract does not have their arms or cells: {counted(removed, 'run')}")
    if packed and planned:
        states = planned_cells(campaign, contract, filters)["state"]
        if missing := int((states == "missing").sum()):
            lines.append(f"not in the file, which has no plan: {counted(missing, 'planned run')} never begun")
    # Runs that were made before membership of a ladder was recorded, or before tier and model were stated.
    campaign = replace(campaign, runs=_with_tiers(with_ladders(campaign.runs, contract.arms), contract))
    stated = declared_choices(contract)
    if stated["tolerance"] != TOLERANCE:
        lines.append(f"not in the file, and without an option: the contract's tolerance {stated['tolerance']:g}")
    return with_senses(campaign, stated["sense"])


def _left_inside(sources: tuple[str, ...], folder: "Path", contract: "Contract") -> list[str]:
    """Say which references stay in a package: what lies in one has no path that an option could name."""
    from gapline.traces.package_source import is_package

    found = _carried(sources, folder, contract, None, ())[0] if is_package(sources[0]) else None
    if found is None:
        return []
    return [f"its references ({found.name}) stay in {sources[0]}: a .zip carries them, a trace has no place for them"]


def _carried(
    sources: tuple[str, ...],
    folder: "Path | None",
    contract: "Contract | None",
    references: str | None,
    snapshots: tuple[str, ...],
) -> "tuple[Snapshot | None, list[str]]":
    """Return the snapshot that goes with the campaign, and say which it is or why there is none."""
    from gapline.references.choice import stored_snapshots
    from gapline.traces.read import matching

    paths = [path for source in sources for path in matching(source)]
    words: list[str] = []
    found = {one.digest: one for one in stored_snapshots(paths, folder, contract, references, snapshots, words)}
    if len(found) == 1:
        (snapshot,) = found.values()
        return snapshot, [f"with the references {snapshot.name} ({snapshot.digest})", *words]
    if found:
        words.append(f"without references, because there are {len(found)}: choose one with --snapshot")
    else:
        words.append("without references: whoever reads it gives --snapshot or --references")
    return None, words


def read_and_count(sources: tuple[str, ...], filters: dict[str, Any], **choices: Any) -> "tuple[Campaign, list[str]]":
    """Read and filter the runs, and say in lines what of the sources is not among them."""
    from gapline.traces.read import judge_direction, read_in_parts

    source = sources[0] if len(sources) == 1 else list(sources)
    return filter_and_count(judge_direction(read_in_parts(source, **choices), source), filters)


def filter_and_count(whole: "Campaign", filters: dict[str, Any]) -> "tuple[Campaign, list[str]]":
    """Filter the runs, and say in lines what is not among them."""
    campaign = whole.filter(**filters)
    lines = []
    if left := len(whole) - len(campaign):
        lines.append(f"left out by the filters: {counted(left, 'run')} of {len(whole):,}")
    if number := whole.diagnostics.problem_count:
        lines += [f"{counted(number, 'problem')} while reading:", *first_problems(whole.diagnostics)]
    return campaign, lines


def first_problems(read: "Diagnostics") -> list[str]:
    """Return the first problems of what was read, indented, and how many more there are."""
    left = read.problem_count - SHOWN_PROBLEMS
    more = [f"  and {left:,} more"] if left > 0 else []
    return [*(f"  {problem}" for problem in read.problems[:SHOWN_PROBLEMS]), *more]

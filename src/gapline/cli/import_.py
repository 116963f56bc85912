"""`gapline import`: logs of other tools into a campaign directory."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import completion, options
from gapline.cli.command import Command
from gapline.cli.export import SHOWN_PROBLEMS, first_problems
from gapline.terminal import console, say, say_words
from gapline.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gapline.logs.importer import Imported
    from gapline.logs.survey import Survey
    from gapline.report.table import Table

# For the campaign that is made of what was read; the other options are for the reading.
LATER = ("allow_mixed_clocks", "skip_unknown", "no_references", "negate", "strict", "allow_empty")
# What a process that reads logs takes, with the packages it loads.
PER_PROCESS = 256 << 20
# Bytes of an envelope, and of what is computed from it, for each candidate.
PER_CANDIDATE = 100
SHOWN_LEFT_OUT = 20


@click.command(
    "import",
    cls=Command,
    more=("allow_mixed_clocks", "skip_unknown", "no_references", "negate", "keep_going", "jobs", "on", "memory"),
)
@click.argument("files", nargs=-1, type=click.Path())
@click.option(
    "--format",
    "format_",
    default="auto",
    show_default=True,
    shell_complete=completion.words(*completion.FORMATS),
    help="Format of the files, or auto.",
)
@click.option("-o", "--output", type=click.Path(file_okay=False), help="Campaign directory to write.")
@options.tables
@click.option("--only", multiple=True, metavar="PATTERN", help="Read files of these names alone ('*.log'; repeatable).")
@click.option("--name", help="Path pattern such as '{arm}/{instance}-s{seed}.log'; {panel} and * work too.")
@click.option("--arm", help="Arm of all runs.")
@click.option("--instance", help="Instance of all runs.")
@click.option("--seed", type=click.IntRange(-(2**63), 2**63 - 1), help="Seed of all runs.")
@click.option("--panel", help="Panel of all runs.")
@click.option("--horizon", type=float, help="Seconds, for runs whose log states no horizon.")
@click.option("--negate", multiple=True, metavar="ARM", help="An arm whose logs report the negated objective.")
@click.option("--allow-mixed-clocks", is_flag=True, help="Take CPU and wall clocks into one campaign.")
@click.option("--skip-unknown", is_flag=True, help="Leave out files of no known format.")
@click.option("--no-references", is_flag=True, help="Leave out references that the logs carry.")
@click.option(
    "--keep-going", is_flag=True, help="Leave out files that cannot be read, name them; exit code 1 at the end."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes that read (default: one per core).")
@options.place
@click.option("--memory", metavar="SIZE", help="Memory for buffers: 2GB, 512MiB (default: a quarter of what there is).")
@click.option("--overwrite", is_flag=True, help="Replace the campaign that is there.")
@click.option("--dry-run", is_flag=True, help="Print what would be read, per file, and write nothing.")
@click.option("--list-formats", is_flag=True, help="Print the known formats.")
@options.as_json
def command(
    *,
    files: tuple[str, ...],
    format_: str,
    output: str | None,
    overwrite: bool,
    dry_run: bool,
    list_formats: bool,
    as_json: bool,
    jobs: int | None,
    on: str | None,
    memory: str | None,
    **choices: Any,
) -> int:
    """Read logs of other tools: files, folders, .gz and .zst, and archives of them: .zip, .tar, .tar.gz, .tar.zst.

    A killed import goes on where it stopped when the same command is given again. With --on, logs are read there; every
    worker sees the files and the folder of the campaign under the same paths.

    Example: gapline import runs/ --name '{arm}/{instance}-s{seed}.log' --horizon 60 -o campaign
    """
    from contextlib import ExitStack
    from dataclasses import replace
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from gapline.campaign.threads import thread_count
    from gapline.executors.place import read_place
    from gapline.files.memory import memory_budget
    from gapline.logs.importer import build_import
    from gapline.logs.survey import survey_logs
    from gapline.logs.unfinished_import import unfinished

    if list_formats:
        return _print_formats(as_json)
    if not files:
        raise click.UsageError("Missing argument 'FILES...'.")
    if output is None and not dry_run:
        raise click.UsageError("Missing option '-o' / '--output' (or --dry-run).")
    _refuse_packages(files)
    place = read_place(on, jobs=jobs)
    if on is not None and dry_run:
        raise click.UsageError("--on: expected an import, got --dry-run, which reads here.")
    target = Path(output) if output else None
    if target and not dry_run:
        _refuse_target(target, overwrite)
    # Whether logs without a seed are numbered is asked once all are known; a table is split where it is read.
    later = {name: choices.pop(name) for name in LATER} | {"number_runs": choices["number_runs"]}
    budget = memory_budget(memory)
    workers = min(jobs or thread_count(), max(1, budget // PER_PROCESS))
    with ExitStack() as held:
        if target is None or dry_run:
            folder = Path(held.enter_context(TemporaryDirectory(prefix="gapline-")))
        else:
            folder = held.enter_context(unfinished(target))
        if on is not None:
            choices |= held.enter_context(_elsewhere(place, [folder, *files]))
        elif workers > 1:
            # Here everybody sees the same files: a log that grows is no other one.
            choices |= held.enter_context(_elsewhere(replace(place, jobs=workers), []))
        progress = held.enter_context(_shown_progress())
        survey = survey_logs(files, format=format_, progress=progress, unfinished=folder, memory=budget, **choices)
        if dry_run:
            return _print_survey(survey, later, as_json)
        imported = build_import(survey, **later)
        # What is written needs room, and all that was surveyed of it is in the campaign.
        del survey
        assert target is not None
        facts = _write(imported, target, overwrite, budget)
    if as_json:
        options.print_json(facts)
    else:
        _print_report(imported, facts)
    return 1 if imported.bad else 0


def _refuse_packages(files: tuple[str, ...]) -> None:
    """Refuse a replication package among the archives of logs; a .tar.zst is not gone through for that."""
    from gapline.traces.package_source import refuse_package

    for file in (file for file in files if file.lower().endswith(".zip")):
        refuse_package(file, "import", f"it is a source as it is: gapline score {file}", on="logs")


@contextmanager
def _shown_progress() -> "Iterator[Callable[[int, int], None]]":
    """Show files done, files per second and the time left, on a terminal only: a log full of bars helps nobody."""
    import sys

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

    class Speed(ProgressColumn):
        def render(self, task: Any) -> Any:
            from rich.text import Text

            return Text(f"{task.speed:,.0f} files/s" if task.speed else "")

    columns = (TextColumn("reading"), BarColumn(bar_width=20), MofNCompleteColumn(), Speed(), TimeRemainingColumn())
    with Progress(*columns, console=console(err=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _elsewhere(place: Any, paths: list[Any]) -> "Iterator[dict[str, Any]]":
    """Open the workers of a place; every one must see these paths."""
    from gapline.executors.tasks import TaskExecutor, open_workers

    with open_workers(place, paths=paths, say=lambda text: say(text, err=True)) as workers:
        yield {"executor": TaskExecutor(workers), "jobs": workers.width()}


def _refuse_target(target: Any, overwrite: bool) -> None:
    """Refuse before reading what could not be written afterwards."""
    from gapline.errors import UsageError

    if target.exists() and (not target.is_dir() or any(target.iterdir())) and not overwrite:
        raise UsageError(
            f"{target}: expected a new or empty directory, got one with files in it",
            hint="--overwrite replaces the campaign that is there",
        )


def _print_formats(as_json: bool) -> int:
    from gapline.logs.formats import all_readers

    readers, notes = all_readers()
    if as_json:
        options.print_json({reader.name: reader.describes for reader in readers})
        return 0
    from gapline.report.table import text_table
    from gapline.report.writers.terminal import print_table

    rows = [(reader.name, reader.describes) for reader in readers]
    print_table(text_table("formats", "Formats", ["format", "what it is"], rows, text=2, notes=()))
    options.print_lines("note: ", notes, err=True)
    return 0


def _write(imported: "Imported", target: Any, overwrite: bool, budget: int) -> dict[str, Any]:
    """Write the campaign and its references; return what `--json` prints."""
    from dataclasses import asdict

    campaign = imported.campaign
    campaign.save(target, overwrite=overwrite)
    place = target / "references.json"
    # What an earlier import left there belongs to a campaign that is no more.
    place.unlink(missing_ok=True)
    known = campaign.diagnostics
    facts: dict[str, Any] = {
        "campaign": str(target),
        "digest": campaign.digest(),
        "facts": dict(campaign.facts),
        "diagnostics": asdict(known) | {"sources": len(known.sources), "notes": campaign.notes()},
        "kept": imported.kept,
        "left_out": [{"file": one.path, "why": one.why} for one in imported.left_out],
        "left_out_inside": [
            {"file": file.path, "problems": file.problem_count, "first": file.problems[0]}
            for file in imported.files.flawed.values()
            if file.error is None
        ],
    }
    if imported.references:
        from gapline.campaign.scale import instance_senses
        from gapline.references.snapshot import Snapshot

        entries: dict[str, dict[str, Any]] = {
            one.instance: {"value": one.value, "certified": one.certified, "source": one.source}
            for one in imported.references
        }
        more = {"sense": "max"} if campaign.facts.get("sense") == "max" else {}
        if "sense" not in campaign.facts:
            for name, sense in instance_senses(campaign).items():
                if name in entries:
                    entries[name]["sense"] = sense
        store = {"name": f"import: {campaign.facts['source format']}"}
        snapshot = Snapshot.from_entries(entries, name=target.resolve().name, store=store, **more)
        snapshot.save(place)
        facts["references"] = {
            "file": str(place),
            "digest": snapshot.digest,
            "instances": len(entries),
            "certified": sum(one.certified for one in imported.references),
        }
        facts |= _score_checks(imported, snapshot, budget)
    return facts


def _score_checks(imported: "Imported", snapshot: Any, budget: int) -> dict[str, Any]:
    """Compute what the references at hand allow: the printed integrals again, and the bound of coarse stamps."""
    from dataclasses import asdict

    import gapline as gl
    from gapline.contract.tables import RUN_KEY, RunKey
    from gapline.scoring.printed_integrals import check_stated_integrals
    from gapline.scoring.run_references import reference_column

    campaign = imported.campaign
    coarse = "resolution" in campaign.runs.columns
    if not (imported.stated_integrals or coarse):
        return {}
    if campaign.candidates * PER_CANDIDATE > budget:
        return {"not_checked": f"{campaign.candidates:,} candidates are more than --memory has room for"}
    try:
        known = [name for name in campaign.runs["instance"].unique() if name in snapshot.values]
        envelopes = gl.build_envelopes(campaign.filter(instance=known) if known else campaign)
        checks: dict[str, Any] = {}
        if found := check_stated_integrals(envelopes, snapshot, imported.stated_integrals):
            checks["stated_integrals"] = asdict(found) | {"largest_difference": found.largest, "run": str(found.run)}
        if coarse and known:
            bounds = gl.resolution_bound(envelopes, reference_column(snapshot, envelopes))
            row = int(bounds.argmax())
            keys = [str(RunKey(*key)) for key in envelopes.runs.select(RUN_KEY).iter_rows()]
            checks["resolution"] = {
                "kernel": "squeezed",
                "largest": float(bounds[row]),
                "mean": float(bounds.mean()),
                "run": keys[row],
                "runs": dict(zip(keys, bounds.tolist(), strict=True)),
            }
        return checks
    # A free check must not make an import fail that is otherwise whole.
    except gl.GaplineError as error:
        return {"not_checked": error.message}


def _print_report(imported: "Imported", facts: dict[str, Any]) -> None:
    """Print what was read; the files that were not, or not whole, as tables behind it."""
    from gapline.report.writers.terminal import View, print_tables

    *lines, last = _report(imported, facts)
    options.print_lines("", lines)
    if imported.campaign.diagnostics.problem_count:
        print_tables(_left_out_tables(facts), View(how="--json has all"))
    say(last)


def _report(imported: "Imported", facts: dict[str, Any]) -> list[str]:
    from dataclasses import replace

    known = imported.campaign.diagnostics
    read = len(imported.files) - len(imported.left_out)
    lines = [f"read {counted(read, 'file')} as {imported.campaign.facts['source format']}"]
    lines += replace(known, notes=()).lines()
    lines += imported.campaign.notes()
    if imported.kept:
        lines.insert(0, f"kept {counted(imported.kept, 'file')} that an import before this one had read")
    if known.problem_count:
        lines += [f"{counted(known.problem_count, 'problem')} while reading:", *first_problems(known)]
    if references := facts.get("references"):
        lines.append(
            f"references: {references['instances']:,} instances, {references['certified']:,} certified, "
            f"in {references['file']} ({references['digest'][:19]}…)"
        )
    if check := facts.get("stated_integrals"):
        lines.append(
            f"integrals printed by the source: {check['checked']:,} computed again as {check['kernel']}, largest "
            f"difference {check['largest_difference']:.3g} ({check['run']}: printed {check['stated']:.10g}, "
            f"computed {check['recomputed']:.10g})"
        )
    if bound := facts.get("resolution"):
        lines.append(
            f"coarse stamps move a {bound['kernel']} score by at most {bound['largest']:.3g} ({bound['run']}), "
            f"{bound['mean']:.3g} on average"
        )
    if "not_checked" in facts:
        lines.append(f"integrals and resolution were not computed: {facts['not_checked']}")
    lines.append(f"wrote {facts['campaign']}; next: gapline score {facts['campaign']}")
    return lines


def _left_out_tables(facts: dict[str, Any]) -> "list[Table]":
    """Return which files were left out, and of which some lines were; the first ones, where they are many."""
    from gapline.report.table import Column, word_table

    file = Column("file", text=True)
    out = [(row["file"], row["why"]) for row in facts["left_out"]]
    cut = [(row["file"], f"{row['problems']:,}", row["first"]) for row in facts["left_out_inside"]]
    found: list[tuple[str, tuple[Column, ...], Sequence[tuple[str, ...]]]] = [
        ("left out", (file, Column("why", text=True)), out),
        ("read in part", (file, Column("problems", spare=0), Column("first", text=True)), cut),
    ]
    tables = []
    for what, columns, rows in found:
        left = len(rows) - SHOWN_LEFT_OUT
        more = [f"and {left:,} more (--json lists them all)"] if left > 0 else []
        caption = f"{what}: {counted(len(rows), 'file')}"
        tables += [word_table(what, caption, columns, rows[:SHOWN_LEFT_OUT], notes=more)] if rows else []
    return tables


def _print_survey(survey: "Survey", later: dict[str, Any], as_json: bool) -> int:
    """Print the table of a dry run; exit code 1 where the import itself would be refused."""
    from gapline.errors import GaplineError
    from gapline.logs.importer import build_import

    refused: GaplineError | None = None
    try:
        build_import(survey, **later)
    except GaplineError as error:
        refused = error
    rows = _survey_rows(survey)
    if as_json:
        options.print_json({"files": rows, "notes": survey.all_notes(), "error": str(refused) if refused else None})
        return 1 if refused else 0
    from gapline.report.writers.terminal import View, print_table

    if refused:
        say_words(f"the import would be refused: {refused}")
    print_table(_survey_table(rows), View(how="--json has all"))
    shown = [problem for row in rows for problem in row["problems"][:SHOWN_PROBLEMS]]
    options.print_lines("", (*shown, *survey.all_notes()))
    return 1 if refused else 0


def _survey_table(rows: list[dict[str, Any]]) -> "Table":
    """Return what would be read, a row per run."""
    from gapline.report.numbers import plain_numbers
    from gapline.report.table import Column, word_table

    runs = [run for row in rows for run in row["runs"]]
    stamps = {name: iter(plain_numbers([run[name] for run in runs])) for name in ("first", "last")}
    table: list[tuple[str, ...]] = []
    for row in rows:
        head = (row["path"], row["format"] or "-")
        problems = str(row["problem_count"] or "")
        if not row["runs"]:
            table.append((*head, "-", "", "", "", "", problems))
        for k, run in enumerate(row["runs"]):
            who = f"{run['arm'] or '?'}/{run['instance'] or '?'}/{'?' if run['seed'] is None else run['seed']}"
            times = [next(stamps[name]) for name in ("first", "last")]
            mine = (who, f"{run['candidates']:,}", *times, run["status"])
            table.append((*head, *mine, problems) if k == 0 else ("", "", *mine, ""))
    columns = (
        Column("file", text=True), Column("format", text=True, spare=4), Column("run", text=True),
        Column("candidates", spare=0), Column("first", spare=3), Column("last", spare=3),
        Column("status", text=True, spare=2), Column("problems", spare=1),
    )  # fmt: skip
    return word_table("survey", f"What would be read: {counted(len(rows), 'file')}", columns, table)


def _survey_rows(survey: "Survey") -> list[dict[str, Any]]:
    who = ("arm", "instance", "seed", "panel")
    facts = (*who, "candidates", "first", "last", "horizon", "status", "clock", "sense")
    runs = [{name: getattr(run, name) for name in facts} for run in survey.runs]
    return [
        {
            "path": file.path,
            "format": file.format,
            "runs": runs[file.first_run : file.first_run + file.run_count],
            "problem_count": file.problem_count,
            "problems": file.problems,
        }
        for file in survey.files
    ]

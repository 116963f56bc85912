"""What was done, in the words of a Process Run Crate: a program, what it was given, what came out, when, and how.

A run is an action of its arm on an instance, whose result is its journal; a check is an action of a checker on the
journals that it judged, whose results are its verdicts. Beyond `MOST_RUNS` attempts, and for imported runs, of which
only the campaign is there, the runs of an arm are one action: a crate is read by people and small tools.
"""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from gapline.campaign.store import open_campaign
from gapline.contract.contract import Contract
from gapline.contract.layout import CAMPAIGN, JOURNALS, MANIFEST
from gapline.contract.tables import FAILED
from gapline.contract.transforms import shortest
from gapline.journal.attempts import CellRecord, cells_of, read_cell
from gapline.journal.read import Journal, JournalState
from gapline.journal.verdicts import Judge, scan_verdicts
from gapline.text import counted

MOST_RUNS = 20_000
_COMPLETED, _FAILED = "http://schema.org/CompletedActionStatus", "http://schema.org/FailedActionStatus"
Entity = dict[str, Any]


@dataclass(slots=True)
class Actions:
    """The actions of a study and the programs that they are of, by identifier; `last` is when the last run ended."""

    actions: dict[str, Entity] = field(default_factory=dict)
    programs: dict[str, Entity] = field(default_factory=dict)
    # Instances that a run names and that are not in the package.
    absent: dict[str, Entity] = field(default_factory=dict)
    last: str | None = None

    @property
    def named(self) -> set[str]:
        """The paths that actions name, as identifiers."""
        every = (reference for one in self.actions.values() for key in ("object", "result") for reference in one[key])
        return {reference["@id"] for reference in every}


@dataclass(slots=True)
class _Checked:
    """What one checker judged: journals, verdict files, how many candidates, and when the last file was written."""

    journals: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    judged: int = 0
    last: str = ""


def study_actions(folder: Path, contract: Contract, agents: list[Entity]) -> Actions:
    """Return what was done in a study, from its journals; from its campaign where there are none."""
    found = Actions()
    cells = cells_of(folder)
    if not cells:
        _imported(found, folder, contract, agents)
        return found
    attempts = 0
    checked: dict[Judge, _Checked] = {}
    for cell in cells:
        record = read_cell(cell)
        for journal in record.attempts:
            attempts += 1
            _add_run(found, folder, contract, journal, record, agents)
            _note_checks(checked, folder, journal)
    if attempts > MOST_RUNS:
        _by_arm(found)
    for judge, work in sorted(checked.items(), key=lambda one: (one[0].name, one[0].version, one[0].given or "")):
        _add_check(found, judge, work, agents, whole=attempts <= MOST_RUNS)
    return found


def path_id(path: str) -> str:
    """Return the identifier of a file or a folder by its path in the package.

    >>> path_id("instances/a b.vrp")
    'instances/a%20b.vrp'
    """
    return quote(path)


def refer(*identifiers: str) -> list[Entity]:
    """Return references to entities."""
    return [{"@id": one} for one in identifiers]


def _add_run(
    found: Actions,
    folder: Path,
    contract: Contract,
    journal: Journal,
    record: CellRecord[Journal],
    agents: list[Entity],
) -> None:
    order, ending = journal.order, journal.ending
    if order is None:
        return
    attempt = journal.path.parent
    times: Entity = {}
    if ending is not None and ending.started:
        began = datetime.datetime.fromisoformat(ending.started).astimezone(datetime.UTC)
        ended = began + datetime.timedelta(seconds=ending.elapsed)
        times = {"startTime": _moment(began), "endTime": _moment(ended)}
        found.last = max(found.last or "", times["endTime"])
    words = [f"Attempt {order.attempt}, horizon {shortest(order.horizon)} s: {journal.status.value}"]
    if journal.state is not JournalState.WHOLE:
        words = [f"Attempt {order.attempt}, horizon {shortest(order.horizon)} s: not whole, so it is no run"]
    elif record.counting is not journal:
        words.append("another attempt counts")
    identifier = f"#run/{quote(attempt.parent.name)}/{quote(attempt.name)}"
    found.actions[identifier] = {
        "@id": identifier,
        "@type": "CreateAction",
        "name": f"{order.arm} on {order.instance}, seed {order.seed}",
        "description": "; ".join(words),
        **times,
        "instrument": refer(_add_arm(found, contract, order.arm, journal.solver, journal.version)),
        "object": refer(_instance(found, folder, order.instance, order.instance_path)),
        "result": refer(*(path_id(_relative(folder, path)) for path in [journal.path] if path.is_file())),
        **_status(journal),
        **({"agent": agents} if agents else {}),
    }


def _status(journal: Journal) -> Entity:
    if journal.state is JournalState.WHOLE and journal.status.value not in FAILED:
        return {"actionStatus": _COMPLETED}
    ending = journal.ending
    why = journal.status.value
    if ending is not None:
        code = "" if ending.exit_code is None else f"exit code {ending.exit_code}"
        why = ", ".join(word for word in (why, ending.error or ending.signal or code) if word)
    return {"actionStatus": _FAILED, "error": why}


def _instance(found: Actions, folder: Path, name: str, path: str) -> str:
    """Return the identifier of an instance: its file, or a word for one that is not in the package."""
    if path and (folder / path).is_file():
        return path_id(path)
    identifier = f"#instance/{quote(name, safe='')}"
    found.absent[identifier] = {
        "@id": identifier,
        "@type": "CreativeWork",
        "name": name,
        "description": "An instance whose file is not in this package.",
    }
    return identifier


def _add_arm(found: Actions, contract: Contract, arm: str, solver: str | None, version: str | None) -> str:
    # Two versions of a solver in one arm are two programs.
    identifier = f"#arm/{quote(arm, safe='')}" + (f"/{quote(version, safe='')}" if version else "")
    if identifier in found.programs:
        return identifier
    meant = next((one for one in contract.arms if one.name == arm), None)
    program = solver or (meant.solver if meant is not None else "")
    options = "" if meant is None else ", ".join(f"{name} = {value}" for name, value in sorted(meant.options.items()))
    words = [f"An arm of the study: {program or 'its solver is not stated'}"]
    words += [f"options {options}"] if options else []
    found.programs[identifier] = {
        "@id": identifier,
        "@type": "SoftwareApplication",
        "name": arm,
        "description": "; ".join(words),
        **({"softwareVersion": version} if version else {}),
    }
    return identifier


def _note_checks(checked: dict[Judge, _Checked], folder: Path, journal: Journal) -> None:
    for verdicts in scan_verdicts(journal.path.parent):
        if verdicts.head is None:
            continue
        work = checked.setdefault(verdicts.head.judge, _Checked())
        work.journals.append(_relative(folder, journal.path))
        work.verdicts.append(_relative(folder, verdicts.path))
        work.judged += verdicts.judged
        moment = _moment(datetime.datetime.fromisoformat(verdicts.head.checked).astimezone(datetime.UTC))
        work.last = max(work.last, moment)


def _add_check(found: Actions, judge: Judge, work: _Checked, agents: list[Entity], *, whole: bool) -> None:
    named = "/".join(quote(part, safe="") for part in (judge.name, judge.version, judge.given or "") if part)
    program, identifier = f"#checker/{named}", f"#check/{named}"
    found.programs[program] = {
        "@id": program,
        "@type": "SoftwareApplication",
        "name": judge.name,
        "description": "The checker: it recomputes each candidate from the original instance.",
        "softwareVersion": judge.version,
    }
    journals, verdicts = (work.journals, work.verdicts) if whole else ([f"{JOURNALS}/"], [f"{JOURNALS}/"])
    found.actions[identifier] = {
        "@id": identifier,
        "@type": "CreateAction",
        "name": f"Candidates checked by {judge.label}",
        "description": f"{counted(work.judged, 'candidate')} of {counted(len(work.journals), 'attempt')} judged",
        # When the last verdicts were written; when the first checker was started nobody noted.
        "endTime": work.last,
        "instrument": refer(program),
        "object": refer(*map(path_id, journals)),
        "result": refer(*map(path_id, verdicts)),
        "actionStatus": _COMPLETED,
        **({"agent": agents} if agents else {}),
    }


def _by_arm(found: Actions) -> None:
    """Put the runs of each program together, from its first start to its last end."""
    grouped: dict[str, list[Entity]] = {}
    for action in found.actions.values():
        grouped.setdefault(action["instrument"][0]["@id"], []).append(action)
    found.actions, found.absent = {}, {}
    for program, runs in grouped.items():
        failed = sum(run["actionStatus"] == _FAILED for run in runs)
        found.actions[f"#runs/{program[1:]}"] = {
            "@id": f"#runs/{program[1:]}",
            "@type": "CreateAction",
            "name": f"Runs of {found.programs[program]['name']}",
            "description": f"{counted(len(runs), 'attempt')}, {failed:,} of which failed",
            **_span(runs, "startTime", min),
            **_span(runs, "endTime", max),
            "instrument": refer(program),
            "object": refer("study.toml"),
            "result": refer(f"{JOURNALS}/"),
            "actionStatus": _COMPLETED,
            **({"agent": runs[0]["agent"]} if "agent" in runs[0] else {}),
        }


def _span(runs: Iterable[Entity], name: str, which: Any) -> Entity:
    stated = [run[name] for run in runs if name in run]
    return {name: which(stated)} if stated else {}


def _imported(found: Actions, folder: Path, contract: Contract, agents: list[Entity]) -> None:
    if not (folder / CAMPAIGN / MANIFEST).is_file():
        return
    for arm, version, count in sorted(_arms(open_campaign(folder / CAMPAIGN, verify=False).runs)):
        program = _add_arm(found, contract, arm, None, version or None)
        identifier = f"#runs/{program[1:]}"
        found.actions[identifier] = {
            "@id": identifier,
            "@type": "CreateAction",
            "name": f"Runs of {arm}",
            "description": f"{counted(count, 'run')}, read from logs that are not in this package",
            "instrument": refer(program),
            "object": refer("study.toml"),
            "result": refer(f"{CAMPAIGN}/"),
            **({"agent": agents} if agents else {}),
        }


def _arms(runs: pl.DataFrame) -> Iterator[tuple[str, str, int]]:
    version = pl.col("solver_version").fill_null("") if "solver_version" in runs.columns else pl.lit("")
    for (arm, stated), count in Counter(runs.select("arm", version.alias("version")).iter_rows()).items():
        yield arm, str(stated), count


def _relative(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _moment(when: datetime.datetime) -> str:
    """Write a moment to the millisecond, cut and not rounded."""
    return when.isoformat(timespec="milliseconds")

"""The actions of a Process Run Crate: a program, its inputs and outputs, times and outcome.

A run is an action of its arm on an instance, whose result is its journal; a check is an action of a checker on the
journals that it judged, whose results are its verdicts. The runs of an arm become one action beyond `MOST_RUNS`
attempts, since people and small tools must be able to read a crate, and for imported runs, of which only the
campaign exists.
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from gapline.campaign.store import open_campaign
from gapline.contract.contract import Contract
from gapline.contract.layout import CAMPAIGN, CONTRACT_FILE, JOURNALS, MANIFEST
from gapline.contract.tables import FAILED
from gapline.contract.transforms import shortest
from gapline.journal.attempts import cells_of, read_cell
from gapline.journal.read import Journal, JournalState
from gapline.journal.verdicts import Judge, scan_verdicts
from gapline.text import counted

MOST_RUNS = 20_000
_COMPLETED, _FAILED = "http://schema.org/CompletedActionStatus", "http://schema.org/FailedActionStatus"
Entity = dict[str, Any]


def path_id(path: str) -> str:
    """Return the identifier of a file or a folder by its path in the package.

    >>> path_id("instances/a b.vrp")
    'instances/a%20b.vrp'
    """
    return quote(path)


def refer(*identifiers: str) -> list[Entity]:
    """Return references to entities."""
    return [{"@id": one} for one in identifiers]


@dataclass(slots=True)
class _Checked:
    """The work of one checker: journals, verdict files, the count of candidates, and when the last file was written."""

    journals: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    judged: int = 0
    last: str = ""


@dataclass(slots=True)
class Actions:
    """The actions of a study and their programs, by identifier; `last` is when the last run ended.

    `agents` are the people who acted, and `absent` the instances that runs name and the package does not include.
    """

    folder: Path
    contract: Contract
    agents: list[Entity]
    actions: dict[str, Entity] = field(default_factory=dict)
    programs: dict[str, Entity] = field(default_factory=dict)
    absent: dict[str, Entity] = field(default_factory=dict)
    last: str | None = None

    @property
    def named(self) -> set[str]:
        """The paths that actions name, as identifiers."""
        every = (reference for one in self.actions.values() for key in ("object", "result") for reference in one[key])
        return {reference["@id"] for reference in every}

    def add(
        self,
        identifier: str,
        name: str,
        description: str,
        program: str,
        *,
        given: Iterable[str],
        made: Iterable[str],
        times: Entity | None = None,
        status: Entity | None = None,
    ) -> None:
        """Add an action of a program with its input and output files."""
        self.actions[identifier] = {
            "@id": identifier,
            "@type": "CreateAction",
            "name": name,
            "description": description,
            **(times or {}),
            "instrument": refer(program),
            "object": refer(*given),
            "result": refer(*made),
            **(status or {}),
            **({"agent": self.agents} if self.agents else {}),
        }

    def add_run(self, journal: Journal, *, counts: bool) -> None:
        """Add an attempt at a run."""
        order, ending = journal.order, journal.ending
        if order is None:
            return
        attempt = journal.path.parent
        times: Entity = {}
        if ending is not None and ending.started:
            began = datetime.datetime.fromisoformat(ending.started)
            times = {"startTime": _moment(began), "endTime": _moment(began, ending.elapsed)}
            self.last = max(self.last or "", times["endTime"])
        said = f"Attempt {order.attempt}, horizon {shortest(order.horizon)} s: "
        if journal.state is not JournalState.WHOLE:
            said += "not whole, so it is no run"
        else:
            said += journal.status.value if counts else f"{journal.status.value}; another attempt counts"
        self.add(
            f"#run/{quote(attempt.parent.name)}/{quote(attempt.name)}",
            f"{order.arm} on {order.instance}, seed {order.seed}",
            said,
            self.arm(order.arm, journal.solver, journal.version),
            given=[self._instance(order.instance, order.instance_path)],
            made=[path_id(self._relative(journal.path))] if journal.path.is_file() else [],
            times=times,
            status=_status(journal),
        )

    def _instance(self, name: str, path: str) -> str:
        """Return the identifier of an instance: its file, or a placeholder if the package does not include it."""
        if path and (self.folder / path).is_file():
            return path_id(path)
        identifier = f"#instance/{quote(name, safe='')}"
        self.absent[identifier] = {
            "@id": identifier,
            "@type": "CreativeWork",
            "name": name,
            "description": "An instance whose file is not in this package.",
        }
        return identifier

    def arm(self, name: str, solver: str | None, version: str | None) -> str:
        """Return the identifier of an arm's program; two versions of a solver in one arm are two programs."""
        identifier = f"#arm/{quote(name, safe='')}" + (f"/{quote(version, safe='')}" if version else "")
        if identifier not in self.programs:
            arm = next((one for one in self.contract.arms if one.name == name), None)
            program = solver or (arm and arm.solver) or "its solver is not stated"
            options = ", ".join(f"{option} = {value}" for option, value in sorted(arm.options.items())) if arm else ""
            said = f"An arm of the study: {program}" + (f"; options {options}" if options else "")
            self._add_program(identifier, name, said, version)
        return identifier

    def _add_program(self, identifier: str, name: str, description: str, version: str | None) -> None:
        self.programs[identifier] = {
            "@id": identifier,
            "@type": "SoftwareApplication",
            "name": name,
            "description": description,
            **({"softwareVersion": version} if version else {}),
        }

    def note_checks(self, checked: dict[Judge, _Checked], journal: Journal) -> None:
        """Record which checkers judged the candidates of a journal."""
        for verdicts in scan_verdicts(journal.path.parent):
            if verdicts.head is not None:
                work = checked.setdefault(verdicts.head.judge, _Checked())
                work.journals.append(self._relative(journal.path))
                work.verdicts.append(self._relative(verdicts.path))
                work.judged += verdicts.judged
                work.last = max(work.last, _moment(datetime.datetime.fromisoformat(verdicts.head.checked)))

    def add_check(self, judge: Judge, work: _Checked, *, each: bool) -> None:
        """Add the work of a checker; with `each`, file by file."""
        named = "/".join(quote(part, safe="") for part in (judge.name, judge.version, judge.given or "") if part)
        program = f"#checker/{named}"
        said = "The checker: it recomputes each candidate from the original instance."
        self._add_program(program, judge.name, said, judge.version)
        self.add(
            f"#check/{named}",
            f"Candidates checked by {judge.label}",
            f"{counted(work.judged, 'candidate')} of {counted(len(work.journals), 'attempt')} judged",
            program,
            given=map(path_id, work.journals if each else [f"{JOURNALS}/"]),
            made=map(path_id, work.verdicts if each else [f"{JOURNALS}/"]),
            # Only the time of the last verdicts is known: the start of the first checker is not recorded.
            times={"endTime": work.last},
            status={"actionStatus": _COMPLETED},
        )

    def join_by_arm(self) -> None:
        """Join the runs of each program into one action, from its first start to its last end."""
        grouped: dict[str, list[Entity]] = {}
        for action in self.actions.values():
            grouped.setdefault(action["instrument"][0]["@id"], []).append(action)
        self.actions, self.absent = {}, {}
        for program, runs in grouped.items():
            failed = sum(run["actionStatus"] == _FAILED for run in runs)
            times = {
                name: which(run[name] for run in runs if name in run)
                for name, which in (("startTime", min), ("endTime", max))
                if any(name in run for run in runs)
            }
            said = f"{counted(len(runs), 'attempt')}, {failed:,} of which failed"
            self.add_runs(program, f"{JOURNALS}/", said, times, {"actionStatus": _COMPLETED})

    def add_runs(
        self, program: str, made: str, said: str, times: Entity | None = None, status: Entity | None = None
    ) -> None:
        """Add the runs of a program as one action."""
        name = f"Runs of {self.programs[program]['name']}"
        more: Entity = {"times": times, "status": status}
        self.add(f"#runs/{program[1:]}", name, said, program, given=[CONTRACT_FILE], made=[made], **more)

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


def study_actions(folder: Path, contract: Contract, agents: list[Entity]) -> Actions:
    """Return the actions of a study from its journals, or from its campaign if there are none."""
    found = Actions(folder, contract, agents)
    attempts = 0
    checked: dict[Judge, _Checked] = {}
    for cell in cells_of(folder):
        record = read_cell(cell)
        for journal in record.attempts:
            attempts += 1
            found.add_run(journal, counts=record.counting is journal)
            found.note_checks(checked, journal)
    if attempts > MOST_RUNS:
        found.join_by_arm()
    for judge, work in sorted(checked.items(), key=lambda one: (one[0].name, one[0].version, one[0].given or "")):
        found.add_check(judge, work, each=attempts <= MOST_RUNS)
    if not attempts and (folder / CAMPAIGN / MANIFEST).is_file():
        runs = open_campaign(folder / CAMPAIGN, verify=False).runs
        version = pl.col("solver_version").fill_null("") if "solver_version" in runs.columns else pl.lit("")
        counts = runs.group_by("arm", version.cast(pl.String).alias("version")).len()
        for arm, stated, count in counts.sort("arm", "version").iter_rows():
            said = f"{counted(count, 'run')}, read from logs that are not in this package"
            found.add_runs(found.arm(arm, None, stated or None), f"{CAMPAIGN}/", said)
    return found


def _status(journal: Journal) -> Entity:
    if journal.state is JournalState.WHOLE and journal.status.value not in FAILED:
        return {"actionStatus": _COMPLETED}
    ending = journal.ending
    why = journal.status.value
    if ending is not None:
        code = "" if ending.exit_code is None else f"exit code {ending.exit_code}"
        why = ", ".join(word for word in (why, ending.error or ending.signal or code) if word)
    return {"actionStatus": _FAILED, "error": why}


def _moment(when: datetime.datetime, later: float = 0.0) -> str:
    """Format a time, optionally some seconds later, truncated to milliseconds."""
    return (when.astimezone(datetime.UTC) + datetime.timedelta(seconds=later)).isoformat(timespec="milliseconds")

"""The campaign of a package, rebuilt from its journals or copied from an import, with its environment."""

import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.store import is_campaign_file, open_campaign, save_campaign
from gapline.contract.layout import CAMPAIGN, MANIFEST
from gapline.contract.tables import CELL
from gapline.journal.campaign import build_campaign, survey_study
from gapline.journal.index import Index, Seen
from gapline.journal.read import Outcome, read_journal
from gapline.journal.verdicts import read_verdicts
from gapline.package.attempts import AttemptSurvey
from gapline.package.scrub import Scrubber

# The step under way, how much of it is done, and its total.
Progress = Callable[[str, int, int], object]


def rebuild_campaign(folder: Path) -> "tuple[Campaign, NotingIndex]":
    """Read all journals and verdicts of a folder and build its campaign; return it with the index that read them.

    The same journals give the same campaign, whatever the name of the folder.
    """
    index = NotingIndex(folder)
    campaign = build_campaign(survey_study(folder, index), index)
    named = campaign.diagnostics.retold(lambda text: _placeless(text, folder))
    return replace(campaign, diagnostics=named), index


def _placeless(text: str, folder: Path) -> str:
    """Name files by their path in the folder, and the folder `.`."""
    return text.replace(f"{folder}/", "").replace(str(folder), ".")


class NotingIndex(Index):
    """An index without stored entries: it reads everything, and notes the environment and what does not verify."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, keep=False)
        self._folder = folder
        self.environment = Environment()
        self.damaged: list[str] = []

    def read(self, attempt: Path) -> Seen:
        """Read an attempt without storing the result: the outcome must not depend on when its files were written."""
        outcome = read_journal(attempt)
        seen = Seen(outcome, list(read_verdicts(outcome)), None)
        damage = [outcome.corruption, outcome.unordered, *(one.damage for one in seen.verdicts)]
        self.damaged += [_placeless(one, self._folder) for one in damage if one is not None]
        self.environment.note(seen.outcome)
        return seen


_MANIFEST, _RUNS = f"{CAMPAIGN}/{MANIFEST}", f"{CAMPAIGN}/runs.parquet"


def survey_imported(study: Path, surveyed: AttemptSurvey) -> AttemptSurvey:
    """Add the hosts and names of an imported campaign; with journals, their orders already name them all."""
    if surveyed.attempts:
        return surveyed
    runs = open_campaign(study / CAMPAIGN).runs
    hosts = runs.sort(CELL)["host"].drop_nulls().cast(pl.String).to_list() if "host" in runs.columns else []
    names = {str(name) for column in ("arm", "panel", "instance") for name in runs[column].unique()}
    return replace(surveyed, hosts=tuple(dict.fromkeys(hosts)), names=surveyed.names | names)


def stage_campaign(study: Path, folder: Path, scrub: Scrubber | None) -> Campaign:
    """Write the campaign of a study into a folder, verified, and return it; it is copied where nothing is redacted."""
    campaign = open_campaign(study / CAMPAIGN)
    clean = campaign if scrub is None else scrubbed_campaign(campaign, scrub)
    if clean is campaign:
        for file in campaign_files(study):
            target = folder / file.relative_to(study)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    else:
        save_campaign(clean, folder / CAMPAIGN)
    return open_campaign(folder / CAMPAIGN)


def campaign_files(study: Path) -> list[Path]:
    """Return the files of the campaign of a study, links included; other files in its folder are ignored."""
    place = study / CAMPAIGN
    found = (Path(folder, name) for folder, _, names in os.walk(place) for name in names)
    return sorted(file for file in found if is_campaign_file(file.relative_to(place).as_posix()))


def scrubbed_campaign(campaign: Campaign, scrub: Scrubber) -> Campaign:
    """Return a campaign with redacted texts; the same object if there is nothing to redact."""
    diagnostics = campaign.diagnostics.retold(lambda text: scrub.text(text, _MANIFEST))
    facts = {name: scrub.text(text, _MANIFEST) for name, text in campaign.facts.items()}
    reasons = tuple(scrub.text(text, _MANIFEST) for text in campaign.reasons)
    texts = [name for name, kind in campaign.runs.schema.items() if kind == pl.String and name not in CELL]
    columns = [_scrubbed_column(campaign.runs[name], scrub) for name in texts]
    if not scrub.list_taken():
        return campaign
    return replace(
        campaign, runs=campaign.runs.with_columns(columns), facts=facts, reasons=reasons, diagnostics=diagnostics
    )


def _scrubbed_column(column: pl.Series, scrub: Scrubber) -> pl.Series:
    # Redact each distinct text once, however many runs have it.
    each = {
        text: scrub.host(text, _RUNS) if column.name == "host" else scrub.text(text, _RUNS)
        for text in column.unique(maintain_order=True).drop_nulls().to_list()
    }
    changed = {old: new for old, new in each.items() if old != new}
    return column.replace(changed) if changed else column


# Left out of the machine's facts: versions have lists of their own.
_VERSIONS = ("gapline", "python")


class Environment:
    """Where the attempts of a study ran, and the digests of the instances that they solved."""

    def __init__(self) -> None:
        self._versions: dict[str, set[str]] = defaultdict(set)
        self._solvers: dict[str, set[str]] = defaultdict(set)
        self._machines: dict[tuple[tuple[str, str], ...], None] = {}
        self.solved: dict[str, set[str]] = defaultdict(set)
        self.problems: dict[str, set[str]] = defaultdict(set)

    def note(self, outcome: Outcome) -> None:
        """Record an attempt."""
        order = outcome.order
        if order is None:
            return
        facts = {"machine": order.machine.get("host", "")}
        facts |= {name: fact for name, fact in order.machine.items() if name not in ("host", *_VERSIONS)}
        if order.machine:
            self._machines[tuple(facts.items())] = None
        version = " ".join(filter(None, (outcome.solver, outcome.version)))
        carried = order.carried
        for known, fact in (
            *((self._versions[name], order.machine.get(name)) for name in _VERSIONS),
            (self._solvers[order.arm], version),
            (self.solved[order.instance], carried.get("instance_digest")),
            (self.problems[order.instance], carried.get("problem_digest")),
        ):
            known.update([str(fact)] if fact else [])

    def document(self, campaign: Campaign) -> dict[str, Any]:
        """Return the environment for JSON; for an imported campaign, from its columns."""
        if not self._solvers and "solver_version" in campaign.runs.columns:
            versions = campaign.runs.select("arm", pl.col("solver_version").cast(pl.String)).unique()
            for arm, version in versions.filter(pl.col("solver_version") != "").iter_rows():
                self._solvers[arm].add(version)
        solvers = {arm: ", ".join(sorted(versions)) for arm, versions in sorted(self._solvers.items()) if versions}
        return {
            **{name: sorted(self._versions[name]) for name in _VERSIONS},
            "solvers": solvers,
            "checker": campaign.facts.get("checker"),
            "machines": [dict(facts) for facts in sorted(self._machines, key=_by_machine)],
        }


def _by_machine(facts: Iterable[tuple[str, str]]) -> list[tuple[int, str]]:
    # Sort by length first, so that host-2 comes before host-10.
    return [(len(value), value) for _, value in facts]

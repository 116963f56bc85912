"""Rebuild the campaign of a study, and reuse the runs whose files have not changed.

`journal/campaign.json` records the attempts of which a campaign was built, by their marks in the index, and the seal of
that campaign. Everything that is reused is verified first: the campaign by its digests, an attempt by the facts of its
files. The result equals a campaign read from all journals bit for bit; without that file, or in case of doubt, all
journals are read.
"""

import io
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from gapline.campaign.assembly import RunTrace
from gapline.campaign.campaign import Campaign
from gapline.campaign.join import OTHER_REASON
from gapline.campaign.store import RUNS_FILE, open_campaign, read_manifest, save_campaign
from gapline.contract.layout import BUILT, CAMPAIGN, JOURNALS, MANIFEST, OPTIONS_FILE, slug
from gapline.contract.tables import RUN_KEY, Reason, RunKey
from gapline.errors import GaplineError
from gapline.files.atomic_write import write_atomically
from gapline.files.locks import locked
from gapline.files.open_file import most_bytes, read_regular
from gapline.journal.attempts import CellRecord, attempts_of, cells_of, folders_of
from gapline.journal.campaign import StudySurvey, build_campaign, survey_study, trace_without_events
from gapline.journal.claims import locked_inodes, running_cells
from gapline.journal.events import SOMETIMES
from gapline.journal.index import BY, Index, open_index
from gapline.journal.line import seal, unseal
from gapline.journal.read import Outcome
from gapline.journal.verdicts import Judge, VerdictsHead
from gapline.text import writable

# For runs with these reasons, a campaign has less information than the journals.
_ODD = frozenset({OTHER_REASON, Reason.TIME_NEGATIVE.value, Reason.TIME_NOT_FINITE.value})


class CampaignSources(msgspec.Struct, frozen=True):
    """The sources of a campaign: the marks of the attempts by cell, and what applies to all of them.

    `seal` is that of the campaign's manifest.
    """

    by: str
    seal: str
    source: str
    judge: Judge | None
    named: str | None
    maximised: list[str]
    strays: list[str]
    cells: dict[str, list[str | None]]


class _CampaignJudge(msgspec.Struct, frozen=True):
    """The part of a campaign's sources that names the checker."""

    judge: Judge | None


def rebuild_campaign(study_dir: str | Path) -> Campaign:
    """Update the `campaign/` of a study from its journals and verdicts, reading only those that changed."""
    study = Path(study_dir)
    (study / JOURNALS).mkdir(parents=True, exist_ok=True)
    # Two runners may finish at once: each rebuilds from the journals, one after the other.
    with locked(study / JOURNALS / "campaign.lock"), open_index(study) as index:
        # From all journals, not from the results of this call: cells of another runner belong to it too.
        return renew_campaign(study, index)


def renew_campaign(study: Path, index: Index) -> Campaign:
    """Write `campaign/` from the journals and verdicts of a study; one that is up to date is not touched."""
    survey, folder = survey_study(study, index), study / CAMPAIGN
    standing = stored_campaign(study, survey)
    if standing is not None and standing.is_whole(survey):
        return standing.campaign
    campaign = build_campaign(survey, index, reuse=_nothing if standing is None else standing.run)
    save_campaign(campaign, folder, overwrite=True)
    line = seal(msgspec.json.encode(_campaign_sources(survey, str(read_manifest(folder)["seal"])))[:-1], 0)[0]
    # Written after the campaign: if we are killed in between, the seals differ and everything is read again.
    write_atomically(study / JOURNALS / BUILT, lambda stream: stream.write(line))
    return campaign


def current_campaign(study: Path) -> Campaign | None:
    """Return the campaign of the whole attempts in the journals of a study if they are ahead of its `campaign/`.

    None if they are not: then `campaign/` is complete. Nothing is written.
    """
    built, campaign = study / JOURNALS / BUILT, study / CAMPAIGN / MANIFEST
    # If `campaign/` was removed, the journals of the study remain.
    last = None if _modified(campaign) is None else _modified(built) or _modified(campaign)
    cells = cells_of(study) if last is None or (_modified(study / JOURNALS / OPTIONS_FILE) or 0) > last else None
    if cells is None:
        # A second runner may still work after the first one has written the campaign.
        running = running_cells(folders_of(study)) if locked_inodes() else frozenset()
        if not running and not _lacks_verdicts(study):
            return None
    elif not cells:
        return None
    else:
        running = running_cells(cells)
    index = Index(study, apart=True)
    index.open()
    with closing(index):
        # If a whole attempt was disturbed and the cell is being repeated, the whole attempt still counts.
        again = [name for name in running if _is_whole_before(study / JOURNALS / name, index)]
        survey = survey_study(study, index, running=running.difference(again))
        standing = stored_campaign(study, survey)
        if standing is not None and not running and standing.is_whole(survey):
            return standing.campaign
        return build_campaign(survey, index, reuse=_nothing if standing is None else standing.run)


def _lacks_verdicts(study: Path) -> bool:
    """Whether verdict files of a study's `campaign/` are missing: its runs must not count as checked then."""
    try:
        line = unseal(read_regular(study / JOURNALS / BUILT, most=most_bytes()).rstrip(b"\n"), 0)[0]
        judge = msgspec.json.decode(line, type=_CampaignJudge).judge
        runs = pl.read_parquet(io.BytesIO(read_regular(study / CAMPAIGN / RUNS_FILE, most=most_bytes())))
        judged = runs.filter((pl.col("validation") == "checker") & (pl.col("count") > 0))
        attempts = judged.select(*RUN_KEY, "attempt").drop_nulls()
    except (OSError, ValueError, msgspec.MsgspecError, pl.exceptions.PolarsError):
        # Opening the campaign reports the problem.
        return False
    if judge is None:
        return False
    names = VerdictsHead(judge.name, judge.version, "", 0, "", judge.given).files
    gone = []
    for arm, instance, seed, number in attempts.iter_rows():
        attempt = study / JOURNALS / slug(RunKey(arm, instance, seed)) / f"attempt-{number:03d}"
        # Without its journal, there is nothing to check again.
        if not any((attempt / name).exists() for name in names) and attempt.is_dir():
            gone.append(attempt)
    if not gone:
        return False
    with closing(Index(study, apart=True)) as index:
        index.open()
        return any(index.read(attempt).outcome.asked for attempt in gone)


def _is_whole_before(cell: Path, index: Index) -> bool:
    """Whether a cell has a whole attempt before its last one."""
    earlier = attempts_of(cell)[:-1]
    return CellRecord(cell, [index.read(attempt).outcome for attempt in earlier]).counting is not None


def _modified(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None


def _nothing(*_: object) -> None:
    return None


def _campaign_sources(survey: StudySurvey, campaign: str) -> CampaignSources:
    # File names may not be valid text.
    source, strays = writable(str(survey.study)), list(map(writable, survey.strays))
    cells = {writable(name): marks for name, marks in survey.marks.items()}
    maximised = sorted(survey.maximised)
    return CampaignSources(BY, campaign, source, survey.judge, survey.named, maximised, strays, cells)


class ReusableCampaign:
    """A campaign built before and its sources: runs whose files are unchanged are taken from it."""

    def __init__(self, campaign: Campaign, built: CampaignSources) -> None:
        self.campaign, self._built = campaign, built
        columns = (*RUN_KEY, "first", "count", "best_solution_digest")
        rows = campaign.runs.select(columns).iter_rows() if "best_solution_digest" in campaign.runs.columns else ()
        self._rows = {RunKey(*row[:3]): row[3:] for row in rows}

    @classmethod
    def of(cls, campaign: Campaign, survey: StudySurvey) -> "ReusableCampaign | None":
        """Wrap a campaign that was just built from a survey; None if its runs cannot be reused."""
        odd = campaign.diagnostics.unordered or _ODD.intersection(campaign.reasons)
        return None if odd else cls(campaign, _campaign_sources(survey, ""))

    def fits(self, survey: StudySurvey) -> bool:
        """Whether its runs would be built in the same way now."""
        built = self._built
        return (built.judge, built.maximised) == (survey.judge, sorted(survey.maximised))

    def is_whole(self, survey: StudySurvey) -> bool:
        """Whether it would be built from the same sources now."""
        unknown = any(None in marks for marks in survey.marks.values())
        return not unknown and _campaign_sources(survey, self._built.seal) == self._built

    def run(self, cell: str, marks: list[str | None], journal: Outcome) -> RunTrace | None:
        """Return the run of a cell; None if any of its files has changed."""
        order = journal.order
        if order is None or None in marks or self._built.cells.get(writable(cell)) != marks:
            return None
        row = self._rows.get(RunKey(order.arm, order.instance, order.seed))
        if row is None:
            return None
        first, count, best = row
        trace = trace_without_events(journal, attempts=len(marks), asked=False, best=best)
        part = slice(first, first + count)
        for name, column in self.campaign.columns.items():
            # The campaign has these columns if any run states them; this run may not.
            if name != "reason" and not (name in SOMETIMES and not np.isfinite(column[part]).any()):
                setattr(trace, name, column[part])
        codes = self.campaign.reason
        if codes is not None and codes[part].any():
            trace.reason = [self.campaign.reasons[code] for code in codes[part]]
        return trace


def stored_campaign(study: Path, survey: StudySurvey) -> ReusableCampaign | None:
    """Open and verify the campaign on disk; None if its runs cannot be reused."""
    folder = study / CAMPAIGN
    try:
        built = msgspec.json.decode(
            unseal(read_regular(study / JOURNALS / BUILT, most=most_bytes()).rstrip(b"\n"), 0)[0], type=CampaignSources
        )
        same = (BY, survey.judge, sorted(survey.maximised))
        if (built.by, built.judge, built.maximised) != same or read_manifest(folder).get("seal") != built.seal:
            return None
        campaign = open_campaign(folder)
    except (OSError, ValueError, msgspec.MsgspecError, GaplineError):
        return None
    if campaign.diagnostics.unordered or _ODD.intersection(campaign.reasons):
        return None
    return ReusableCampaign(campaign, built)

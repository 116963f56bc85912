"""Journals and verdicts, verified while the campaign is built anew from them: each file is read once."""

import contextlib
import datetime
from collections.abc import Callable
from pathlib import Path

import msgspec

from gapline.archive.environment import Environment
from gapline.archive.shown.rows import Difference, Findings
from gapline.archive.shown.source import Source
from gapline.capture.journals import build_campaign, survey_study
from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.index import Index, Seen
from gapline.journal.line import ORDER_FILE
from gapline.journal.read import Journal, JournalState
from gapline.journal.records import read_order
from gapline.journal.verdicts import Judge, VerdictFacts, Verdicts
from gapline.model.campaign import Campaign
from gapline.model.text import counted

Progress = Callable[[str, int, int], None]


class WatchedIndex(Index):
    """An index that knows nothing, so that everything is read, and notes of each attempt what does not verify."""

    def __init__(self, source: Source, whole: int, progress: Progress) -> None:
        super().__init__(source.folder, keep=False)
        self._source, self._whole, self._progress = source, whole, progress
        self.attempts = self.cut_short = 0
        self.files = self.verdicts_read = self.unsealed = self.unchecked = 0
        self.wrong: list[Difference] = []
        self.wrong_verdicts: list[Difference] = []
        self.begun: list[datetime.datetime] = []
        self.environment = Environment()

    def read(self, attempt: Path) -> Seen:
        """Read an attempt and take note of it."""
        seen = super().read(attempt)
        self._progress("journals", self.attempts, self._whole)
        self.attempts += 1
        self.environment.note(seen)
        journal = seen.outcome
        if journal.corruption is not None:
            self._say(self.wrong, journal.corruption)
        elif isinstance(journal, Journal):
            self._compare_order(attempt, journal)
        self.cut_short += journal.state is JournalState.BROKEN
        if journal.ending is not None:
            with contextlib.suppress(ValueError):
                self.begun.append(datetime.datetime.fromisoformat(journal.ending.started))
        for verdicts in seen.verdicts:
            self._take(verdicts, journal if isinstance(journal, Journal) else None)
        return seen

    def _say(self, kept: list[Difference], message: str) -> None:
        kept.append(Difference.of(self._source.words(message)))

    def _compare_order(self, attempt: Path, journal: Journal) -> None:
        """Compare the order beside a journal with the one that the journal begins with."""
        if journal.unordered is not None:
            self._say(self.wrong, journal.unordered)
            return
        try:
            order = read_order(attempt)
        except FileNotFoundError:
            self._say(self.wrong, f"{attempt / ORDER_FILE}: expected the order of the attempt, got none")
            return
        if order != journal.order:
            names = [name for name in order.__struct_fields__ if getattr(order, name) != getattr(journal.order, name)]
            expected, got = (msgspec.json.encode(getattr(one, names[0])).decode() for one in (journal.order, order))
            said = f"expected {names[0]} {expected:.200}, as the journal begins with, got {got:.200}"
            self._say(self.wrong, f"{attempt / ORDER_FILE}: {said}")

    def _take(self, verdicts: VerdictFacts, journal: Journal | None) -> None:
        self.files += 1
        self.verdicts_read += verdicts.judged
        self.unsealed += not verdicts.sealed
        self.unchecked += verdicts.unchecked if verdicts.usable else 0
        if verdicts.damage is not None:
            self._say(self.wrong_verdicts, verdicts.damage)
        elif verdicts.torn:
            said = f"expected a whole last line, got {verdicts.torn} bytes of one"
            self._say(self.wrong_verdicts, f"{verdicts.path}: {said}")
        elif journal is not None and isinstance(verdicts, Verdicts) and journal.state is not JournalState.QUARANTINED:
            if verdicts.candidates != journal.asked:
                said = f"expected verdicts on {counted(journal.asked, 'candidate')}, got {verdicts.candidates:,}"
                self._say(self.wrong_verdicts, f"{verdicts.path}:1: {said}")
            elif foreign := sorted(verdicts.by_sequence.keys() - set(journal.events.sequences)):
                said = f"expected verdicts on candidates of the journal, got one on event {foreign[0]}"
                self._say(self.wrong_verdicts, f"{verdicts.path}: {said}")


def show_journals(
    source: Source, findings: Findings, progress: Progress
) -> tuple[Campaign, Judge | None, WatchedIndex]:
    """Verify journals and verdicts; return the campaign that they make, and whose verdicts count in it."""
    whole = sum(len(attempts_of(cell)) for cell in cells_of(source.folder))
    index = WatchedIndex(source, whole, progress)
    survey = survey_study(source.folder, index)
    campaign = build_campaign(survey, index)
    progress("journals", whole, whole)
    cut = f"{counted(index.cut_short, 'attempt')} of them cut short" if index.cut_short else ""
    findings.judge("journals", index.attempts, "attempts", index.wrong, how="chained checksums, orders", why=cut)
    if index.files:
        waiting = f"{counted(index.unchecked, 'candidate')} without a verdict" if index.unchecked else ""
        how = "chained checksums, on their journals"
        findings.judge("verdicts", index.verdicts_read, "verdicts", index.wrong_verdicts, how=how, why=waiting)
    if index.unsealed:
        findings.leave("verdicts", index.unsealed, "files", "no checksums, as earlier versions wrote them")
    return campaign, survey.judge, index

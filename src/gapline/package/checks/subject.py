"""The subject of a verification: a package or a study, what its files state, and what its journals hold."""

import contextlib
import datetime
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from gapline.campaign.campaign import Campaign
from gapline.contract.contract import Contract
from gapline.contract.layout import (
    CONTRACT_FILE,
    DOCUMENT,
    RESULTS,
    RESULTS_FILE,
    SCHEMA,
    SUMS,
    Identity,
    PackageDocument,
    PackedInstance,
    is_study,
    read_package_document,
)
from gapline.contract.study_file import load_contract
from gapline.errors import GaplineError, UsageError, found_at
from gapline.files.archives import is_zip
from gapline.files.open_file import read_regular
from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.campaign import build_campaign, survey_study
from gapline.journal.index import Seen
from gapline.journal.line import ORDER_FILE
from gapline.journal.read import Journal, JournalState
from gapline.journal.records import read_order
from gapline.journal.verdicts import Judge, VerdictFacts, Verdicts
from gapline.package.campaign import NotingIndex, Progress
from gapline.package.checks.rows import Mismatch
from gapline.package.checks.values import well_formed
from gapline.report.results import read_results
from gapline.text import counted
from gapline.traces.package_source import is_package, unpacked_package


@dataclass
class Subject:
    """A folder with the files of a study, the name of what it was opened from, and what follows from its files.

    Files are read on first use. `scratch` is the folder for recomputed files.
    """

    folder: Path
    name: str
    is_package: bool = False
    identity: Identity | None = None
    scratch: Path = Path()
    recheck: bool = False
    allow_code: bool = False
    jobs: int | None = None
    say: Callable[[str], None] = lambda _text: None
    progress: Progress = lambda *_: None
    # The campaign built from the journals, once it was compared with `campaign/`; None without journals.
    rebuilt: Campaign | None = None

    @property
    def kind(self) -> str:
        """What the subject is, in one word."""
        return "package" if self.is_package else "study"

    def words(self, text: object) -> str:
        """Return a message with paths relative to the package or study, wherever it lies now."""
        said = text.message if isinstance(text, GaplineError) else str(text)
        # Several mistakes come as several lines, but a row has only one.
        one_line = "; ".join(line.strip() for line in said.splitlines())
        # Workers name files by their absolute path.
        for folder in dict.fromkeys((self.folder.absolute(), self.folder)):
            one_line = one_line.replace(f"{folder}/", "").replace(str(folder), self.name)
        return one_line

    @cached_property
    def contract(self) -> Contract:
        """The contract of the study."""
        return load_contract(self.folder)

    @cached_property
    def package(self) -> PackageDocument | None:
        """The `package.json` of a package."""
        return read_package_document(self.folder) if self.is_package else None

    @cached_property
    def document(self) -> dict[str, Any]:
        """`package.json` with all of its keys."""
        return dict(json.loads(read_regular(self.folder / DOCUMENT)))

    @cached_property
    def absent_instances(self) -> dict[str, PackedInstance]:
        """The instances that a package does not include, by name."""
        known = {} if self.package is None else self.package.instances
        return {name: one for name, one in known.items() if not one.included}

    @cached_property
    def results(self) -> dict[str, Any] | Mismatch | None:
        """The content of `results/results.json`, None without one, or why it cannot be read."""
        member = f"{RESULTS}/{RESULTS_FILE}"
        path = self.folder / member
        if not path.exists():
            return None
        try:
            read_results(path)
            return dict(json.loads(read_regular(path)))
        except (GaplineError, OSError, ValueError, RecursionError) as error:
            return Mismatch.of(self.words(error), member=member)

    @cached_property
    def versions(self) -> dict[str, str]:
        """The well-formed versions of the libraries that wrote it, if results or package state them."""
        found = well_formed(self.results["versions"]) if isinstance(self.results, dict) else {}
        return found if found or self.package is None else well_formed(self.package.versions)

    @cached_property
    def has_journals(self) -> bool:
        """Whether it has journals: an imported study has only a campaign."""
        return bool(cells_of(self.folder))

    @cached_property
    def index(self) -> "WatchedIndex":
        """The notes that were taken while its journals were read."""
        index = WatchedIndex(self)
        survey = survey_study(self.folder, index)
        index.campaign, index.judge = build_campaign(survey, index), survey.judge
        self.progress("journals", index.whole, index.whole)
        return index


class WatchedIndex(NotingIndex):
    """An index without stored entries, which notes what does not verify in each attempt.

    `campaign` is built from the journals, and `judge` is the one whose verdicts count in it.
    """

    campaign: Campaign
    judge: Judge | None

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject.folder)
        self._words, self._progress = subject.words, subject.progress
        self.whole = sum(len(attempts_of(cell)) for cell in cells_of(subject.folder))
        self.attempts = self.cut_short = 0
        self.files = self.verdicts_read = self.unsealed = self.unchecked = 0
        self.wrong: list[Mismatch] = []
        self.wrong_verdicts: list[Mismatch] = []
        self.begun: list[datetime.datetime] = []

    def read(self, attempt: Path) -> Seen:
        """Read an attempt and note what was found."""
        seen = super().read(attempt)
        self._progress("journals", self.attempts, self.whole)
        self.attempts += 1
        outcome = seen.outcome
        journal = outcome if isinstance(outcome, Journal) else None
        if said := outcome.corruption or (journal and self._order_mistake(attempt, journal)):
            self.wrong.append(Mismatch.of(self._words(said)))
        self.cut_short += outcome.state is JournalState.BROKEN
        if outcome.ending is not None:
            with contextlib.suppress(ValueError):
                self.begun.append(datetime.datetime.fromisoformat(outcome.ending.started))
        for verdicts in seen.verdicts:
            self.files += 1
            self.verdicts_read += verdicts.judged
            self.unsealed += not verdicts.sealed
            self.unchecked += verdicts.unchecked if verdicts.usable else 0
            if said := _verdicts_mistake(verdicts, journal):
                self.wrong_verdicts.append(Mismatch.of(self._words(said)))
        return seen

    def _order_mistake(self, attempt: Path, journal: Journal) -> str | None:
        """Compare the order file of an attempt with the order on the first line of its journal."""
        if journal.unordered is not None:
            return journal.unordered
        try:
            order = read_order(attempt)
        except FileNotFoundError:
            return f"{attempt / ORDER_FILE}: expected the order of the attempt, got none"
        if order == journal.order:
            return None
        name = next(name for name in order.__struct_fields__ if getattr(order, name) != getattr(journal.order, name))
        expected, got = (msgspec.json.encode(getattr(one, name)).decode() for one in (journal.order, order))
        return f"{attempt / ORDER_FILE}: expected {name} {expected:.200}, as the journal begins with, got {got:.200}"


def _verdicts_mistake(verdicts: VerdictFacts, journal: Journal | None) -> str | None:
    if verdicts.damage is not None:
        return verdicts.damage
    if verdicts.torn:
        return f"{verdicts.path}: expected a whole last line, got {verdicts.torn} bytes of one"
    if journal is None or not isinstance(verdicts, Verdicts) or journal.state is JournalState.QUARANTINED:
        return None
    if verdicts.candidates != journal.asked:
        asked = counted(journal.asked, "candidate")
        return f"{verdicts.path}:1: expected verdicts on {asked}, got {verdicts.candidates:,}"
    if foreign := sorted(verdicts.by_sequence.keys() - set(journal.events.sequences)):
        return f"{verdicts.path}: expected verdicts on candidates of the journal, got one on event {foreign[0]}"
    return None


@contextmanager
def open_subject(path: str | Path) -> Iterator[Subject]:
    """Open the package or study directory to verify; none of its code runs, and nothing is written into it."""
    given = Path(path)
    if given.is_dir():
        packed = _was_unpacked(given)
        if not packed and not is_study(given):
            raise UsageError(
                f"{given}: expected a package or a study directory, got one without {CONTRACT_FILE}",
                hint="a campaign directory is verified whenever it is opened: gapline score",
            )
        yield Subject(given, given.name or str(given), packed)
    elif is_package(given) or is_zip(given):
        # Do not refuse wrong checksums here: comparing them is the first row of the verification.
        with unpacked_package(given, as_is=True) as package:
            yield Subject(package.folder, given.name, True, package.identity)
    else:
        raise UsageError(f"{given}: expected a package or a study directory, got {found_at(given)}")


def _was_unpacked(folder: Path) -> bool:
    """Return whether a folder holds an unpacked package: either of its two lists is enough."""
    with contextlib.suppress(OSError, ValueError, RecursionError, msgspec.MsgspecError):
        stated = msgspec.json.decode(read_regular(folder / DOCUMENT), type=dict[str, Any]).get("schema")
        if str(stated).startswith(SCHEMA.partition("/")[0]):
            return True
    with contextlib.suppress(OSError):
        return f"  {DOCUMENT}\n".encode() in read_regular(folder / SUMS)
    return False

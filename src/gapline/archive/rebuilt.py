"""The campaign of a folder made anew from its journals alone, without a word of where the folder lies."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from gapline.capture.journals import build_campaign, survey_study
from gapline.journal.attempts import cells_of
from gapline.journal.index import Index, Seen
from gapline.journal.read import read_journal
from gapline.journal.verdicts import read_verdicts
from gapline.model.campaign import Campaign


@dataclass(slots=True)
class Rebuilt:
    """A campaign, and which of the files that it was made of do not verify."""

    campaign: Campaign
    damaged: list[str] = field(default_factory=list)


def has_journals(folder: Path) -> bool:
    """Say whether a study has runs of its own: an imported one has a campaign alone."""
    return bool(cells_of(folder))


def rebuild_campaign(folder: Path, note: Callable[[Seen], object] = lambda _: None) -> Rebuilt:
    """Read all journals and verdicts of a folder, and make its campaign; `note` is told of each attempt.

    The same journals give the same campaign, whatever the folder is called.
    """
    index = _Noting(folder, note)
    campaign = build_campaign(survey_study(folder, index), index)
    return Rebuilt(placeless(campaign, folder), [_placeless(one, folder) for one in index.damaged])


def placeless(campaign: Campaign, folder: Path) -> Campaign:
    """Return a campaign that names its files by their path in the folder, and the folder `.`."""
    return replace(campaign, diagnostics=campaign.diagnostics.retold(lambda text: _placeless(text, folder)))


def _placeless(text: str, folder: Path) -> str:
    return text.replace(f"{folder}/", "").replace(str(folder), ".")


class _Noting(Index):
    """An index that knows nothing, and notes what it reads."""

    def __init__(self, folder: Path, note: Callable[[Seen], object]) -> None:
        super().__init__(folder, keep=False)
        self._tell = note
        self.damaged: list[str] = []

    def read(self, attempt: Path) -> Seen:
        """Read an attempt; nothing of it is kept, so that it is the same whether its files were just written."""
        outcome = read_journal(attempt)
        seen = Seen(outcome, list(read_verdicts(outcome)), None)
        self.damaged += filter(None, (seen.outcome.corruption, seen.outcome.unordered))
        self.damaged += [one.damage for one in seen.verdicts if one.damage is not None]
        self._tell(seen)
        return seen

"""The page at `/`, and the report in it: made of the whole runs of this moment, once for all who watch."""

import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from gapline.errors import GaplineError
from gapline.report.page.live import LivePage, build_live_page, build_part
from gapline.serve.hub import Watched
from gapline.serve.live import LiveStudy
from gapline.serve.moment import now_stamp
from gapline.study import Study, open_study

# Making reports may take this share of the time, and some seconds before anybody counts.
SHARE = 0.04
ALLOWANCE = 5.0


def page_of(*, summaries: bool = False) -> LivePage:
    """Return the page, which is the same for every study; with `summaries`, that of studies with too many steps."""
    return build_live_page(summaries=summaries)


def study_of(watched: Watched) -> Study:
    """Open what a report of this moment is made of, as `gapline report` would.

    Raises
    ------
    GaplineError
        When there is nothing to report, or scoring is refused.
    """
    known = getattr(watched.live, "study", None)
    # A trace file is read as its options say, which its path alone does not.
    return known if isinstance(known, Study) else open_study(str(watched.path), allow_empty=True)


class Part(NamedTuple):
    """A report as the page takes it, or why there is none; `wait` are seconds until there may be a newer one."""

    mark: str
    text: str
    problem: str = ""
    wait: float = 0.0


class Parts:
    """The newest report of each study, and how much time they took so far."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, Part] = {}
        self._opened: dict[str, tuple[object, str]] = {}
        self._credit = ALLOWANCE
        self._counted = clock()
        self.made = 0

    def newest(self, watched: Watched, have: str | None) -> Part | None:
        """Return a report that is newer than the one of mark `have`, and make it where it is due; None is nothing new.

        Where it would take more than our share of the time, that is said by `wait`.
        """
        mark, known = self.mark(watched), self._kept.get(watched.name)
        if known is None or known.mark != mark:
            wait = self._wait()
            if wait > 0:
                old = known is not None and known.mark != have
                return known if old else Part(mark, "", wait=wait)
            known = self._kept[watched.name] = self._make(watched, mark)
        return None if known.mark == have else known

    def mark(self, watched: Watched) -> str:
        """Say of which whole runs a report made now would be: two of the same mark have the same numbers."""
        live = watched.live
        # Not how much was read alone: a study that is opened anew, or a server that comes back, begins to count again.
        if watched.name not in self._opened or self._opened[watched.name][0] is not live:
            self._opened[watched.name] = live, secrets.token_hex(4)
        read = (live.table.fulls, live.table.joined) if isinstance(live, LiveStudy) else (getattr(live, "reads", 0), 0)
        return f"{self._opened[watched.name][1]}-{read[0]}-{read[1]}"

    def _wait(self) -> float:
        now = self._clock()
        self._credit = min(ALLOWANCE, self._credit + SHARE * (now - self._counted))
        self._counted = now
        return max(0.0, -self._credit / SHARE)

    def _make(self, watched: Watched, mark: str) -> Part:
        began = self._clock()
        try:
            return Part(mark, build_part(study_of(watched), mark=mark, at=now_stamp()))
        except GaplineError as error:
            return Part(mark, "", problem=error.message)
        finally:
            if self.made:
                # The first one loads what all the others use.
                self._credit -= self._clock() - began
            self.made += 1

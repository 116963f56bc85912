"""A journal that is still being written, read from where the last look stopped.

Bytes after the last newline are a line that is not yet whole: the next look begins with them. What was read stays what
it is, so that a look costs what was added since. A file that became shorter, or is another one by now, is read anew.
"""

import os
from pathlib import Path

from gapline.journal.line import EVENTS_FILE
from gapline.journal.read import Journal, read_journal, read_lines
from gapline.model.regular import open_regular, reason_of


class GrowingJournal:
    """The journal of an attempt as far as it was read: `journal` is what `read_journal` makes of the same bytes.

    `place` is the byte at which the next look begins; `starts` counts how often it was begun anew.
    """

    def __init__(self, attempt: Path) -> None:
        self.attempt = attempt
        self.path = attempt / EVENTS_FILE
        self.starts = 0
        self._begin()

    def _begin(self) -> None:
        self.journal = Journal(self.path)
        self.place = self.lines = 0
        self.starts += 1
        self._file: tuple[int, int] | None = None

    @property
    def stamp(self) -> float:
        """The time of the last event that was read, 0 before the first."""
        times = self.journal.events.column("time")
        return times[-1] if times else 0.0

    def look(self) -> bool:
        """Read the whole lines that were added; return whether there were any, or the journal was begun anew."""
        before, starts = self.lines, self.starts
        try:
            facts = self.path.stat()
            same = self._file == (facts.st_dev, facts.st_ino)
            # Most looks end here.
            if same and facts.st_size == self.place + self.journal.torn:
                return False
            with open_regular(self.path) as stream:
                facts = os.fstat(stream.fileno())
                file = (facts.st_dev, facts.st_ino)
                if self._file not in (None, file) or facts.st_size < self.place:
                    self._begin()
                self._file = file
                stream.seek(self.place)
                self.lines, self.place = read_lines(self.journal, stream, self.lines, self.place)
        except FileNotFoundError:
            return False
        except OSError as error:
            self.journal.corruption = f"{self.path}: expected a file, got {reason_of(error)}"
        if self.journal.order is None and self.journal.corruption is not None:
            # Where nothing of the journal can be used, the order beside it names the run.
            self.journal.order = read_journal(self.attempt).order
        return self.lines != before or self.starts != starts

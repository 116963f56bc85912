"""The newest events of a campaign, in words, with the time of each."""

import datetime
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gapline.contract.tables import RunKey


def now_stamp() -> str:
    """Return this moment as ISO 8601, in UTC and milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


MOST = 200


class Kind(StrEnum):
    """What happened."""

    BEGAN = "began"
    INCUMBENT = "incumbent"
    ENDED = "ended"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    REJECTED = "rejected"
    BEATEN = "beaten"
    ALARM = "alarm"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True)
class Happening:
    """One event; `number` counts all that there were, also those that were dropped since."""

    number: int
    at: str
    kind: Kind
    run: str | None
    text: str

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"number": self.number, "at": self.at, "kind": self.kind.value, "run": self.run, "text": self.text}


class Happenings:
    """The last events, oldest first."""

    def __init__(self) -> None:
        self._kept: deque[Happening] = deque(maxlen=MOST)
        self.count = 0

    def add(self, kind: Kind, text: str, run: RunKey | None = None) -> Happening:
        """Take note of an event."""
        self.count += 1
        found = Happening(self.count, now_stamp(), kind, None if run is None else str(run), text)
        self._kept.append(found)
        return found

    def documents(self, most: int = 50) -> list[dict[str, Any]]:
        """Return the newest events for JSON, the newest first."""
        return [one.document() for one in list(self._kept)[::-1][:most]]

"""Logs and trace files of others, and our own journal, turned into a `Campaign`.

What the author of a reader needs stands here; it is loaded when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gapline.capture.loglines import EventList, log_lines
    from gapline.capture.reader import Found, FoundRun, LogFile, Reader

_HOMES = dict.fromkeys(("EventList", "log_lines"), "gapline.capture.loglines")
_HOMES |= dict.fromkeys(("Found", "FoundRun", "LogFile", "Reader"), "gapline.capture.reader")

__all__ = ["EventList", "Found", "FoundRun", "LogFile", "Reader", "log_lines"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

"""Read logs, traces and journals into a `Campaign`; this module exports the names that authors of readers need."""

from gapline.logs.events import EventList
from gapline.logs.lines import log_lines, torn_line
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

__all__ = ["EventList", "Found", "FoundRun", "LogFile", "Reader", "log_lines", "torn_line"]

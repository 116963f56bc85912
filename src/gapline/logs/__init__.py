"""Logs, traces and journals turned into a `Campaign`; what the author of a reader needs stands here."""

from gapline.logs.events import EventList
from gapline.logs.lines import log_lines, torn_line
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

__all__ = ["EventList", "Found", "FoundRun", "LogFile", "Reader", "log_lines", "torn_line"]

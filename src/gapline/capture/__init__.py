"""Logs, traces and journals turned into a `Campaign`; what the author of a reader needs stands here."""

from gapline.capture.loglines import EventList, log_lines, torn_line
from gapline.capture.reader import Found, FoundRun, LogFile, Reader

__all__ = ["EventList", "Found", "FoundRun", "LogFile", "Reader", "log_lines", "torn_line"]

"""This moment, as every document of the live page writes it."""

import datetime


def now_stamp() -> str:
    """Return this moment as ISO 8601, in UTC and milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")

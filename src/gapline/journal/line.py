"""One line of a journal: a JSON object whose last field is a checksum chained to the line before it.

    {"seq":0,"start":{…},"crc":"89abcdef"}          who runs, under which order
    {"seq":1,"t":0.013502,"say":{…},"crc":"…"}       an event as the solver printed it, with the host's stamp
    {"seq":2,"t":0.020117,"text":"…","crc":"…"}      an event that is not JSON, kept as text
    {"seq":3,"end":{…},"crc":"…"}                    how the attempt ended; without it the attempt is not whole

The checksum (CRC-32) covers the line and continues the one before, so that a line that was changed, swapped, doubled,
dropped or taken from another journal does not verify. Only the standard library is used here: the supervisor of each
run imports this module.
"""

import re
import zlib

SCHEMA = "gapline.journal/1"
RECORD_SCHEMA = "gapline.record/1"
EVENTS_FILE = "events.jsonl"
ORDER_FILE = "run.json"
# What a solver printed beside its events, and what the checker printed on its standard error.
OUTPUT_LOG, ERROR_LOG, CHECKER_LOG = LOG_FILES = ("stdout.log", "stderr.log", "checker.log")

# The checksum is found from the end: a solver can print the same characters inside its own line.
_TAIL = re.compile(rb',"crc":"([0-9a-f]{8})"\}\Z')


def seal(body: bytes, previous: int) -> tuple[bytes, int]:
    r"""Close a line: `body` is a JSON object without its last brace, `previous` the checksum of the line before.

    >>> line, checksum = seal(b'{"seq":0', 0)
    >>> line
    b'{"seq":0,"crc":"fb6446ea"}\n'
    >>> unseal(line.rstrip(), 0) == (b'{"seq":0}', checksum)
    True
    """
    # CRC-32 finds accidents and careless edits; it is no signature, and whoever forges a journal can compute it.
    checksum = zlib.crc32(body, previous)
    return b'%b,"crc":"%08x"}\n' % (body, checksum), checksum


def is_sealed(line: bytes) -> bool:
    """Say whether a line without its newline ends in a checksum, whichever."""
    return _TAIL.search(line) is not None


def unseal(line: bytes, previous: int) -> tuple[bytes, int]:
    """Return the JSON object of a line without its newline, and its checksum.

    Raises
    ------
    ValueError
        When the line is not one that `seal` closed after the line with checksum `previous`.
    """
    tail = _TAIL.search(line)
    if tail is None:
        raise ValueError("expected a line that ends in its checksum")
    stated = int(tail.group(1), 16)
    body = line[: tail.start()]
    found = zlib.crc32(body, previous)
    if found != stated:
        raise ValueError(f"expected checksum {found:08x}, got {stated:08x}")
    return body + b"}", stated

"""How a source of best-known values is written: `STORE:PLACE`, or a file whose suffix says which store it is."""

import csv
import gzip
from pathlib import Path

from gapline.model.regular import open_regular

# A snapshot is a store too: that of values which somebody else froze.
SUFFIXES = {".csv": "csv", ".solu": "solu", ".json": "snapshot"}


def split_source(text: str) -> tuple[str, str] | None:
    """Return store and place of a source, None where neither a scheme nor a suffix says which store is meant.

    >>> split_source("csv:refs.txt"), split_source("lib.solu.gz"), split_source("references/old.json")
    (('csv', 'refs.txt'), ('solu', 'lib.solu.gz'), ('snapshot', 'references/old.json'))
    >>> split_source("a/b:c.csv"), split_source("folder")
    (('csv', 'a/b:c.csv'), None)
    """
    scheme, colon, location = text.partition(":")
    # A drive letter is no store, and a file or a folder may have a colon in its name.
    if colon and len(scheme) > 1 and "/" not in scheme and not Path(text).exists():
        return (scheme, location) if location else None
    suffix = Path(text.removesuffix(".gz")).suffix.lower()
    return (SUFFIXES[suffix], text) if suffix in SUFFIXES else None


def holds_values(text: str) -> bool:
    """Say whether a source of a fold states values; what does not is read as runs.

    A CSV may be either: one with a column `value`, and without the columns of a trace, holds values.
    """
    found = split_source(text)
    if found is None or found[0] == "campaign":
        return False
    return text.startswith("csv:") or found[0] != "csv" or _has_values(Path(text))


def _has_values(file: Path) -> bool:
    try:
        # A trace may be as large as a disk: its header stands at the beginning. A pipe is not waited for.
        with open_regular(file) as packed, gzip.open(packed) if file.suffix == ".gz" else packed as stream:
            head = stream.read(1 << 16).decode("utf-8-sig", "replace")
        header = next((row for row in csv.reader(head.splitlines()) if any(cell.strip() for cell in row)), [])
    except (OSError, EOFError, csv.Error):
        return False
    names = {cell.strip() for cell in header}
    return {"instance", "value"} <= names and not names & {"arm", "objective", "time"}

"""Files that are never rewritten must name no machine: the contract, the register, snapshots, and the user's own.

Their digests are what others rely on. So where one of them names a host or a place of somebody's, nothing is packed
unless that is asked for.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from gapline.archive.attempts import read_lines
from gapline.archive.contents import Contents
from gapline.archive.scrub import Scrubber, names_a_place
from gapline.errors import GaplineError, listing
from gapline.model.contract import Contract
from gapline.model.layout import CONTRACT_FILE, JOURNALS, REGISTER
from gapline.model.limits import read_document
from gapline.model.regular import open_regular

# A shorter name is a word that a title may have.
_SHORTEST = 4


def refuse_named_machines(study: Path, contents: Contents, contract: Contract, scrub: Scrubber) -> None:
    """Refuse files that name a machine and cannot be rewritten, saying which lines do.

    Raises
    ------
    GaplineError
        With the file, the line and what it names.
    """
    lists = {name for name in contents.files if name.endswith(".csv")}
    texts = {CONTRACT_FILE, f"{JOURNALS}/{REGISTER}", *contents.snapshots, *lists} & contents.files.keys()
    found = [*_scaled_hosts(study, contract)]
    for name, path in sorted(contents.files.items()):
        found += [f"{name}:{number}: {what}" for number, what in _named(path, scrub, closely=name in texts)]
    if found:
        raise GaplineError(
            f"{study}: expected no machine named in files that are packed as they are, got {listing(found)}",
            hint="name files by their path in the study, and hosts not at all; --keep-hosts packs everything as it is",
        )


def _scaled_hosts(study: Path, contract: Contract) -> Iterator[str]:
    given = contract.time.scale
    hosts = [given.partition(":")[2]] if isinstance(given, str) else [host for host in given if host != "*"]
    lines = read_document(study / CONTRACT_FILE).decode().splitlines()
    for host in filter(None, hosts):
        line = next((number for number, text in enumerate(lines, 1) if host in text and "scale" in text), None)
        line = line or next((number for number, text in enumerate(lines, 1) if host in text), 1)
        yield f"{CONTRACT_FILE}:{line}: time.scale names the host {host!r}"


def _named(path: Path, scrub: Scrubber, *, closely: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that name a place; in texts of ours `closely`: any place of one machine, or a host."""
    places = [place.encode("utf-8", "surrogateescape") for place in scrub.places if place.count("/") > 1]
    hosts = _host_words(scrub.hosts)
    with open_regular(path) as source:
        for number, line in enumerate(read_lines(source), 1):
            if any(place in line for place in places):
                yield number, "the path of a study or a home"
            elif closely:
                text = line.decode("utf-8", "replace")
                if names_a_place(text):
                    yield number, "an absolute path"
                elif hosts is not None and hosts.search(text):
                    yield number, "a host name"


def _host_words(hosts: Iterable[str]) -> re.Pattern[str] | None:
    words = [re.escape(host) for host in hosts if len(host) >= _SHORTEST and host != "localhost"]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])") if words else None

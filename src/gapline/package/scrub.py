"""Redact machines in texts: host names, user names, and paths that show where a person works.

The names to redact come from the journals alone, never from the machine that packs: packing gives the same result on
every machine. Paths inside the study become relative to it, other ones are shortened to `…/name`. Paths that exist on
every system (`/usr/bin/env`) identify nobody and stay.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec

from gapline.journal.events import Record, Said

HOST, USER, PATH = "host name", "user name", "path"
# Characters that end a path in running text.
_STOP = r"\s\"'`<>|;,:()\[\]{}=!&\\"
_PART = rf"[^/{_STOP}]+"
# Web addresses are not paths, but file: addresses are.
_URL = r"\b(?!file:)[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]*"
_HOMES = r"(?:home|Users)"
# Where a path can begin: not inside a relative path, but after the letter of an option, as in -I/opt/mine/include.
_BEGIN = r"(?:(?<=file://)|(?<![\w.~/…%*-])|(?<=\W-[A-Za-z])|(?<=\A-[A-Za-z]))"
_FOUND = re.compile(rf"(?P<url>{_URL})|(?P<path>{_BEGIN}/{_PART}(?:/{_PART})*/?)")
_HOME = re.compile(rf"(?:/{_PART})*?/{_HOMES}/{_PART}/?")
_HOME_OF = re.compile(rf"((?:/[^/]+)*?/{_HOMES}/([^/]+))(?:/|\Z)")
_SYSTEM = ("/bin/", "/dev/", "/etc/", "/lib/", "/lib64/", "/proc/", "/sbin/", "/sys/", "/usr/")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
# Keywords of the journal format, which stay even if a machine has such a name.
_LANGUAGE = frozenset({*Record.__struct_fields__, *Said.__struct_fields__, "optimal", "infeasible"})
# A single character cannot be recognised as a name in a text.
_SHORTEST = 2


# The kind of a finding, and its replacement.
Replacement = Callable[[re.Match[str]], tuple[str, str]]


class Redaction(NamedTuple):
    """What was redacted in which members, and how often; never the text itself."""

    what: str
    where: str
    times: int


class Scrubber:
    """Redact the names and places of machines in texts, and count the redactions.

    Parameters
    ----------
    hosts
        The replacement for each host.
    studies
        Directories in which the study was run.
    names
        Names of arms, instances and the like, which are never mistaken for a host or a user.

    >>> scrub = Scrubber({"node7": "host-1"}, studies=["/home/jane/study"])
    >>> scrub.text("node7: /home/jane/study/instances/a.vrp", "log"), scrub.text("by jane, /opt/x/bin/solve", "log")
    ('host-1: instances/a.vrp', 'by user, …/solve')
    """

    def __init__(
        self, hosts: Mapping[str, str] | None = None, *, studies: Collection[str] = (), names: Collection[str] = ()
    ) -> None:
        self.hosts = dict(hosts or {})
        self.taken: Counter[tuple[str, str]] = Counter()
        places = sorted({place for place in studies if _is_place(place)}, key=lambda place: (-len(place), place))
        homes = {found[1]: found[2] for place in places if (found := _HOME_OF.match(place))}
        self.places = (*places, *sorted(homes))
        self._study = _either(places, after=r"(?P<inside>/+)|(?!\w|[.-]\w)")
        self._home = _either(sorted(homes, key=len, reverse=True), after=rf"(?P<inside>(?:/{_PART})*/?)")
        kept = {name.casefold() for name in (*names, *_LANGUAGE)}
        self._aliases = {word: alias for host, alias in self.hosts.items() for word in _host_words(host)}
        self._aliases = {word: alias for word, alias in self._aliases.items() if _tells(word) and word not in kept}
        users = {user.casefold() for user in homes.values()}
        self._users = {user for user in users if _tells(user) and user not in kept and user not in self._aliases}
        self._word = _words(self._aliases, self._users)
        self._signs = [word.encode("utf-8", "surrogateescape") for word in (*self._aliases, *self._users)]

    def suspects(self, data: bytes) -> bool:
        """Return whether a line may need redaction: most lines of a journal do not, and are not searched further."""
        # A JSON escape may stand for any letter.
        if b"/" in data or b"\\u" in data:
            return True
        low = data.lower()
        return any(sign in low for sign in self._signs)

    def host(self, name: str, where: str) -> str:
        """Return the replacement for a host."""
        alias = self.hosts.get(name, name)
        self.taken[HOST, where] += alias != name
        return alias

    def text(self, text: str, where: str) -> str:
        """Return a redacted text; `where` is the name under which redactions are counted."""
        for pattern, new_of in (
            (self._study, lambda found: (PATH, "" if found["inside"] else ".")),
            (self._home, lambda found: (PATH, _short(found["inside"]) or "~")),
            (_FOUND, lambda found: (PATH, _shortened(found))),
            (self._word, self._name),
        ):

            def replace(found: re.Match[str], new_of: Replacement = new_of) -> str:
                what, new = new_of(found)
                self.taken[what, where] += new != found[0]
                return new

            text = text if pattern is None else pattern.sub(replace, text)
        return text

    def _name(self, found: re.Match[str]) -> tuple[str, str]:
        host = found["host"]
        return (USER, "user") if host is None else (HOST, self._aliases[host.casefold()])

    def json(self, body: bytes, where: str) -> bytes:
        """Return JSON with redacted texts; numbers, names and layout stay byte for byte."""
        return _STRING.sub(lambda found: self._string(found[0], where), body) if self.suspects(body) else body

    def _string(self, token: bytes, where: str) -> bytes:
        if not self.suspects(token):
            return token
        try:
            text = msgspec.json.decode(token, type=str)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            # Half of a surrogate pair, which is no character.
            return self.text(token.decode("utf-8", "surrogateescape"), where).encode("utf-8", "surrogateescape")
        new = text if text in _LANGUAGE else self.text(text, where)
        return token if new == text else msgspec.json.encode(new)

    def value(self, value: Any, where: str) -> Any:
        """Return a redacted JSON value, names of fields included."""
        if isinstance(value, str):
            return self.text(value, where)
        if isinstance(value, dict):
            return {self.text(str(name), where): self.value(one, where) for name, one in value.items()}
        if isinstance(value, list):
            return [self.value(one, where) for one in value]
        return value

    def line(self, line: bytes, where: str) -> bytes:
        """Return a redacted line of a log; bytes that are no text stay."""
        if not self.suspects(line):
            return line
        return self.text(line.decode("utf-8", "surrogateescape"), where).encode("utf-8", "surrogateescape")

    def list_taken(self) -> list[Redaction]:
        """Return all redactions so far, sorted."""
        return [Redaction(*key, times) for key, times in sorted(self.taken.items()) if times]


def alias_hosts(hosts: Iterable[str]) -> dict[str, str]:
    """Number hosts in the order in which they first occur.

    >>> alias_hosts(["b", "a", "b", ""])
    {'b': 'host-1', 'a': 'host-2'}
    """
    return {host: f"host-{number}" for number, host in enumerate(dict.fromkeys(filter(None, hosts)), 1)}


def names_local_path(text: str) -> bool:
    """Return whether a text of a contract contains a local path: an absolute path that not every system has.

    >>> [names_local_path(one) for one in ("/usr/bin/env python3", "--jar=/opt/mine/solver.jar", "./mine a/b")]
    [False, True, False]
    """
    return any(found.lastgroup != "url" and _shortened(found) != found[0] for found in _FOUND.finditer(text))


def _is_place(place: str) -> bool:
    return place.startswith("/") and place != "/"


def _either(places: Iterable[str], *, after: str) -> re.Pattern[str] | None:
    # A directory directly under the root must not match the end of a longer path.
    each = [(r"(?<![\w.~/…-])" if place.count("/") == 1 else "") + re.escape(place) for place in places]
    return re.compile(f"(?:{'|'.join(each)})(?:{after})") if each else None


def _words(hosts: Collection[str], users: Collection[str]) -> re.Pattern[str] | None:
    """Return a pattern for names as whole words in any case; a host includes the rest of its address."""
    if not hosts and not users:
        return None
    host, user = (
        # Longer names first; without any name, the pattern matches nothing.
        "|".join(map(re.escape, sorted(some, key=lambda word: (-len(word), word)))) or r"(?!)"
        for some in (hosts, users)
    )
    names = rf"(?P<host>{host})(?:(?:\.[A-Za-z0-9-]+){{2,}})?|(?P<user>{user})"
    return re.compile(rf"(?<![^\W_])(?:{names})(?![^\W_])", re.IGNORECASE)


def _host_words(host: str) -> set[str]:
    # A host may be named in full or without its domain.
    return {host.casefold(), host.casefold().partition(".")[0]}


def _tells(word: str) -> bool:
    return len(word) >= _SHORTEST and not word.isdecimal() and word not in ("localhost", "root")


def _shortened(found: re.Match[str]) -> str:
    whole = found[0]
    if found.lastgroup == "url":
        return whole
    if _HOME.fullmatch(whole) or whole.rstrip("/") == "/root":
        return "~"
    # One name under the root, such as /data, identifies nobody; and "a /b" need not be a path.
    few = not whole.strip("/").count("/")
    return whole if few or (whole.startswith(_SYSTEM) and not _HOME.match(whole)) else _short(whole)


def _short(path: str) -> str:
    name = PurePosixPath(path).name
    return f"…/{name}" if name else ""

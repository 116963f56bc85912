"""The event stream of a study: its state, the differences between states, and its clients."""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from gapline.live.event_log import now_stamp

Path = list[str]
_ABSENT = object()


@dataclass(slots=True)
class Difference:
    """The changes from one document to the next."""

    gone: list[Path] = field(default_factory=list)
    set: list[tuple[Path, Any]] = field(default_factory=list)
    cut: list[tuple[Path, int]] = field(default_factory=list)
    append: list[tuple[Path, list[Any]]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.gone or self.set or self.cut or self.append)

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"gone": self.gone, "set": self.set, "cut": self.cut, "append": self.append}


def difference(before: dict[str, Any], after: dict[str, Any]) -> Difference:
    """Return what changed.

    >>> difference({"a": 1, "b": {"c": [1]}}, {"b": {"c": [1, 2]}}).document()
    {'gone': [['a']], 'set': [], 'cut': [], 'append': [(['b', 'c'], [2])]}
    """
    found = Difference()
    _compare(before, after, [], found)
    return found


def _compare(before: dict[str, Any], after: dict[str, Any], path: Path, found: Difference) -> None:
    found.gone += [[*path, name] for name in before if name not in after]
    for name, new in after.items():
        old = before.get(name, _ABSENT)
        if old is new:
            continue
        kind = type(new)
        # 1 and 1.0 and True are equal, and not the same in JSON.
        same = type(old) is kind
        if same and kind is dict:
            _compare(old, new, [*path, name], found)
        elif same and kind is list:
            _compare_lists(old, new, [*path, name], found)
        elif not same or old != new:
            found.set.append(([*path, name], new))


def _compare_lists(old: list[Any], new: list[Any], path: Path, found: Difference) -> None:
    kept = _common(old, new)
    if kept == len(old) == len(new):
        return
    # What has little in common is a list of other things, and shorter said whole.
    if 2 * kept < len(old) or not kept:
        found.set.append((path, new))
        return
    if kept < len(old):
        found.cut.append((path, kept))
    if kept < len(new):
        found.append.append((path, new[kept:]))


def _common(old: list[Any], new: list[Any]) -> int:
    """Return how many values two lists begin with alike."""
    most = min(len(old), len(new))
    # A list that grew, or whose last value is another one, is compared at once.
    for length in (most, most - 1):
        if length > 0 and _is_same(old[:length], new[:length]):
            return length
    for place in range(most):
        if not _is_same(old[place : place + 1], new[place : place + 1]):
            return place
    return most


def _is_same(old: list[Any], new: list[Any]) -> bool:
    return old == new and list(map(type, old)) == list(map(type, new))


def apply(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Turn a document into the next one, in place; what a client does with a `change`."""
    for path in change["gone"]:
        del _parent(document, path)[path[-1]]
    for path, value in change["set"]:
        _parent(document, path)[path[-1]] = value
    for path, length in change["cut"]:
        del _parent(document, path)[path[-1]][length:]
    for path, values in change["append"]:
        _parent(document, path)[path[-1]].extend(values)
    return document


def _parent(document: dict[str, Any], path: Path) -> dict[str, Any]:
    for name in path[:-1]:
        document = document[name]
    return document


# Changes that are kept for clients that come back, by number and by size.
MOST_CHANGES, MOST_BYTES = 600, 8 << 20
# What may wait for one client.
MOST_WAITING, MOST_WAITING_BYTES = 60, 1 << 20


class Event(NamedTuple):
    """A change as it goes out, with its number."""

    number: int
    data: bytes


class Client:
    """Somebody who listens: `dropped` is set once too much waits for them."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._ready = asyncio.Event()
        self.dropped = asyncio.Event()

    def put(self, data: bytes) -> None:
        """Let something wait for the client, or drop them."""
        if self.dropped.is_set():
            return
        if len(self._waiting) >= MOST_WAITING or (self._waiting and self._bytes + len(data) > MOST_WAITING_BYTES):
            self.drop()
            return
        self._waiting.append(data)
        self._bytes += len(data)
        self._ready.set()

    def drop(self) -> None:
        """Let nothing wait any more."""
        self._waiting.clear()
        self._bytes = 0
        self.dropped.set()
        self._ready.set()

    async def take(self) -> bytes | None:
        """Wait for what is next, None once the client is dropped."""
        while not self._waiting:
            if self.dropped.is_set():
                return None
            self._ready.clear()
            await self._ready.wait()
        data = self._waiting.popleft()
        self._bytes -= len(data)
        return data


class Channel:
    """One study as its clients see it; `number` is that of the newest event."""

    def __init__(self, *, start: int = 0) -> None:
        self.number = start
        self.state: dict[str, Any] = {}
        self.looked = now_stamp()
        self._encoded: bytes | None = None
        self._first: Event | None = None
        self._kept: deque[Event] = deque()
        self._bytes = 0
        self.clients: set[Client] = set()

    def publish(self, state: dict[str, Any], *, looked: str | None = None) -> bool:
        """Let a new state be known, of a look that began at a moment; return whether anything changed."""
        found = difference(self.state, state)
        if not found:
            return False
        self.number += 1
        self.state, self.looked, self._encoded = state, looked or now_stamp(), None
        change = {"id": self.number, "at": now_stamp(), "looked": self.looked} | found.document()
        event = Event(self.number, encode_event("change", encode(change), self.number))
        self._kept.append(event)
        self._bytes += len(event.data)
        while len(self._kept) > MOST_CHANGES or (len(self._kept) > 1 and self._bytes > MOST_BYTES):
            self._bytes -= len(self._kept.popleft().data)
        for client in tuple(self.clients):
            client.put(event.data)
        return True

    def document(self) -> bytes:
        """Return the newest state as JSON."""
        if self._encoded is None:
            self._encoded = encode({"id": self.number, "at": now_stamp(), "looked": self.looked} | self.state)
        return self._encoded

    def join(self, last: int | None) -> Client:
        """Let a client listen, from its last event on where that is still kept, else from the whole state."""
        client = Client()
        missed = None if last is None else self._since(last)
        if missed is None:
            client.put(self._state_event())
        elif missed:
            # As one: those who come back are not slow because they missed much.
            client.put(b"".join(event.data for event in missed))
        self.clients.add(client)
        return client

    def _state_event(self) -> bytes:
        """Return the whole state as an event, one for all who come at this moment."""
        if self._first is None or self._first.number != self.number:
            self._first = Event(self.number, encode_event("state", self.document(), self.number))
        return self._first.data

    def leave(self, client: Client) -> None:
        """Forget a client."""
        self.clients.discard(client)

    def beat(self) -> None:
        """Let the clients know that the server is there."""
        for client in tuple(self.clients):
            client.put(b": here\n\n")

    def close(self, reason: str) -> None:
        """Let the clients know that nothing more comes."""
        data = encode_event("bye", encode({"reason": reason}), self.number)
        for client in tuple(self.clients):
            client.put(data)

    def _since(self, last: int) -> list[Event] | None:
        """Return the changes after an event, None where not all of them are kept."""
        if last > self.number:
            # Of another server that was here before, or of nobody.
            return None
        first = self._kept[0].number if self._kept else self.number + 1
        if last + 1 < first:
            return None
        return [event for event in self._kept if event.number > last]


def encode(document: Any) -> bytes:
    """Return JSON on one line; an infinity, which JSON has not, is null."""
    try:
        return msgspec.json.encode(document)
    except (msgspec.MsgspecError, TypeError, ValueError, UnicodeEncodeError):
        # A name that is no text, as a file system may hold it.
        return json.dumps(document, separators=(",", ":"), default=str).encode("ascii", "backslashreplace")


def encode_event(kind: str, data: bytes, number: int) -> bytes:
    r"""Return a server-sent event.

    >>> encode_event("change", b'{"id":3}', 3)
    b'id: 3\nevent: change\ndata: {"id":3}\n\n'
    """
    # JSON on one line has no line end that could end the event.
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, kind.encode(), data)

"""What a solver prints, cut into events and log text, in bounded memory."""

from pathlib import Path

import msgspec

_EVENT_KEYS = (b'"objective"', b'"bound"', b'"solver"', b'"claim"')


class _Event(msgspec.Struct):
    """Only to find out whether a line is JSON and carries a key of ours: values stay as they are."""

    objective: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    bound: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    solver: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    claim: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Event).decode


def event_body(line: bytes) -> bytes | None:
    r"""Return the journal field of a line that is an event, or None for log text.

    A JSON object with `objective`, `bound`, `solver` or `claim` is kept as it stands. A line that means to be one but
    is not JSON (NaN, a missing brace, invalid UTF-8) is kept as text: a candidate to be rejected, no line to be lost.

    >>> event_body(b'{"objective": 12.5, "solution": [1, 2]}')
    b'"say":{"objective": 12.5, "solution": [1, 2]}'
    >>> event_body(b'{"objective": NaN}')
    b'"text":"{\\"objective\\": NaN}"'
    >>> event_body(b'{"iteration": 3}') is None and event_body(b"Reading problem") is None
    True
    """
    line = line.strip()
    if not line.startswith(b"{") or not any(key in line for key in _EVENT_KEYS):
        return None
    try:
        event = _decode(line)
        # msgspec does not look inside the raw values that are kept.
        if not line.isascii():
            line.decode("utf-8")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b'"text":' + msgspec.json.encode(line.decode("utf-8", "replace"))
    if event.objective is event.bound is event.solver is event.claim is msgspec.UNSET:
        return None
    # A carriage return is white space in JSON, so it can stand inside; a newline cannot, lines were cut at it.
    return b'"say":' + line


class LineCutter:
    """Cut a byte stream into lines, giving up on a line that is longer than the cap."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._pieces: list[bytes] = []
        self._held = 0
        self._overlong = False
        self.overlong_lines = 0
        self.overlong_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes; neighbours that can hold no event stay one piece, for speed."""
        first, newline, rest = data.partition(b"\n")
        self._hold(first)
        if not newline:
            return []
        lines = []
        if (line := self._release()) is not None:
            lines.append(line)
        whole, newline, tail = rest.rpartition(b"\n")
        # One search over the block instead of one per line.
        if newline and len(whole) <= self._cap and not any(key in whole for key in _EVENT_KEYS):
            lines.append(whole)
        elif newline:
            for line in whole.split(b"\n"):
                if len(line) > self._cap:
                    self.overlong_lines += 1
                    self.overlong_bytes += len(line)
                else:
                    lines.append(line)
        self._hold(tail)
        return lines

    def finish(self) -> list[bytes]:
        """Return what stands after the last newline: a solver may die before it prints one."""
        line = self._release()
        return [line] if line else []

    def _hold(self, piece: bytes) -> None:
        if self._overlong:
            self.overlong_bytes += len(piece)
            return
        self._held += len(piece)
        self._pieces.append(piece)
        if self._held > self._cap:
            self._overlong = True
            self.overlong_lines += 1
            self.overlong_bytes += self._held
            self._pieces.clear()

    def _release(self) -> bytes | None:
        line = None if self._overlong else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        self._overlong = False
        return line


class CappedLog:
    """A text file that keeps the first bytes as they come and, when closed, the last: the cause of a crash is there."""

    def __init__(self, path: Path, cap: int) -> None:
        self._stream = path.open("xb", buffering=0)
        self._room = cap
        self._keep = min(cap, 65_536)
        self._tail = b""
        self._beyond = 0

    def write(self, data: bytes) -> None:
        """Keep the data as far as there is room."""
        if self._room > 0:
            self._stream.write(data[: self._room])
        rest = data[self._room :] if self._room < len(data) else b""
        self._room = max(0, self._room - len(data))
        if rest:
            self._beyond += len(rest)
            # Not [-keep:], which keeps everything when there is nothing to keep.
            self._tail = (self._tail + rest)[max(0, len(self._tail) + len(rest) - self._keep) :]

    @property
    def dropped(self) -> int:
        """Bytes that are in neither the first nor the last part."""
        return self._beyond - len(self._tail)

    def close(self) -> None:
        """Write the last part and close the file."""
        try:
            if self.dropped:
                self._stream.write(b"\n[%d bytes left out]\n" % self.dropped)
            self._stream.write(self._tail)
        finally:
            self._stream.close()

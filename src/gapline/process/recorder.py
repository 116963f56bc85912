"""Record the output of a solver as journal lines and logs: split into lines, stamped, written without blocking it."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import msgspec

from gapline.journal.line import ERROR_LOG, EVENTS_FILE, OUTPUT_LOG, JournalWriter
from gapline.journal.records import OVER_CAP, Caps

_EVENT_KEYS = (b'"objective"', b'"bound"', b'"solver"', b'"claim"')


class _Event(msgspec.Struct):
    """Decoded only to see whether a line is JSON and has one of our keys: values stay as they are."""

    objective: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    bound: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    solver: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    claim: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode = msgspec.json.Decoder(_Event).decode


def event_body(line: bytes) -> bytes | None:
    r"""Return the journal field of a line that is an event, or None for log text.

    A JSON object with `objective`, `bound`, `solver` or `claim` is kept unchanged. A line that looks like one but is
    not valid JSON (NaN, a missing brace, invalid UTF-8) is kept as text: a candidate to reject, not a line to lose.

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
        # msgspec does not validate the raw values that are kept.
        if not line.isascii():
            line.decode("utf-8")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b'"text":' + msgspec.json.encode(line.decode("utf-8", "replace"))
    if event.objective is event.bound is event.solver is event.claim is msgspec.UNSET:
        return None
    # A carriage return is white space in JSON and may be inside the line; a newline cannot, as lines are split at it.
    return b'"say":' + line


class LineCutter:
    """Split a byte stream into lines, discarding lines that are longer than the cap."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._pieces: list[bytes] = []
        self._held = 0
        self._overlong = False
        self.overlong_lines = 0
        self.overlong_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes; adjacent lines without events stay one piece, for speed."""
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
        """Return the text after the last newline: a solver may die before it prints one."""
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
    """A text file that keeps the first bytes and, when closed, the last ones, which show the cause of a crash."""

    def __init__(self, path: Path, cap: int) -> None:
        self._stream = path.open("xb", buffering=0)
        self._room = cap
        self._keep = min(cap, 65_536)
        self._tail = b""
        self._beyond = 0

    def write(self, data: bytes) -> None:
        """Write the data as far as there is room."""
        if self._room > 0:
            self._stream.write(data[: self._room])
        rest = data[self._room :] if self._room < len(data) else b""
        self._room = max(0, self._room - len(data))
        if rest:
            self._beyond += len(rest)
            # Not [-keep:], which keeps everything if `keep` is 0.
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


SYNC_EVERY = 1.0
BATCH = 1_000_000

_Item = tuple[bool, float, bytes]


class Recorder:
    """Record the solver's output; after the disk refuses a write, call `on_error` once and discard everything."""

    def __init__(self, directory: Path, caps: Caps, start: bytes, on_error: Callable[[], None]) -> None:
        self._caps = caps
        self._on_error = on_error
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._received = 0
        self._handled = 0
        self._cutter = LineCutter(caps.line)
        self._journal = JournalWriter(directory / EVENTS_FILE)
        self._out = CappedLog(directory / OUTPUT_LOG, caps.log)
        self._err = CappedLog(directory / ERROR_LOG, caps.log)
        self.error: OSError | None = None
        self.events = 0
        self.log_lines = 0
        self.events_over_cap = 0
        self._journal.append([b'"start":' + start])
        # On disk before the solver starts: an attempt without its order names no run.
        self._journal.sync()
        self._thread = Thread(target=self._run, name="recorder", daemon=True)

    def start(self) -> None:
        """Start the thread (after the solver was started, as a fork needs a single thread)."""
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Bytes received and not yet handled."""
        return self._received - self._handled

    def take(self, data: bytes, moment: float, *, is_output: bool) -> None:
        """Queue bytes of the standard output (otherwise standard error) received at a moment of the run."""
        self._received += len(data)
        self._queue.put((is_output, moment, data))

    def finish(self, moment: float) -> None:
        """Handle everything received, including an unfinished last line."""
        self._queue.put(None)
        self._thread.join()
        if self.error is None:
            self._guard(lambda: self._keep([(moment, line) for line in self._cutter.finish()]))

    def close(self, end: Callable[[], bytes]) -> None:
        """Write the last line, sync, close. `end` is called after the logs are closed, so that it can count them."""
        for log in (self._out, self._err):
            try:
                log.close()
            except OSError as error:
                self.error = self.error or error
        self._guard(lambda: self._journal.append([b'"end":' + end()]))
        self._guard(self._journal.sync)
        self._journal.close()

    def dropped(self) -> dict[str, int]:
        """Count what exceeded a cap, without zero counts."""
        counts = {
            "overlong lines": self._cutter.overlong_lines,
            "overlong bytes": self._cutter.overlong_bytes,
            OVER_CAP: self.events_over_cap,
            "stdout bytes": self._out.dropped,
            "stderr bytes": self._err.dropped,
        }
        return {name: count for name, count in counts.items() if count}

    def _guard(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            if self.error is None:
                self.error = error
                # Called once; the supervisor then ends the run, and later output is discarded.
                self._on_error()

    def _run(self) -> None:
        next_sync = time.monotonic() + SYNC_EVERY
        last = False
        while not last:
            batch: list[_Item] = []
            size = 0
            with contextlib.suppress(Empty):
                item = self._queue.get(timeout=max(0.0, next_sync - time.monotonic()))
                while item is not None:
                    batch.append(item)
                    size += len(item[2])
                    if size >= BATCH:
                        break
                    item = self._queue.get_nowait()
                last = item is None
            if self.error is None:
                self._guard(lambda batch=batch: self._handle(batch))  # type: ignore[misc]
            self._handled += size
            if time.monotonic() >= next_sync:
                if self.error is None:
                    self._guard(self._journal.sync)
                next_sync = time.monotonic() + SYNC_EVERY

    def _handle(self, batch: list[_Item]) -> None:
        lines: list[tuple[float, bytes]] = []
        for is_output, moment, data in batch:
            if is_output:
                lines += [(moment, line) for line in self._cutter.feed(data)]
            else:
                self._err.write(data)
        self._keep(lines)

    def _keep(self, lines: list[tuple[float, bytes]]) -> None:
        bodies: list[bytes] = []
        text: list[bytes] = []
        size = self._journal.size
        for moment, line in lines:
            body = event_body(line)
            if body is None:
                text.append(line)
            elif size + len(body) > self._caps.journal:
                self.events_over_cap += 1
            else:
                # Number, stamp and checksum of a line take about 50 bytes.
                size += len(body) + 50
                bodies.append(b'"t":%.9f,%b' % (moment, body))
        if bodies:
            self._journal.append(bodies)
            self.events += len(bodies)
        if text:
            block = b"\n".join(text) + b"\n"
            self.log_lines += block.count(b"\n")
            self._out.write(block)

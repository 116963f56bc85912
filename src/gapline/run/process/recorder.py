"""The thread that turns received bytes into journal lines and logs, off the solver's path."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

from gapline.journal.line import ERROR_LOG, EVENTS_FILE, OUTPUT_LOG
from gapline.journal.records import OVER_CAP, Caps
from gapline.journal.write import JournalWriter
from gapline.run.process.stream import CappedLog, LineCutter, event_body

SYNC_EVERY = 1.0
BATCH = 1_000_000

_Item = tuple[bool, float, bytes]


class Recorder:
    """Keep what the solver prints; `on_error` is called once the disk refuses a write, then everything is discarded."""

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
        """Start the thread (after the solver was started: a fork wants a single thread)."""
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Bytes received and not yet handled."""
        return self._received - self._handled

    def take(self, data: bytes, moment: float, *, is_output: bool) -> None:
        """Take bytes of the standard output, or else of the standard error, received at a moment of the run."""
        self._received += len(data)
        self._queue.put((is_output, moment, data))

    def finish(self, moment: float) -> None:
        """Handle everything received, the last unfinished line included."""
        self._queue.put(None)
        self._thread.join()
        if self.error is None:
            self._guard(lambda: self._keep([(moment, line) for line in self._cutter.finish()]))

    def close(self, end: Callable[[], bytes]) -> None:
        """Write the last line, sync, close. `end` is called after the logs were closed, so that it can count them."""
        for log in (self._out, self._err):
            try:
                log.close()
            except OSError as error:
                self.error = self.error or error
        self._guard(lambda: self._journal.append([b'"end":' + end()]))
        self._guard(self._journal.sync)
        self._journal.close()

    def dropped(self) -> dict[str, int]:
        """Count what exceeded a cap, zero counts left out."""
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
                # Told once; the supervisor then ends the run, and what still arrives is thrown away.
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
                # Number, stamp and checksum around a body take about 50 bytes.
                size += len(body) + 50
                bodies.append(b'"t":%.9f,%b' % (moment, body))
        if bodies:
            self._journal.append(bodies)
            self.events += len(bodies)
        if text:
            block = b"\n".join(text) + b"\n"
            self.log_lines += block.count(b"\n")
            self._out.write(block)

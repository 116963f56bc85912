"""What it costs to follow a study of 10,000 done and 100 running cells, and to have 200 clients.

python -m bench live
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

import gapline as gl
from gapline.journal.line import EVENTS_FILE, ORDER_FILE
from gapline.journal.records import Ending, Order, order_text
from gapline.journal.write import JournalWriter
from gapline.model.contract import load_contract
from gapline.model.plan import Cell, Plan
from gapline.run.claim import claim, new_attempt
from gapline.serve.live import LiveStudy

DONE, RUNNING, FEW = 10_000, 100, 1000
HORIZON = 3600.0
STEPS = 20
# Seconds for which the share of a core is measured, and clients are held.
WATCHED = 20.0
CLIENTS, DEAF = 200, 50
STARTED = "2026-08-01T12:00:00+00:00"

CONTRACT = """
seeds = {seeds}

[study]
name = "large"

[objective]
validation = "solver"

[time]
horizon = 3600.0

[reference]
policy = "frozen"
snapshot = "references/known.json"
"""


class Large:
    """A study with many done cells, and others that this process keeps running."""

    def __init__(self, folder: Path, done: int, running: int) -> None:
        self.path = folder
        self.done = done
        instances, arms = 20, 5
        seeds = -(-(done + running) // (instances * arms))
        self._write_contract(instances, arms, seeds)
        self.cells = Plan.of(load_contract(folder)).cells[: done + running]
        self.writers: dict[str, JournalWriter] = {}
        self._held = contextlib.ExitStack()
        for cell in self.cells[:done]:
            self._begin(cell)
            self.finish(str(cell.key))
        for cell in self.cells[done:]:
            self._held.enter_context(claim(cell.directory(folder)))
            self._begin(cell)

    def _write_contract(self, instances: int, arms: int, seeds: int) -> None:
        (self.path / "instances").mkdir(parents=True)
        (self.path / "references").mkdir()
        text = CONTRACT.format(seeds=list(range(1, seeds + 1)))
        names = [f"i{k:02d}" for k in range(instances)]
        for name in names:
            (self.path / "instances" / f"{name}.txt").write_text(name)
            text += f'\n[[instances]]\npath = "instances/{name}.txt"\npanel = "p{name[-1]}"\n'
        for k in range(arms):
            text += f'\n[[arms]]\nname = "arm{k}"\nsolver = "command"\ncommand = ["true"]\n'
        (self.path / "study.toml").write_text(text)
        known = gl.Snapshot.from_values(dict.fromkeys(names, 90.0), name="known", as_of="2020-01-01")
        known.save(self.path / "references" / "known.json")

    def _begin(self, cell: Cell) -> None:
        directory = cell.directory(self.path)
        directory.mkdir(parents=True, exist_ok=True)
        attempt = new_attempt(directory)
        order = Order(
            arm=cell.arm.name, instance=cell.instance.name, seed=cell.seed, panel=cell.instance.panel,
            horizon=HORIZON, carried={"validation": "solver", "tier": 1},
        )  # fmt: skip
        (attempt / ORDER_FILE).write_bytes(order_text(order))
        writer = JournalWriter(attempt / EVENTS_FILE)
        lines = [b'"t":%.3f,"say":{"objective":%.3f}' % (k, 200.0 - 5 * k - cell.seed % 7) for k in range(STEPS)]
        writer.append([b'"start":' + msgspec.json.encode(order), *lines])
        self.writers[str(cell.key)] = writer

    def say(self, cells: list[Cell], time: float, objective: float) -> None:
        for cell in cells:
            self.writers[str(cell.key)].append([b'"t":%.6f,"say":{"objective":%.6f}' % (time, objective)])

    def finish(self, name: str) -> None:
        ending = Ending(cause="exit", started=STARTED, elapsed=60.0, exit_code=0)
        self.writers[name].append([b'"end":' + msgspec.json.encode(ending)])
        self.writers.pop(name).close()

    @property
    def running(self) -> list[Cell]:
        return list(self.cells[self.done :])

    def close(self) -> None:
        self._held.close()
        for writer in self.writers.values():
            writer.close()


@contextlib.contextmanager
def large(done: int, running: int) -> Iterator[Large]:
    with tempfile.TemporaryDirectory() as folder:
        study = Large(Path(folder) / "study", done, running)
        try:
            yield study
        finally:
            study.close()


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work: whoever else uses the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def update_cost(study: Large, live: LiveStudy, changed: int) -> float:
    """Return the best time of a look after so many of the running runs went on."""
    best = float("inf")
    for turn in range(7):
        clock = time.monotonic() % 1000 + 100
        study.say(study.running[:changed], clock, 50.0 - turn * 0.01)
        best = min(best, seconds(live.look))
    return best


def run() -> list[tuple[str, float, float | None]]:
    """Measure, and return (what, ratio, limit)."""
    rows: list[tuple[str, float, float | None]] = []
    with large(FEW, RUNNING) as study:
        live = LiveStudy(study.path)
        live.look()
        few = update_cost(study, live, 10)
        live.close()
    with large(DONE, RUNNING) as study:
        live = LiveStudy(study.path)
        opened = seconds(live.look)
        total = DONE + RUNNING
        rows.append((f"live: seconds to open {total:,} cells / thousand cells", opened / (total / 1000), 2.0))
        idle = min(seconds(live.look) for _ in range(7))
        one, ten, hundred = (update_cost(study, live, number) for number in (1, 10, 100))
        rows.append(("live: look after 10 of 100 runs went on, 10,000 done / 1,000 done", ten / few, 3.0))
        rows.append(("live: look after 100 runs went on / after 10", hundred / ten, 10.0))
        rows.append(("live: look after 1 run went on / opening", one / opened, 0.05))
        rows.append(("live: look when nothing changed / opening", idle / opened, 0.05))
        live.close()
        rows += _served(study)
    return rows


def _served(study: Large) -> list[tuple[str, float, float | None]]:
    """Measure a server: its share of a core, its memory and how late clients are, some of whom never read."""
    code = "from gapline.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", str(study.path), "--no-open", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = int(process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
    try:
        first = _Reader(port)
        first.wait_for(b"event: state")
        share = _share(process.pid, study)
        before = _memory(process.pid)
        readers = [first, *(_Reader(port) for _ in range(CLIENTS - DEAF - 1))]
        deaf = [_connect(port) for _ in range(DEAF)]
        lateness = []
        end = time.monotonic() + WATCHED
        turn = 0
        while time.monotonic() < end:
            turn += 1
            mark = f"{49 - turn * 0.001:.6f}"
            study.say(study.running[:1], 2000.0 + turn, float(mark))
            said = time.monotonic()
            for reader in readers:
                reader.wait_for(mark.rstrip("0").encode())
                lateness.append(time.monotonic() - said)
        after = _memory(process.pid)
        for one in deaf:
            one.close()
        for reader in readers:
            reader.close()
    finally:
        process.terminate()
        process.communicate()
    lateness.sort()
    return [
        ("live: share of one core with 100 runs that each say something every second", share, 0.02),
        (f"live: seconds from a journal to the last of {CLIENTS - DEAF} clients that read", lateness[-1], 2.0),
        (f"live: memory with {CLIENTS} clients, {DEAF} of which never read / with one", after / before, 1.5),
    ]


def _share(pid: int, study: Large) -> float:
    start, used = time.monotonic(), _processor_time(pid)
    turn = 0
    while (passed := time.monotonic() - start) < WATCHED:
        turn += 1
        study.say(study.running, 1000.0 + passed, 49.9 - 0.001 * turn)
        time.sleep(max(0.0, start + turn - time.monotonic()))
    return (_processor_time(pid) - used) / (time.monotonic() - start)


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _connect(port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    found.connect(("127.0.0.1", port))
    found.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
    return found


class _Reader:
    """A client that reads all the time and remembers the last of it."""

    def __init__(self, port: int) -> None:
        self._socket = _connect(port)
        self._last = b""
        self._new = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._socket.recv(1 << 16):
                with self._new:
                    self._last = (self._last + data)[-(1 << 20) :]
                    self._new.notify_all()

    def wait_for(self, text: bytes) -> None:
        with self._new:
            assert self._new.wait_for(lambda: text in self._last, 60), text

    def close(self) -> None:
        self._socket.close()


if __name__ == "__main__":
    for what, value, limit in run():
        print(f"{what:<90} {value:8.4f}  limit {limit}")

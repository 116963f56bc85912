"""A study with many done cells and others that this process keeps running, written without a solver."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

import gapline as gl
from gapline.contract.plan import Cell, Plan
from gapline.contract.study_file import load_contract
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.records import Ending, Order, order_text
from gapline.run.claim import claim, new_attempt

HORIZON = 3600.0
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


class WatchedStudy:
    """Cells that are done or under way, and how they go on; each begins with `steps` candidates."""

    def __init__(self, folder: Path, done: int, running: int, *, steps: int = 20, waiting: int = 0) -> None:
        self.path = folder
        self._steps = steps
        instances, arms = 20, 5
        seeds = -(-(done + running + waiting) // (instances * arms))
        self._write_contract(instances, arms, seeds)
        cells = Plan.of(load_contract(folder)).cells
        self.waiting = list(cells[done + running : done + running + waiting])
        self.writers: dict[str, JournalWriter] = {}
        self._held: dict[str, contextlib.ExitStack] = {}
        self.running: list[Cell] = []
        for cell in cells[:done]:
            self._begin(cell)
            self._end(cell)
        for cell in cells[done : done + running]:
            self.begin(cell)

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

    def begin(self, cell: Cell) -> None:
        """Claim a cell, and let a run of it be under way."""
        held = self._held[str(cell.key)] = contextlib.ExitStack()
        held.enter_context(claim(cell.directory(self.path)))
        self._begin(cell)
        self.running.append(cell)

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
        falls = 95.0 / self._steps
        lines = [
            b'"t":%.3f,"say":{"objective":%.3f}' % (k * 20 / self._steps, 200.0 - falls * k - cell.seed % 7)
            for k in range(self._steps)
        ]
        writer.append([b'"start":' + msgspec.json.encode(order), *lines])
        self.writers[str(cell.key)] = writer

    def say(self, cells: list[Cell], time: float, objective: float) -> None:
        """Let runs find something."""
        for cell in cells:
            self.writers[str(cell.key)].append([b'"t":%.6f,"say":{"objective":%.6f}' % (time, objective)])

    def finish(self, cell: Cell) -> None:
        """Let a run that is under way end, and its cell be let go of."""
        self.running.remove(cell)
        self._end(cell)
        self._held.pop(str(cell.key)).close()

    def _end(self, cell: Cell) -> None:
        ending = Ending(cause="exit", started=STARTED, elapsed=60.0, exit_code=0)
        writer = self.writers.pop(str(cell.key))
        writer.append([b'"end":' + msgspec.json.encode(ending)])
        writer.close()

    def close(self) -> None:
        """Let go of everything, as a runner that dies does."""
        for held in self._held.values():
            held.close()
        for writer in self.writers.values():
            writer.close()


@contextlib.contextmanager
def watched_study(
    folder: Path, done: int, running: int, *, steps: int = 20, waiting: int = 0
) -> Iterator[WatchedStudy]:
    """Write a study into a folder that is not there yet."""
    study = WatchedStudy(folder, done, running, steps=steps, waiting=waiting)
    try:
        yield study
    finally:
        study.close()

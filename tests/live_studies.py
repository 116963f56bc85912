"""A study with references whose journals a test writes as a runner would: line by line, cut anywhere, or by a run."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

import gapline as gl
from gapline.campaign.store import file_digest
from gapline.contract.plan import Cell, Plan
from gapline.contract.study_file import load_contract
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.records import Ending, Order, order_text
from gapline.run.claim import claim, new_attempt

CONTRACT = """
seeds = {seeds}

[study]
name = "live"

[objective]
validation = "{validation}"
{checker}

[time]
horizon = {horizon}
grace = 0.5

[reference]
policy = "{policy}"
snapshot = "references/known.json"

[score]
kernel = {kernels}
weight = "{weight}"
"""


REFERENCES = {"one": 70.0, "two": 90.0}


def with_references(study):
    """Give a scripted study references that stood before its first run."""
    (study.path / "references").mkdir()
    snapshot = gl.Snapshot.from_values(REFERENCES, name="known", as_of="2020-01-01")
    snapshot.save(study.path / "references" / "known.json")
    contract = study.path / "study.toml"
    reference = '\n[reference]\npolicy = "frozen"\nsnapshot = "references/known.json"\n'
    contract.write_text(contract.read_text().replace("[time]", reference + "\n[time]", 1))
    return study


def still() -> float:
    """A clock of which no time goes by, however busy the machine is."""
    return 0.0


@dataclass
class LiveWriter:
    """A study directory, and attempts at its cells that are written by hand."""

    path: Path
    writers: dict[str, JournalWriter] = field(default_factory=dict)
    attempts: dict[str, Path] = field(default_factory=dict)
    held: dict[str, contextlib.ExitStack] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[Cell, ...]:
        return Plan.of(load_contract(self.path)).cells

    def cell(self, name: str) -> Cell:
        return next(cell for cell in self.cells if str(cell.key) == name)

    def begin(self, name: str, *, claimed: bool = True, cpus: Sequence[int] = (), checked: bool = False) -> Path:
        """Claim a cell, as the runner of this process, and begin an attempt, pinned to cores; one that is `checked`
        says which file it solves."""
        cell = self.cell(name)
        directory = cell.directory(self.path)
        if claimed:
            self.held[name] = contextlib.ExitStack()
            assert self.held[name].enter_context(claim(directory)) is not None
        else:
            directory.mkdir(parents=True, exist_ok=True)
        attempt = new_attempt(directory)
        carried = {"validation": load_contract(self.path).objective.validation, "tier": 1}
        # By what a checker knows that it judges what was solved.
        if checked:
            carried["instance_digest"] = file_digest(self.path / cell.instance.path)
        order = Order(
            arm=cell.arm.name, instance=cell.instance.name, seed=cell.seed, panel=cell.instance.panel,
            horizon=cell.horizon, attempt=int(attempt.name[-3:]), carried=carried, cpus=list(cpus),
            instance_path=cell.instance.path if checked else "",
        )  # fmt: skip
        (attempt / ORDER_FILE).write_bytes(order_text(order))
        self.attempts[name] = attempt
        self.writers[name] = JournalWriter(attempt / EVENTS_FILE)
        self.writers[name].append([b'"start":' + msgspec.json.encode(order)])
        return attempt

    def say(self, name: str, time: float, objective: object, **more: object) -> None:
        """Write an event of a run."""
        said = msgspec.json.encode({"objective": objective, **more}).decode()
        self.writers[name].append([f'"t":{time!r},"say":{said}'.encode()])

    def bound(self, name: str, time: float, bound: float) -> None:
        self.writers[name].append([f'"t":{time!r},"say":{{"bound":{bound!r}}}'.encode()])

    def end(self, name: str, *, cause: str = "exit", **facts: object) -> None:
        """Write how an attempt ended, and let go of its cell."""
        ending = Ending(
            **{"cause": cause, "started": "2026-08-01T12:00:00+00:00", "elapsed": 1.0, "exit_code": 0} | facts
        )
        self.writers[name].append([b'"end":' + msgspec.json.encode(ending)])
        self.writers.pop(name).close()
        self.let_go(name)

    def let_go(self, name: str) -> None:
        if name in self.held:
            self.held.pop(name).close()

    def run(self, name: str, steps: Sequence[tuple[float, float]]) -> None:
        """Make a whole run."""
        self.begin(name)
        for time, objective in steps:
            self.say(name, time, objective)
        self.end(name)

    def close(self) -> None:
        for name in list(self.held):
            self.let_go(name)
        for writer in self.writers.values():
            writer.close()


@contextlib.contextmanager
def live_study(
    folder: Path,
    *,
    arms: Sequence[str] = ("a", "b"),
    instances: dict[str, float] | None = None,
    seeds: Sequence[int] = (1,),
    horizon: float = 10.0,
    policy: str = "frozen",
    kernels: Sequence[str] = ("squeezed",),
    weight: str = "uniform",
    checker: str | None = None,
    certified: Sequence[str] = (),
) -> Iterator[LiveWriter]:
    """Write a study: its instances with their references, the panel of each after the first letter of its name."""
    values = instances or {"i1": 10.0, "j1": 20.0}
    (folder / "instances").mkdir(parents=True)
    (folder / "references").mkdir()
    text = CONTRACT.format(
        seeds=list(seeds), horizon=horizon, policy=policy, kernels=msgspec.json.encode(list(kernels)).decode(),
        weight=weight, validation="solver" if checker is None else "checker",
        checker="" if checker is None else f'checker = "{checker}"',
    )  # fmt: skip
    for name in values:
        (folder / "instances" / f"{name}.txt").write_text(f"{name}\n")
        text += f'\n[[instances]]\npath = "instances/{name}.txt"\npanel = "{name[0]}"\n'
    for arm in arms:
        text += f"\n[[arms]]\nname = {msgspec.json.encode(arm).decode()}\nsolver = 'command'\ncommand = ['true']\n"
    (folder / "study.toml").write_text(text, encoding="utf-8")
    snapshot = gl.Snapshot.from_values(values, name="known", as_of="2020-01-01", certified=list(certified))
    snapshot.save(folder / "references" / "known.json")
    writer = LiveWriter(folder)
    try:
        yield writer
    finally:
        writer.close()

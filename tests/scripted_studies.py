"""How tests start a supervisor, and a study of scripted solvers: fixtures that every folder of tests has."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from gapline.journal import fairness
from gapline.journal.line import EVENTS_FILE, JournalWriter
from gapline.journal.read import Journal, read_journal
from gapline.journal.records import Ending, Order
from gapline.process.tree import strays
from patience import PATIENCE

ZOO = Path(__file__).parent / "run" / "zoo"
# The interpreter without site-packages: it starts fast, and the zoo needs nothing else.
PYTHON = [sys.executable, "-S", "-E"]


@dataclass(frozen=True)
class Attempt:
    """An attempt that has ended: what its supervisor said, what its journal says, and how much memory it took."""

    directory: Path
    ending: Ending
    journal: Journal
    peak: int

    @property
    def objectives(self) -> list[float]:
        return [event.objective for event in self.journal.events if event.is_candidate and not event.reason]


def watch_memory(pid: int, peaks: list[int]) -> None:
    """Note the highest memory of a process until it ends; its ru_maxrss would begin with that of the test process."""
    status = Path(f"/proc/{pid}/status")
    while True:
        try:
            text, command = status.read_text(), Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return
        highest = [int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmHWM")]
        if not highest:
            return
        # Between fork and exec the child still shows the memory of the test process.
        if b"gapline.process.supervise" in command:
            peaks += highest
        threading.Event().wait(0.01)


@pytest.fixture
def supervise(tmp_path: Path) -> Callable[..., Attempt]:
    """Run one program of the zoo under a supervisor and check that nothing is left of it."""

    def run(name: str, *arguments: str, before: Callable[[], None] | None = None, **changes: object) -> Attempt:
        directory = tmp_path / "attempt-001"
        directory.mkdir()
        facts: dict[str, object] = {
            "arm": name,
            "instance": "i",
            "seed": 1,
            "panel": "all",
            "horizon": 60.0,
            "attempt": 1,
            "argv": [*PYTHON, str(ZOO / f"{name}.py"), *arguments],
            "directory": str(tmp_path),
            "grace": 0.0,
            "kill_after": 0.2,
        } | changes
        environment = {"GAPLINE_HORIZON": repr(facts["horizon"]), "GAPLINE_ATTEMPT": str(directory)}
        order = Order(environment=environment, **facts)
        (directory / "run.json").write_bytes(msgspec.json.encode(order))
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "gapline.process.supervise", str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=before,  # noqa: PLW1509  the tests have one thread
        )
        peaks: list[int] = []
        watcher = threading.Thread(target=watch_memory, args=(supervisor.pid, peaks))
        watcher.start()
        answer = supervisor.stdout.read()
        supervisor.wait()
        watcher.join()
        supervisor.stdin.close()
        supervisor.stdout.close()
        assert supervisor.returncode == 0
        ending = msgspec.json.decode(answer, type=Ending)
        assert ending.leftover == 0
        assert strays("GAPLINE_ATTEMPT", str(directory)) == []
        return Attempt(directory, ending, read_journal(directory), max(peaks))

    return run


CONTRACT = """
seeds = {seeds}

[study]
name = "scripted"

[objective]
validation = "{validation}"
{checker}

[time]
horizon = {horizon}
grace = 0.5

[[instances]]
path = "instances/one.txt"
panel = "small"
size = 3

[[instances]]
path = "instances/two.txt"
panel = "large"
{arms}
"""


@dataclass(frozen=True)
class ScriptedStudy:
    """A study directory and the ways to run it."""

    path: Path

    def start(self, *options: str) -> "subprocess.Popen[str]":
        code = "from gapline.cli import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", code, "run", str(self.path), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *options: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*options)
        out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def attempts(self) -> list[Path]:
        return sorted(self.path.glob("journal/*/attempt-*"))


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., ScriptedStudy]:
    """Write a study: two instances, and arms given as name -> program of the zoo with its arguments."""

    def make(
        arms: dict[str, list[str]],
        *,
        seeds: tuple[int, ...] = (1, 2),
        horizon: float = 60.0,
        checker: str | None = None,
    ) -> ScriptedStudy:
        study = tmp_path / "study"
        (study / "instances").mkdir(parents=True)
        (study / "instances" / "one.txt").write_text("1\n")
        (study / "instances" / "two.txt").write_text("2\n")
        written = ""
        for name, (program, *arguments) in arms.items():
            command = [*PYTHON, str(ZOO / f"{program}.py"), *arguments]
            written += f"\n[[arms]]\nname = {_quoted(name)}\nsolver = 'command'\n"
            written += f"command = [{', '.join(map(_quoted, command))}]\n"
        contract = CONTRACT.format(
            seeds=list(seeds),
            validation="solver" if checker is None else "checker",
            checker="" if checker is None else f"checker = {_quoted(checker)}",
            horizon=horizon,
            arms=written,
        )
        (study / "study.toml").write_text(contract, encoding="utf-8")
        return ScriptedStudy(study)

    return make


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait for something that must happen, however slow the machine is."""

    def wait(happened: Callable[[], bool], *, patience: float = PATIENCE) -> None:
        deadline = time.monotonic() + patience
        while not happened():
            assert time.monotonic() < deadline, "it never happened"
            time.sleep(0.005)

    return wait


@pytest.fixture
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine of the tests is, only a planted disturbance counts."""
    monkeypatch.setattr(fairness, "LATE", 1e9)
    monkeypatch.setattr(fairness, "NOISY_SECONDS", 100.0)


def plant(attempt, objective, **facts):
    """Write the journal of an attempt anew, with one candidate and an ending that differs."""
    journal = read_journal(attempt)
    end = msgspec.structs.replace(journal.ending, events=1, **facts)
    (attempt / EVENTS_FILE).unlink()
    writer = JournalWriter(attempt / EVENTS_FILE)
    say = b'"t":0.5,"say":{"objective": %f}' % objective
    writer.append([b'"start":' + msgspec.json.encode(journal.order), say, b'"end":' + msgspec.json.encode(end)])
    writer.close()

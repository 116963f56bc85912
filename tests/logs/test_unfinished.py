"""Whoever reads the chunks, in whichever order, and wherever an import was killed: the campaign is the same."""

import json
import os
import random
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapline.errors import UsageError
from gapline.executors.local_processes import ProcessesExecutor
from gapline.files.memory import limited_memory
from gapline.logs import log_files, survey
from gapline.logs.chunk import PER_CANDIDATE
from gapline.logs.importer import import_logs
from gapline.logs.unfinished_import import place_beside, unfinished
from traces.archives import KINDS
from traces.small_logs import dimacs

FILES = 40
ROWS = ("1080.0 1 10.0\n1060.0 1 20.0\n", "x 1 1.0\n1000.0 1 2.0\n", "", "1090.0 1 30.0\n1095.0 1 5.0\n")


class Shuffled(Executor):
    """Does what waits in an order of its own."""

    def __init__(self, seed):
        self.waiting, self.draw, self.threads = [], random.Random(seed), ThreadPoolExecutor(1)

    def submit(self, call, /, *arguments):
        future = Future()
        self.waiting.append((future, call, arguments))
        self.threads.submit(self.run_one)
        return future

    def run_one(self):
        future, call, arguments = self.waiting.pop(self.draw.randrange(len(self.waiting)))
        future.set_result(call(*arguments))

    def shutdown(self, *_more, **_others):
        self.threads.shutdown()


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    for number in range(FILES):
        place = folder / f"team{number % 3}" / f"I{number}.out"
        place.parent.mkdir(exist_ok=True)
        place.write_text(dimacs(f"I{number}", arm=f"team{number % 3}", rows=ROWS[number % len(ROWS)]))
    return folder


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(log_files, "MOST_FILES", 3)
    monkeypatch.setattr(survey, "WORTH_A_PROCESS", 0)


def written(folder, place, **more):
    import_logs([folder], **more).campaign.save(place)
    return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_order_any_workers_any_kill_point_give_the_same_bytes(logs, tmp_path_factory, data):
    """A kill leaves whole pieces and nothing else: any set of them may be there when the next import comes."""
    tmp_path = tmp_path_factory.mktemp("any")
    whole = written(logs, tmp_path / "whole")
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    executor, jobs = Shuffled(data.draw(st.integers(0, 99))), data.draw(st.integers(1, 4))
    assert written(logs, tmp_path / "first", unfinished=pieces, executor=executor, jobs=1) == whole
    there = sorted(pieces.iterdir())
    assert len(there) > 10
    gone = data.draw(st.sets(st.sampled_from(there)))
    for piece in gone:
        piece.unlink()
    calls = []
    more = {"executor": Shuffled(data.draw(st.integers(0, 99))), "jobs": jobs} if data.draw(st.booleans()) else {}
    again = import_logs([logs], unfinished=pieces, progress=lambda *step: calls.append(step), **more)
    again.campaign.save(tmp_path / "again")
    assert {path.name: path.read_bytes() for path in sorted((tmp_path / "again").iterdir())} == whole
    assert calls[-1] == (FILES, FILES)
    assert again.kept <= FILES
    assert (again.kept == FILES) == (not gone)


@pytest.mark.parametrize("candidates", [1, 2, 7])
def test_logs_larger_than_memory_give_the_same_bytes(logs, tmp_path, candidates):
    """Their columns wait in files before the piece that holds them is written, and after a kill in the piece."""
    whole = written(logs, tmp_path / "whole")
    (tmp_path / "pieces").mkdir()
    with limited_memory(candidates * PER_CANDIDATE):
        assert written(logs, tmp_path / "first", unfinished=tmp_path / "pieces") == whole
        assert written(logs, tmp_path / "again", unfinished=tmp_path / "pieces") == whole


@pytest.mark.slow
def test_real_processes_give_the_same_bytes(logs, tmp_path):
    (tmp_path / "pieces").mkdir()
    with ProcessesExecutor(2, memory=1 << 30) as pool:
        given = written(logs, tmp_path / "two", unfinished=tmp_path / "pieces", executor=pool, jobs=2)
    assert given == written(logs, tmp_path / "one")


def test_a_file_that_was_changed_or_other_options_are_read_again(logs, tmp_path):
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    assert import_logs([logs], unfinished=pieces).kept == 0
    assert import_logs([logs], unfinished=pieces).kept == FILES
    assert import_logs([logs], unfinished=pieces, horizon=50.0).kept == 0
    changed = logs / "team0" / "I0.out"
    before = changed.read_bytes()
    changed.write_text(dimacs("I0", arm="team0", rows="1001.0 1 99.0\n"))
    again = import_logs([logs], unfinished=pieces)
    assert FILES - 3 <= again.kept < FILES
    assert 1001.0 in again.campaign.objective
    changed.write_bytes(before)


def test_a_damaged_piece_is_read_again(logs, tmp_path):
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    whole = written(logs, tmp_path / "whole", unfinished=pieces)
    sorted(pieces.iterdir())[0].write_bytes(b"nothing")
    assert written(logs, tmp_path / "again", unfinished=pieces) == whole


def test_a_folder_is_held_by_one_import_and_gone_at_the_end(tmp_path):
    target = tmp_path / "campaign"
    with unfinished(target) as folder:
        assert folder == place_beside(target)
        with pytest.raises(UsageError, match="another that is under way"), unfinished(target):
            pass
    assert not folder.exists()


def leave(target, pieces):
    with unfinished(target) as folder:
        for number in range(pieces):
            (folder / f"{number}.piece").write_text("x")
        raise ZeroDivisionError


def test_what_an_error_leaves_is_kept_where_it_is_more_than_a_piece(tmp_path):
    for pieces in (1, 2):
        with pytest.raises(ZeroDivisionError):
            leave(tmp_path / "c", pieces)
        assert place_beside(tmp_path / "c").exists() == (pieces == 2)


COMMAND = [sys.executable, "-c", "import sys; from gapline.cli.app import run; sys.exit(run(sys.argv[1:]))", "import"]


@pytest.mark.slow
def test_a_killed_import_goes_on_where_it_stopped(tmp_path):
    """It waits for a pipe that nobody has written to yet, having read what came before; there it is killed."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(2100):
        (folder / f"I{number:04}.out").write_text(dimacs(f"I{number:04}"))
    pipe = tmp_path / "last.out"
    os.mkfifo(pipe)
    arguments = ["logs", "last.out", "-o", "campaign", "--json", "--jobs", "1"]
    process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.PIPE)
    # Opening it to write waits until somebody opens it to read.
    with pipe.open("wb"):
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "campaign").exists()
    pipe.unlink()
    pipe.write_text(dimacs("last"))
    done = subprocess.run([*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
    facts = json.loads(done.stdout)
    assert 0 < facts["kept"] <= 2100
    assert facts["diagnostics"]["runs"] == 2101
    assert not place_beside(tmp_path / "campaign").exists()
    anew = subprocess.run(
        [*COMMAND, "logs", "last.out", "-o", "anew", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(anew.stdout)["kept"] == 0
    for name in sorted(path.name for path in (tmp_path / "anew").iterdir() if path.name != "references.json"):
        assert (tmp_path / "anew" / name).read_bytes() == (tmp_path / "campaign" / name).read_bytes(), name
    assert Path(tmp_path / "anew" / "manifest.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_processes_that_read_an_archive_in_chunks_give_the_same_bytes(logs, tmp_path, monkeypatch, kind):
    """Each process goes through a packed tar at its own pace, and takes the members of its chunks."""
    files = [(str(path.relative_to(logs)), path.read_bytes()) for path in sorted(logs.rglob("*.out"))]
    (tmp_path / kind).write_bytes(KINDS[kind](files))
    monkeypatch.chdir(tmp_path)
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    with ProcessesExecutor(2, memory=1 << 30) as pool:
        two = written(kind, tmp_path / "two", unfinished=pieces, executor=pool, jobs=2)
    there = sorted(pieces.iterdir())
    assert len(there) > 10
    for piece in there[::2]:
        piece.unlink()
    again = import_logs([kind], unfinished=pieces)
    again.campaign.save(tmp_path / "again")
    assert 0 < again.kept < FILES
    assert {path.name: path.read_bytes() for path in sorted((tmp_path / "again").iterdir())} == two
    assert written(kind, tmp_path / "one") == two
    # An archive that was written anew is read anew.
    (tmp_path / kind).write_bytes(KINDS[kind](files[1:]))
    assert import_logs([kind], unfinished=pieces).kept == 0


def test_pieces_are_not_kept_open(logs, tmp_path):
    """A million logs are thousands of pieces, and a process may have a thousand files open."""
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    survey.survey_logs([logs], unfinished=pieces)
    assert len(list(pieces.iterdir())) > 10
    before = len(list(Path("/proc/self/fd").iterdir()))
    found = survey.survey_logs([logs], unfinished=pieces)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2
    assert found.kept == len(found.runs) == FILES

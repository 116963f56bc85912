"""A full disk, a folder that cannot be written: every command that writes says so, and leaves nothing half written."""

import contextlib
import os
import subprocess
import sys

import pytest

from bound_by_permissions import gapline, set_writable

pytestmark = pytest.mark.slow

TRACE = "arm,instance,seed,time,objective,valid,horizon\n" + "".join(
    f"{arm},{instance},{seed},{time},{120 - 10 * time + k},true,10\n"
    for k, arm in enumerate("ab") for instance in "ij" for seed in (1, 2) for time in (1, 2, 3)
)  # fmt: skip
# What each command is given after its name, with {out} where it is to write; what a study writes to is the study.
COMMANDS = {
    "import": ["{in}/t.csv", "-o", "{out}/campaign"],
    "export": ["{in}/t.csv", "-o", "{out}/t.parquet"],
    "export csv": ["{in}/t.csv", "-o", "{out}/t.csv"],
    "export zip": ["{in}/t.csv", "--references", "{in}/refs.csv", "-o", "{out}/t.zip"],
    "compare": ["{in}/t.csv:a", "{in}/t.csv:b", "--references", "{in}/refs.csv", "--junit", "{out}/c.xml"],
    "compare md": ["{in}/t.csv:a", "{in}/t.csv:b", "--references", "{in}/refs.csv", "--markdown", "{out}/c.md"],
    "merge": ["{in}/t.csv", "-o", "{out}/campaign"],
    "merge parts": ["{in}/one", "{in}/other", "-o", "{out}/campaign"],
    "snapshot freeze": ["csv:{in}/refs.csv", "--name", "n", "-o", "{out}/refs.json"],
    "snapshot fold": ["{in}/refs.json", "{in}/t.csv", "--name", "n", "-o", "{out}/fold.json"],
    "snapshot page": ["{in}/refs.json", "-o", "{out}/chain.html"],
    "report": ["{in}/t.csv", "--references", "{in}/refs.csv", "-o", "{out}/results"],
    "paper": ["-o", "{out}/paper"],
    "curve": ["{in}/t.csv", "--references", "{in}/refs.csv", "-o", "{out}/curve.svg"],
    "generate": ["cvrp", "-o", "{out}/instances"],
    "init": ["{out}/study", "--problem", "cvrp"],
    "demo": ["{out}/demo"],
    "run": ["{out}/study"],
    "check": ["{out}/study", "--again"],
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in")
    (folder / "t.csv").write_text(TRACE)
    (folder / "refs.csv").write_text("instance,value\ni,80\nj,80\n")
    done = gapline("snapshot", "freeze", "csv:refs.csv", "--name", "n", "-o", "refs.json", folder=folder)
    assert done.returncode == 0, done.stderr
    for arm, name in (("a", "one"), ("b", "other")):
        done = gapline("merge", "t.csv", "--arm", arm, "-o", name, folder=folder)
        assert done.returncode == 0, done.stderr
    return folder


def command(name, inputs, out):
    words = [word for word in name.split() if word not in ("csv", "zip", "md", "parts")]
    return [*words, *(part.format(**{"in": inputs, "out": out}) for part in COMMANDS[name])]


def needs_study(name):
    return name in ("run", "check")


def write_study(folder):
    """A study whose next command has something to write: a run without verdicts, and none with other seeds."""
    study = folder / "study"
    study.mkdir()
    (study / "i.txt").write_text("instance")
    (study / "solver.py").write_text('print(\'{"objective": 100, "solution": [1]}\')\n')
    (study / "checker.py").write_text("def check(instance, solution):\n    return 100.0\n")
    (study / "study.toml").write_text(
        'seeds = [1]\n[study]\nname = "s"\n[objective]\nname = "cost"\nchecker = "python:checker:check"\n'
        "[time]\nhorizon = 1.0\n"
        '[[instances]]\npath = "i.txt"\npanel = "p"\n'
        f'[[arms]]\nname = "a"\nsolver = "command"\ncommand = ["{sys.executable}", "{study}/solver.py"]\n'
    )
    return study


def listed(folder):
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def expect_refusal(done, out):
    assert done.returncode == 3, (done.returncode, done.stdout, done.stderr)
    assert str(out) in done.stderr + done.stdout
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", [name for name in COMMANDS if not needs_study(name)])
def test_a_folder_that_cannot_be_written_is_named(name, inputs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    set_writable(out, writable=False)
    done = gapline(*command(name, inputs, out), folder=inputs)
    set_writable(out, writable=True)
    expect_refusal(done, out)
    assert listed(out) == {}


@pytest.fixture
def full(tmp_path):
    """A file system in which `fill` leaves no room: mounted where we may, else a limit on the size of files."""
    place = tmp_path / "full"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, check=False, capture_output=True).returncode == 0

    def fill():
        """Return how large a file may then be: no limit where the disk sets one."""
        if not mounted:
            return 0
        with (place / "filler").open("wb", buffering=0) as stream, contextlib.suppress(OSError):
            while stream.write(bytes(512)):
                pass
        return None

    yield place, fill
    if mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def files(folder):
    return {name: content for name, content in listed(folder).items() if content is not False}


@pytest.mark.parametrize("name", [name for name in COMMANDS if not needs_study(name)])
def test_a_full_disk_is_named_with_its_bytes_and_nothing_is_left(name, inputs, full):
    out, fill = full
    largest = fill()
    before = files(out)
    done = gapline(*command(name, inputs, out), folder=inputs, largest=largest)
    expect_refusal(done, out)
    assert "bytes" in done.stderr
    # Folders may have been made; files are whole or not there.
    assert files(out) == before


@pytest.mark.parametrize("name", ["run", "check"])
def test_a_study_on_a_full_disk_says_so_and_goes_on_when_there_is_room(name, inputs, full):
    out, fill = full
    study = write_study(out)
    if name == "check":
        done = gapline("run", study, folder=inputs)
        assert done.returncode == 0, done.stderr
    call = command(name, inputs, out)
    largest = fill()
    done = gapline(*call, folder=inputs, largest=largest)
    expect_refusal(done, study)
    assert "bytes" in done.stderr + done.stdout
    assert not list(study.rglob("*.gapline"))
    (out / "filler").unlink(missing_ok=True)
    done = gapline(*call, folder=inputs)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["run", "check"])
def test_a_study_that_cannot_be_written_is_named_and_stays_as_it_is(name, inputs, tmp_path):
    study = write_study(tmp_path)
    if name == "check":
        done = gapline("run", study, folder=inputs)
        assert done.returncode == 0, done.stderr
    set_writable(study, writable=False)
    before = files(study)
    call = command(name, inputs, tmp_path)
    done = gapline(*call, folder=inputs)
    set_writable(study, writable=True)
    expect_refusal(done, study)
    assert files(study) == before

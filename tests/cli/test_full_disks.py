"""A full disk, a folder that cannot be written: every command that writes says so, and leaves nothing half written."""

import os
import subprocess
from contextlib import suppress

import pytest

from bound_by_permissions import gapline, set_writable

TRACE = "arm,instance,seed,time,objective,valid,horizon\n" + "".join(
    f"{arm},{instance},{seed},{time},{120 - 10 * time + k},true,10\n"
    for k, arm in enumerate("ab") for instance in "ij" for seed in (1, 2) for time in (1, 2, 3)
)  # fmt: skip
# What each command is given after its name, with {out} where it is to write; what a study writes to is the study.
COMMANDS = {
    "import": ["{in}/t.csv", "-o", "{out}/campaign"],
    "export": ["{in}/t.csv", "-o", "{out}/t.parquet"],
    "export csv": ["{in}/t.csv", "-o", "{out}/t.csv"],
    "merge": ["{in}/t.csv", "-o", "{out}/campaign"],
    "snapshot freeze": ["csv:{in}/refs.csv", "--name", "n", "-o", "{out}/refs.json"],
    "snapshot fold": ["{in}/refs.json", "{in}/t.csv", "--name", "n", "-o", "{out}/fold.json"],
    "report": ["{in}/t.csv", "--references", "{in}/refs.csv", "-o", "{out}/results"],
    "paper": ["-o", "{out}/paper"],
    "curve": ["{in}/t.csv", "--references", "{in}/refs.csv", "-o", "{out}/curve.svg"],
    "generate": ["cvrp", "-o", "{out}/instances"],
    "init": ["{out}/study", "--problem", "cvrp"],
    "demo": ["--worked-example", "{out}/demo"],
    "run": ["{out}/study"],
    "check": ["{out}/study"],
    "doctor": ["{out}/study", "--calibrate"],
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in")
    (folder / "t.csv").write_text(TRACE)
    (folder / "refs.csv").write_text("instance,value\ni,80\nj,80\n")
    done = gapline("snapshot", "freeze", "csv:refs.csv", "--name", "n", "-o", "refs.json", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def command(name, inputs, out):
    return [*name.replace(" csv", "").split(), *(part.format(**{"in": inputs, "out": out}) for part in COMMANDS[name])]


def needs_study(name):
    return name in ("run", "check", "doctor")


def write_study(folder):
    """A study with one whole run, whose next command has something to write."""
    done = gapline("init", folder / "study", "--problem", "cvrp", folder=folder)
    assert done.returncode == 0, done.stderr
    solver = folder / "study" / "solver.py"
    solver.write_text('print(\'{"objective": 100, "solution": [[1]]}\')\n')
    (folder / "study" / "study.toml").write_text(
        '[study]\nname = "s"\n[objective]\nname = "cost"\nchecker = "cvrp"\n[time]\nhorizon = 1.0\n'
        + "".join(
            f'[[instances]]\npath = "{path.relative_to(folder / "study")}"\npanel = "p"\n'
            for path in sorted((folder / "study" / "instances").glob("*.vrp"))[:1]
        )
        + '[[arms]]\nname = "a"\ncommand = ["python3", "{study}/solver.py"]\n'
    )


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
    """A file system of 64 kB, of which nothing is free: mounted where we may, else a limit on the size of files."""
    place = tmp_path / "full"
    place.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=200", "tmpfs", str(place)],
            check=False,
            capture_output=True,
        ).returncode
    )
    if mounted:
        with (place / "filler").open("wb", buffering=0) as stream, suppress(OSError):
            while True:
                stream.write(bytes(4096))
    yield place, mounted
    if mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("name", [name for name in COMMANDS if not needs_study(name)])
def test_a_full_disk_is_named_with_its_bytes_and_nothing_is_left(name, inputs, full):
    out, mounted = full
    before = set(listed(out))
    done = gapline(*command(name, inputs, out), folder=inputs, largest=None if mounted else 0)
    expect_refusal(done, out)
    assert "bytes" in done.stderr
    # Folders may have been made; files are whole or not there.
    after = {name for name, content in listed(out).items() if content is not False} - before
    assert after == set()

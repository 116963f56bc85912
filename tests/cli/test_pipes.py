"""A pipe in the place of any file of a study: every command goes on or says what it is, and none waits for a writer."""

import os
import shutil
import signal

import pytest

from gapline.cli.app import run
from package.planted_machine import make_study

pytestmark = pytest.mark.slow

COMMANDS = (
    ["status"], ["score"], ["check"], ["run"], ["watch", "--once"], ["export", "-o", "x.csv"], ["doctor"], ["plan"],
    ["pack", "-o", "p.zip"], ["verify"],
)  # fmt: skip
ATTEMPT = "journal/own_one_*/attempt-001/"
FILES = [
    "study.toml", "references/known.json", "references/other.json", "instances/one.txt", "rules.py", "solve.py",
    "replication.json", "journal/options.json", "journal/register.jsonl", "journal/index.jsonl",
    "journal/campaign.json", "journal/campaign.lock", "journal/runner-1.json", "journal/own_one_*/claim",
    f"{ATTEMPT}run.json", f"{ATTEMPT}events.jsonl", f"{ATTEMPT}stderr.log", f"{ATTEMPT}verdicts-*.jsonl",
    "campaign/manifest.json", "campaign/runs.parquet", "campaign/time.npy", "results/results.json", "package.json",
]  # fmt: skip
# Far more than any of these commands takes; reached only where one waits forever.
PATIENCE = 300


class WaitedError(BaseException):
    """Raised in a command that waits."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A study of which a run is left, and one was cut short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPLINE_LEASES", str(tmp_path_factory.mktemp("leases")))
        study = make_study(tmp_path_factory.mktemp("begun"))
    (left,) = study.glob("journal/own_two_1_*/attempt-001")
    shutil.rmtree(left)
    (cut,) = study.glob("journal/own_two_2_*/attempt-001")
    lines = (cut / "events.jsonl").read_bytes().splitlines(keepends=True)
    (cut / "events.jsonl").write_bytes(b"".join(lines[:-1]))
    return study


@pytest.fixture(autouse=True)
def impatient():
    def give_up(*_):
        raise WaitedError

    before = signal.signal(signal.SIGALRM, give_up)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", FILES)
def test_no_command_waits_for_the_writer_of_a_pipe(begun, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words in COMMANDS:
        study = shutil.copytree(begun, tmp_path / words[0])
        # Where nothing fits, a file of this name.
        path = min(study.glob(name), default=study / name)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        signal.alarm(PATIENCE)
        code = run([words[0], str(study), *words[1:]])
        signal.alarm(0)
        assert code in (0, 1, 2, 3)
        assert "internal error" not in capsys.readouterr().err, words

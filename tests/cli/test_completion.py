"""What a shell completes: names of the files at hand, fast, and silently where these are broken."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gapline as gl
from cli.two_arms import write_study, write_traces
from gapline.cli import completion
from gapline.logs.formats import BUILT_IN
from gapline.report.analysis_tables import TABLES

CODE = "from gapline.cli import main; main()"
LADDER = """
[study]
name = "ladder"
[objective]
validation = "solver"
[time]
horizon = 5
[[instances]]
path = "instances/*.txt"
panel = "p"
[[arms]]
name = "a-{slices}"
solver = "command"
command = ["true"]
ladder = {slices = [5, 24]}
"""


def complete(line, folder, *, code=CODE):
    """Return what bash is told for a line whose last word is the one to complete."""
    words = line.split(" ")
    environment = os.environ | {
        "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_GAPLINE_COMPLETE": "bash_complete",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line.startswith("plain,")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("completed")
    write_study(place / "study")
    write_traces(place / "traces.csv")
    gl.read(str(place / "traces.csv")).save(place / "campaign")
    (place / "broken").mkdir()
    (place / "broken" / "study.toml").write_text("[[arms]\nname = ")
    (place / "empty").mkdir()
    (place / "odd.csv").write_bytes(b'arm,instance\n"a b",i\n\xff\xfe,$(rm)\n;ls,x\nfine,x\n')
    gl.Snapshot.from_values({"i1": 1.0, "i2": 2.0}, name="s").save(place / "refs.json")
    return place


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("gapline sco", ["score"]),
        ("gapline score study --arm ", ["mine", "theirs", "coarse"]),
        ("gapline score study --arm m", ["mine"]),
        ("gapline score study --instance ", ["small-0"]),
        ("gapline score traces.csv --panel ", ["small", "large"]),
        ("gapline score campaign --instance small", [f"small-{k}" for k in range(4)]),
        ("gapline score traces.csv --contrast mine t", ["theirs"]),
        ("gapline compare traces.csv:mine traces.csv:t", ["traces.csv:theirs"]),
        ("gapline score study --kernel max", ["maxform"]),
        ("gapline score study --kernel dimacs", ["dimacs:1.1", "dimacs:2"]),
        ("gapline score study --weight e", ["early-log:", "end-log:"]),
        ("gapline analyse study --table ra", ["ratios", "ranking", "ranks", "ratings"]),
        ("gapline import x --format co", ["coco"]),
        ("gapline score x --interval t", ["t"]),
        ("gapline score x --set aggregate.bootstrap.d", ["aggregate.bootstrap.draws="]),
        ("gapline score study --set aggregate --arm m", ["mine"]),
        ("gapline score study --help-", ["--help-all"]),
        ("gapline snapshot show refs.json --instance ", ["i1", "i2"]),
        ("gapline score nowhere --arm ", []),
        ("gapline score broken --arm ", []),
        ("gapline score empty --arm ", []),
        ("gapline score broken traces.csv --arm t", ["theirs"]),
        ("gapline score odd.csv --arm ", ["fine"]),
    ],
)
def test_a_shell_is_offered(folder, line, offered):
    assert complete(line, folder) == offered


def test_snapshots_of_the_study_come_before_other_files(folder):
    (folder / "study" / "references").mkdir(exist_ok=True)
    shutil.copy(folder / "refs.json", folder / "study" / "references" / "2026.json")
    assert complete("gapline score study --snapshot ", folder) == ["study/references/2026.json"]


@pytest.mark.slow
def test_ladders_and_patterns_are_offered_as_what_they_stand_for(tmp_path):
    (tmp_path / "study" / "instances").mkdir(parents=True)
    for name in ("x-1", "x-2"):
        (tmp_path / "study" / "instances" / f"{name}.txt").write_text("1")
    (tmp_path / "study" / "study.toml").write_text("seeds = [1]\n" + LADDER)
    assert complete("gapline score study --instance ", tmp_path) == ["x-1", "x-2"]
    assert complete("gapline score study --arm ", tmp_path) == ["a-5", "a-24"]


def test_completing_imports_nothing_heavy(folder):
    code = (
        "import atexit, sys\n"
        "heavy = ('numpy', 'numba', 'altair', 'rich.console', 'gapline.scoring')\n"
        "atexit.register(lambda: print('plain,' + ' '.join(n for n in heavy if n in sys.modules)))\n" + CODE
    )
    assert complete("gapline score study --arm m", folder, code=code) == ["mine", ""]
    assert complete("gapline score campaign --arm m", folder, code=code) == ["mine", ""]


def test_words_that_are_kept_here_are_those_of_their_modules():
    assert completion.TABLES == TABLES
    assert ("auto", *BUILT_IN) == completion.FORMATS


@pytest.mark.parametrize(("shell", "held"), [("bash", "complete -o nosort"), ("zsh", "compdef"), ("fish", "complete")])
def test_every_shell_gets_its_script(shell, held):
    environment = os.environ | {"_GAPLINE_COMPLETE": f"{shell}_source"}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert held in done.stdout
    assert "_GAPLINE_COMPLETE" in done.stdout


def test_a_real_bash_completes(folder, tmp_path):
    """Its own machinery: the script is loaded, the function is called, and what it would show is printed."""
    program = tmp_path / "gapline"
    program.write_text(f"#!{sys.executable}\n{CODE}\n")
    program.chmod(0o755)
    script = (
        'eval "$(_GAPLINE_COMPLETE=bash_source gapline)"\n'
        "COMP_WORDS=(gapline score study --arm th); COMP_CWORD=4\n"
        "_gapline_completion gapline th --arm\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["theirs"]
    assert Path(folder, "study").is_dir()

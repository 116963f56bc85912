"""What every command does alike: help, exit codes, and whatever a call gets wrong is one sentence."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import gapline as gl
from gapline.cli.app import COMMANDS, run


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["score", "nothing.csv", "--references", "refs.csv"], 1, "nothing.csv: expected a trace file"),
        (["score", "traces.csv", "--horizon", "30"], 2, "expected a reference"),
        (["score", "traces.csv", "--references", "refs.csv"], 1, "expected a horizon for every run"),
        (["score", "traces.csv", "--references", "no.csv", "--horizon", "30"], 1, "no.csv"),
        (
            ["score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--kernel", "squeezd"],
            2,
            "'squeezed'",
        ),
        (["score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--weight", "early-log"], 2, "cutoff"),
        (["score", "traces.csv", "--references", "refs.csv", "--horizon", "0"], 2, "positive finite seconds"),
        (["score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--arm", "rnu 1"], 2, "'run 1'"),
        (["curve", "traces.csv", "--references", "refs.csv", "--horizon", "30", "-o", "x.bmp"], 2, ".svg"),
        (["scor"], 2, "Did you mean 'score'"),
        (["score", "traces.csv", "--kernl", "raw"], 2, "--kernel"),
        (["merge", "traces.csv", "traces.csv", "-o", "both"], 1, "3 in more than one source"),
    ],
)
def test_mistakes_get_one_message_and_an_exit_code(worked, capsys, arguments, code, words):
    assert worked
    assert run(arguments) == code
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err + captured.out


def test_debug_shows_the_traceback(worked):
    assert worked
    with pytest.raises(gl.GaplineError):
        run(["score", "nothing.csv", "--debug"])


def test_hostile_names_are_shown_not_obeyed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "\x1b[31m[bold]=cmd()\u202e"
    campaign = gl.Campaign.from_runs([{"arm": name, "instance": "i", "seed": 1, "horizon": 9.0, "trace": [(1, 2.0)]}])
    campaign.save("campaign")
    Path("refs.csv").write_text("instance,value\ni,1\n")
    assert run(["score", "campaign", "--references", "refs.csv"]) == 0
    out = capsys.readouterr().out
    assert "\x1b[31m" not in out
    assert "\\u001b[31m[bold]=cmd()\\u202e" in out
    assert run(["export", "campaign", "-o", "out.csv"]) == 0
    assert gl.read("out.csv").runs["arm"].to_list() == [name]


def test_every_command_has_help_with_an_example(capsys):
    for name in COMMANDS:
        assert run([name, "--help"]) == 0
        assert "Example: gapline " in " ".join(capsys.readouterr().out.split()), name


def test_doctor_and_version():
    gapline = Path(sys.executable).with_name("gapline")
    version = subprocess.run([gapline, "--version"], capture_output=True, text=True, check=True).stdout
    assert version == f"gapline {gl.__version__}\n"
    facts = json.loads(subprocess.run([gapline, "doctor", "--json"], capture_output=True, check=True).stdout)
    assert facts["gapline"] == gl.__version__
    assert facts["numba"] != "missing"

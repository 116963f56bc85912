"""The command `serve`: its address is the only line, and what it lacks is named."""

import subprocess
import sys

import pytest

import gapline as gl
from gapline.cli.app import run
from live_server import serving
from live_studies import live_study


@pytest.mark.slow
def test_the_address_is_the_only_line_and_the_port_is_the_one_asked_for(tmp_path):
    with live_study(tmp_path / "study") as study, serving(study.path) as served:
        assert served.address == f"http://127.0.0.1:{served.port}/"


def test_without_its_extra_it_names_the_command(tmp_path):
    with live_study(tmp_path / "study") as study:
        code = (
            "import sys; sys.modules['uvicorn'] = None; from gapline.cli.app import run; "
            f"sys.exit(run(['serve', {str(study.path)!r}, '--no-open']))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "pip install 'gapline[serve]'" in done.stderr


@pytest.mark.slow
def test_a_folder_without_a_study_is_served_and_what_is_not_there_is_refused(tmp_path, capsys):
    with serving(tmp_path) as served:
        assert served.state("/api/studies") == []
    assert run(["serve", str(tmp_path / "none"), "--no-open"]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["serve", "watch"])
@pytest.mark.parametrize("kind", ["table", "recording"])
def test_a_file_is_refused_with_the_command_that_scores_it(tmp_path, capsys, command, kind):
    path = tmp_path / "my traces.jsonl"
    if kind == "recording":
        with gl.record(path, arm="a", instance="i", horizon=60) as trace:
            trace.add(9.0)
    else:
        path.write_text('{"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 3.0, "horizon": 10}\n')
    assert run([command, str(path)]) == 2
    out, said = capsys.readouterr()
    assert (out, f"{command} follows study directories, and this is a file" in " ".join(said.split())) == ("", True)
    assert f"`gapline score '{path}'` scores what is in it now" in " ".join(said.split())
    contract = tmp_path / "study.toml"
    contract.touch()
    assert run([command, str(contract)]) == 2
    assert f"`gapline {command} {tmp_path}` follows its study" in " ".join(capsys.readouterr().err.split())


def test_the_help_has_an_example(capsys):
    assert run(["serve", "--help"]) == 0
    assert "gapline serve my-study --port 0 --no-open" in capsys.readouterr().out


def test_import_gapline_and_the_help_load_no_server():
    code = (
        "import sys; from gapline.cli.app import run; run(['--help']); "
        "print([m for m in ('starlette', 'uvicorn') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"

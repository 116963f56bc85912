"""The command `watch`; tests/live/test_watch.py has what it shows."""

from gapline.cli.app import run
from live_studies import live_study


def test_once_prints_the_state_of_this_moment(tmp_path, capsys):
    with live_study(tmp_path / "study") as study:
        study.run("a/i1/1", [(1.0, 30.0)])
        assert run(["watch", str(study.path), "--once"]) == 0
    assert "1 done, 3 left of 4" in capsys.readouterr().out


def test_what_is_no_study_is_refused(tmp_path, capsys):
    assert run(["watch", str(tmp_path), "--once"]) == 2
    assert "expected a contract" in capsys.readouterr().err

"""What is followed under a path may not be there yet, become another one, go and come back."""

import shutil

from gapline.live.hub import Watched
from live_studies import live_study


def test_a_folder_waits_for_its_study_and_says_so(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    watched = Watched("study", folder)
    state = watched.look()
    assert (state["phase"], watched.live) == ("absent", None)
    assert state["runner"]["words"] == f"{folder} has no study.toml; it is shown as soon as one is there"
    with live_study(folder) as study:
        assert watched.look()["phase"] == "not begun"
        study.run("a/i1/1", [(1.0, 30.0)])
        assert watched.look()["progress"]["done"] == 1
        before = watched.live
        (folder / "study.toml").rename(folder / "kept.toml")
        assert watched.look()["phase"] == "absent"
        (folder / "kept.toml").rename(folder / "study.toml")
        assert watched.look()["progress"]["done"] == 1
        assert watched.live is not before
    shutil.rmtree(folder)
    assert watched.look()["runner"]["words"].startswith(f"{folder} is not there")
    watched.close()


def test_another_contract_of_the_same_time_is_read_anew(tmp_path):
    """A file that was put in place of another may carry its time."""
    import os

    with live_study(tmp_path / "study") as study:
        watched = Watched("study", study.path)
        assert watched.look()["progress"]["planned"] == 4
        contract = study.path / "study.toml"
        facts, text = contract.stat(), contract.read_text()
        other = study.path / "other.toml"
        other.write_text(text.replace("seeds = [1]", "seeds = [1, 2]"))
        os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        other.replace(contract)
        assert watched.look()["progress"]["planned"] == 8
        watched.close()


def test_what_cannot_be_read_says_why_and_recovers(tmp_path):
    with live_study(tmp_path / "study") as study:
        watched = Watched("study", study.path)
        contract = study.path / "study.toml"
        text = contract.read_text()
        contract.write_text("no toml")
        state = watched.look()
        assert state["phase"] == "unreadable"
        assert "expected TOML" in state["refused"]["message"]
        contract.write_text(text)
        assert watched.look()["phase"] == "not begun"
        watched.close()


def test_the_cores_of_runs_are_those_of_the_last_look(tmp_path):
    """Whoever asks between two looks must not reach into one that is under way in another thread."""
    with live_study(tmp_path / "study") as study:
        watched = Watched("study", study.path)
        study.begin("a/i1/1")
        watched.look()
        assert watched.pinned == frozenset()
        study.begin("b/i1/1", cpus=[1, 3])
        assert watched.pinned == frozenset()
        watched.look()
        assert watched.pinned == {1, 3}
        (study.path / "study.toml").unlink()
        watched.look()
        assert watched.pinned == frozenset()

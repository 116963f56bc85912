"""Private folders: gone with their process, however it ends, and never those of a process that lives."""

import os
import signal
import stat
import subprocess
import sys
import tempfile

import pytest

from gapline.files import scratch_folder as folders
from gapline.files.scratch_folder import PREFIX, clear_leftovers, keep_folder, release_folder, scratch_folder


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_gone_at_the_end(place):
    with scratch_folder() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "a").mkdir()
        assert clear_leftovers() == []
    assert list(place.iterdir()) == []
    with pytest.raises(KeyboardInterrupt), scratch_folder() as folder:
        raise KeyboardInterrupt
    assert list(place.iterdir()) == []


def test_what_is_held_can_be_released(place):
    one, two = keep_folder(), keep_folder()
    release_folder(one)
    assert list(place.iterdir()) == [two]
    release_folder(two)
    release_folder(two)
    assert list(place.iterdir()) == []


CODE = """
import sys
from gapline.files.scratch_folder import keep_folder
(keep_folder() / "file").write_text("x")
print("made", flush=True)
{then}
"""


def child(then):
    return subprocess.Popen(
        [sys.executable, "-c", CODE.format(then=then)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("then", ["", "sys.exit(3)", "raise KeyboardInterrupt", "1 / 0"])
def test_it_is_gone_when_its_process_is(place, then):
    process = child(f"sys.stderr.close()\n{then}")
    process.communicate()
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_and_what_a_living_one_has_is_not(place):
    killed, living = child("sys.stdin.read()"), child("sys.stdin.read()")
    for process in (killed, living):
        assert process.stdout.readline() == "made\n"
    assert clear_leftovers() == []
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert len(list(place.iterdir())) == 2
    (gone,) = clear_leftovers()
    (left,) = place.iterdir()
    assert left != gone
    living.communicate("")
    assert list(place.iterdir()) == []


def test_a_fork_does_not_remove_the_folder_of_its_parent(place):
    code = "import os\npid = os.fork()\nif pid == 0:\n    sys.exit(0)\nos.waitpid(pid, 0)\n"
    code += f"print(len(os.listdir({str(place)!r})), flush=True)"
    out, _ = child(code).communicate()
    assert out.split() == ["made", "made", "1"] or out.split() == ["made", "1"]
    assert list(place.iterdir()) == []


def test_only_folders_of_ours_are_cleared(place):
    (place / "other").mkdir()
    (place / f"{PREFIX}file").write_text("x")
    target = place / "target"
    target.mkdir()
    (target / "kept").write_text("x")
    (place / f"{PREFIX}link").symlink_to(target)
    assert clear_leftovers() == []
    assert (target / "kept").exists()
    (place / f"{PREFIX}left").mkdir()
    assert clear_leftovers() == [place / f"{PREFIX}left"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_cleared(place):
    theirs = place / f"{PREFIX}theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    assert clear_leftovers() == []


def test_a_folder_that_was_cleared_before_it_was_locked_is_made_anew(monkeypatch):
    make, made = tempfile.mkdtemp, []

    def raced(**names):
        made.append(make(**names))
        if len(made) == 1:
            clear_leftovers()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", raced)
    with scratch_folder() as folder:
        assert str(folder) == made[1]
        assert folder.is_dir()
    assert folders._held == []


def test_no_room_names_the_variable(place, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(place / "gone"))
    with pytest.raises(OSError, match="TMPDIR names another place"), scratch_folder():
        pass

"""The README of a package says what it is and how to check it, of this package and no other."""

import subprocess

from gapline.package.documents import readme_text

DOCUMENT = {
    "name": "s", "title": "", "gapline": "0.1.0", "alarms": 0, "hosts_kept": False, "taken_out": [],
    "instances": {"i": {"included": True, "where": None}},
}  # fmt: skip


def text(members=("study.toml",), **changes):
    return readme_text(DOCUMENT | changes, members, coverage="3 of 4 planned runs, 1 missing")


def test_it_names_what_is_there_and_nothing_else():
    assert "`campaign/`" in text(["campaign/time.npy"])
    assert "`campaign/`" not in text()
    assert "3 of 4 planned runs, 1 missing" in text()


def test_it_says_what_is_absent_taken_out_and_alarming():
    instances = {"i": {"included": False, "where": "doi:10.1/x"}, "j": {"included": True, "where": None}}
    assert "Not in it: 1 of 2 instances." in text(instances=instances)
    assert "  - doi:10.1/x" in text(instances=instances)
    assert "were taken out" in text(taken_out=[{}])
    assert "are in it, as it was asked for" in text(hosts_kept=True)
    assert "**2 integrity alarms** rang" in text(alarms=2)


def test_its_commands_check_the_package(made, tmp_path):
    """The two blocks that need no gapline, as they stand."""
    subprocess.run(["unzip", "-q", made.packed.path, "-d", tmp_path / "u"], check=True)
    readme = (tmp_path / "u" / "README.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in readme.splitlines() if line.startswith("    ") and "gapline" not in line]
    assert len(commands) == 2
    done = [
        subprocess.run(["bash", "-ec", line], cwd=tmp_path / "u", capture_output=True, text=True, check=True).stdout
        for line in commands
    ]
    assert done[0].count(": OK") == len(made.packed.members) - 1
    assert done[1].strip() == made.packed.identity.swhid.removeprefix("swh:1:dir:")

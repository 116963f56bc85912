"""A package opened to be run again: verified, with its programs, and nothing of another name."""

import subprocess
import zipfile

import pytest

from gapline.campaign.store import file_digest
from gapline.contract.layout import SUMS
from gapline.errors import IntegrityError, TraceError
from gapline.package.replication_plan import opened_package
from packages import sums_of, write_package

MEMBERS = {
    "study.toml": b"seeds = [1]\n",
    "package.json": b'{"schema": "gapline.package/1", "instances": {}}',
    "bin/solve": b"#!/bin/sh\n",
    "results/report.html": b"<p>",
}


def packed(folder, *, executable=("bin/solve",), **changes):
    members = {name: data for name, data in (MEMBERS | changes).items() if data is not None}
    return write_package(folder / "a.zip", members | {SUMS: sums_of(members)}, executable=set(executable))


def test_members_are_verified_and_programs_can_be_run(tmp_path):
    file = packed(tmp_path)
    with opened_package(file, only=lambda name: not name.startswith("results/")) as found:
        assert (found.folder / "bin" / "solve").stat().st_mode & 0o100
        assert not (found.folder / "study.toml").stat().st_mode & 0o100
        assert not (found.folder / "results" / "report.html").exists()
        assert (found.identity.name, found.identity.sha256) == ("a.zip", file_digest(file))
        folder = found.folder
    assert not folder.exists()


def test_the_identifier_is_the_tree_of_git(tmp_path):
    file = packed(tmp_path)
    with opened_package(file) as found:
        git = ["git", "-C", str(found.folder), "-c", "core.fileMode=true"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "-A", "-f"], check=True)
        tree = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
        assert found.identity.swhid == f"swh:1:dir:{tree}"


def again(file, change):
    """Write the members of a package anew, changed, with the old sums."""
    with zipfile.ZipFile(file) as archive:
        members = {one.filename: archive.read(one) for one in archive.infolist()}
    change(members)
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.update({"study.toml": b"seeds = [2]\n"}), "'study.toml': expected sha256:"),
        (lambda m: m.update({"more.txt": b""}), "'more.txt': expected no member that sha256sums.txt does not list"),
        (lambda m: m.pop("bin/solve"), "'bin/solve': expected it in the package, as sha256sums.txt lists it"),
    ],
    ids=["changed", "added", "removed"],
)
def test_what_does_not_fit_the_sums_is_refused(tmp_path, change, said):
    file = packed(tmp_path)
    again(file, change)
    with pytest.raises(IntegrityError, match=said), opened_package(file):
        pass


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"package.json": None}, "expected a replication package with package.json"),
        ({"package.json": b"[]"}, "package.json: expected schema gapline.package/1"),
        ({"package.json": b'{"schema": "gapline.package/9"}'}, "expected schema gapline.package/1"),
        ({"study.toml": None}, "expected a replication package with study.toml"),
    ],
)
def test_what_is_no_package_is_refused(tmp_path, changes, said):
    with pytest.raises(TraceError, match=said), opened_package(packed(tmp_path, **changes)):
        pass


def test_another_file_is_no_package(tmp_path):
    (tmp_path / "a.csv").write_text("arm\n")
    with pytest.raises(TraceError, match="expected a replication package"), opened_package(tmp_path / "a.csv"):
        pass


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/outside.txt", "instances/../../outside.txt"])
def test_an_instance_outside_of_the_study_is_refused(tmp_path, path):
    document = b'{"schema": "gapline.package/1", "instances": {"i": {"path": "%b", "digest": "", "included": false}}}'
    file = packed(tmp_path, **{"package.json": document % path.encode()})
    with pytest.raises(IntegrityError, match="expected instances inside of the study"), opened_package(file):
        pass
    assert not (tmp_path / "outside.txt").exists()

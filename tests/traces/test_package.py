"""A package is told by what is in it, and what it holds is what its sums say, or it is refused and the member named."""

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapline.errors import GaplineError, IntegrityError, TraceError
from gapline.traces.package_source import is_package, unpack_more, unpacked_package
from hostile_packages import base, zip_list
from packages import make_package, sums_of, write_package
from profiles import examples

KINDS = ("p.zip", "p.tar.zst")
FILES = base(**{"programs/run.sh": b"#!/bin/sh\n", "journal/c/1/run.json": b"{}", "results/x.md": b"1 2 3\n" * 300})


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.chdir(tmp_path)
    yield place
    assert list(place.iterdir()) == []


def content(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_is_unpacked_as_it_is_and_gone_at_the_end(kind):
    path = write_package(Path(kind), FILES, executable={"programs/run.sh"})
    with unpacked_package(path) as package:
        assert content(package.folder) == FILES
        assert (package.folder / "programs/run.sh").stat().st_mode & 0o100
        assert not (package.folder / "study.toml").stat().st_mode & 0o111
        assert package.identity.name == kind
        assert package.identity.sha256 == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        assert package.digests.keys() == FILES.keys() - {"sha256sums.txt"}
        checked = subprocess.run(["sha256sum", "-c", "--quiet", "sha256sums.txt"], cwd=package.folder, check=False)
        assert checked.returncode == 0
    assert not package.folder.exists()


def test_the_identifier_is_that_of_git_and_does_not_depend_on_the_packing():
    swhids = set()
    for kind in KINDS:
        with unpacked_package(write_package(Path(kind), FILES, executable={"programs/run.sh"})) as package:
            swhids.add(package.identity.swhid)
            git = ["git", "-c", "core.autocrlf=false", "-c", "core.filemode=true"]
            subprocess.run([*git, "init", "-q"], cwd=package.folder, check=True)
            subprocess.run([*git, "add", "-f", "."], cwd=package.folder, check=True)
            tree = subprocess.run([*git, "write-tree"], cwd=package.folder, check=True, capture_output=True, text=True)
            assert package.identity.swhid == f"swh:1:dir:{tree.stdout.strip()}"
    assert len(swhids) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_wanted_is_written_and_all_is_verified(kind):
    path = write_package(Path(kind), FILES)
    with unpacked_package(path, only=lambda name: name == "study.toml") as package:
        assert content(package.folder).keys() == {"study.toml", "sha256sums.txt", "package.json"}
        # That there are journals is seen without them.
        assert (package.folder / "journal").is_dir()
        unpack_more(package, lambda name: name.startswith("journal/"))
        unpack_more(package, lambda name: name.startswith("journal/"))
        assert (package.folder / "journal/c/1/run.json").read_bytes() == b"{}"
        assert not (package.folder / "results/x.md").exists()
    path = write_package(Path(kind), FILES | {"results/x.md": b"1 2 4\n" * 300})
    with pytest.raises(IntegrityError, match=r"'results/x\.md': expected sha256:"):
        unpacked_package(path, only=lambda name: name == "study.toml").__enter__()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_taken_later_is_verified_too(kind):
    path = write_package(Path(kind), FILES)
    with unpacked_package(path, only=lambda _: False) as package:
        write_package(path, FILES | {"journal/c/1/run.json": b"[]"})
        with pytest.raises(GaplineError, match=r"journal/c/1/run\.json"):
            unpack_more(package, lambda name: name.startswith("journal/"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"added.txt": b"x"}, "'added.txt': expected no member that sha256sums.txt does not list, got this one"),
        ({"study.toml": b"changed"}, "'study.toml': expected sha256:"),
        ({"package.json": b"{}"}, "'package.json': expected sha256:"),
        ({"sha256sums.txt": b"hello"}, "sha256sums.txt:1: expected a digest and a name"),
        ({"sha256sums.txt": b"\xff\xfe"}, "sha256sums.txt: expected text in UTF-8"),
        ({"sha256sums.txt": sums_of(FILES | {"gone": b""})}, "'gone': expected it in the package"),
        (
            {"sha256sums.txt": sums_of(FILES) + b"0" * 64 + b"  ../../etc/passwd\n"},
            "'../../etc/passwd': expected it in",
        ),
    ],
)
def test_a_member_that_is_not_what_the_sums_say_is_named(kind, files, said):
    path = write_package(Path(kind), FILES | files)
    with pytest.raises(IntegrityError) as error:
        unpacked_package(path).__enter__()
    assert said in error.value.message
    assert error.value.message.startswith(f"{kind}: ")


def test_the_first_of_several_is_named_and_the_others_counted():
    path = write_package(Path("p.zip"), FILES | {"study.toml": b"x", "campaign/manifest.json": b"x", "z": b"x"})
    with pytest.raises(IntegrityError, match=r"'campaign/manifest.json': .*, and 2 more members\n"):
        unpacked_package(path).__enter__()


@pytest.mark.parametrize("lacking", ["package.json", "sha256sums.txt", "study.toml"])
def test_what_lacks_what_a_package_has_is_none(lacking):
    files = {name: data for name, data in FILES.items() if name != lacking}
    for kind in KINDS:
        with pytest.raises(TraceError, match=f"expected a replication package with {lacking}, got none"):
            unpacked_package(write_package(Path(kind), files)).__enter__()


def test_a_newer_schema_is_said_to_be_one():
    files = {"package.json": json.dumps({"schema": "gapline.package/2"}).encode(), "study.toml": b""}
    path = write_package(Path("p.zip"), files | {"sha256sums.txt": sums_of(files)})
    assert is_package(path)
    with pytest.raises(TraceError, match=r"expected schema gapline.package/1, got 'gapline.package/2'\nHint: upgrade"):
        unpacked_package(path).__enter__()


def test_a_package_is_told_by_what_is_in_it(monkeypatch):
    files = {"package.json": b'{"schema": "gapline.package/1"}'}
    known = {
        "whole.zip": FILES,
        "renamed.dat.zip": files,
        "npm.zip": {"package.json": b'{"name": "left-pad"}'},
        "broken.zip": {"package.json": b"{"},
        "damaged.zip": {"package.json": b"{", "sha256sums.txt": b""},
        "inside.zip": {f"demo/{name}": data for name, data in FILES.items()},
        "campaign.zip": {"manifest.json": b"{}"},
        "any.tar.zst": {"log.txt": b""},
    }
    told = {name for name, content in known.items() if is_package(write_package(Path(name), content))}
    assert told == {"whole.zip", "renamed.dat.zip", "damaged.zip", "any.tar.zst"}
    shutil.copy("whole.zip", "whole.dat")
    assert is_package("whole.dat")
    Path("no.tar.zst").write_text("text")
    Path("t.csv").write_text("arm\n")
    assert not any(map(is_package, ["no.tar.zst", "t.csv", "nothing.zip", ".", "scratch"]))
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_MEMBERS", "1000")
    assert is_package(zip_list(Path("many.zip"), 3000))


def test_a_package_that_is_not_there_is_one_error():
    for name in ("gone.zip", "gone.tar.zst"):
        with pytest.raises(TraceError, match="no such file"):
            unpacked_package(name).__enter__()


@pytest.fixture(scope="module")
def wholes(tmp_path_factory) -> dict[str, bytes]:
    place = tmp_path_factory.mktemp("wholes")
    return {kind: write_package(place / kind, FILES).read_bytes() for kind in KINDS}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(150))
@given(kind=st.sampled_from(KINDS), place=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_a_changed_byte_is_refused_or_changes_nothing(wholes, kind, place, flip):
    """Also where it hits the archive and not a member: dates and the like are nobody's content."""
    data = bytearray(wholes[kind])
    data[place % len(data)] ^= flip
    path = Path(kind)
    path.write_bytes(data)
    try:
        with unpacked_package(path) as package:
            assert content(package.folder) == FILES
    # One of our sentences, and never what a library raises.
    except GaplineError:
        pass


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(60))
@given(kind=st.sampled_from(KINDS), cut=st.integers(0, 10**6))
def test_a_package_that_was_cut_is_refused(wholes, kind, cut):
    path = Path(kind)
    path.write_bytes(wholes[kind][: cut % len(wholes[kind])])
    with pytest.raises(GaplineError):
        unpacked_package(path).__enter__()


def test_a_package_that_changes_while_it_is_read_is_refused(monkeypatch):
    from gapline.traces import package_source as module

    path = write_package(Path("p.zip"), FILES)
    marks = iter([(1,), (2,)])
    monkeypatch.setattr(module, "file_mark", lambda _: next(marks))
    with pytest.raises(IntegrityError, match="changed meanwhile"):
        unpacked_package(path).__enter__()


def test_errors_inside_name_the_package():
    path = write_package(Path("p.zip"), FILES)
    with pytest.raises(TraceError) as error, unpacked_package(path) as package:
        raise TraceError(f"{package.folder}/study.toml: expected more", hint=f"look into {package.folder}")
    assert str(error.value) == "p.zip/study.toml: expected more\nHint: look into p.zip"


def test_a_full_disk_is_said_in_its_words(monkeypatch):
    from gapline.traces import package_source as module

    class Full:
        def __init__(self, real):
            self.real = real

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.real.close()

        def write(self, _):
            raise OSError(28, "No space left on device")

    create = module._create
    monkeypatch.setattr(module, "_create", lambda place, executable: Full(create(place, executable=executable)))
    with pytest.raises(OSError, match="TMPDIR names another place"):
        unpacked_package(write_package(Path("p.zip"), FILES)).__enter__()


def test_frames_of_several_writers_are_one_archive():
    """`zstd` may have packed it in pieces."""
    import zstandard

    from hostile_packages import tar_bytes

    data = tar_bytes(files=FILES)
    pack = zstandard.ZstdCompressor().compress
    Path("p.tar.zst").write_bytes(pack(data[:700]) + pack(data[700:]))
    with unpacked_package("p.tar.zst") as package:
        assert content(package.folder) == FILES


def test_the_package_of_a_study_directory_holds_its_files(tmp_path):
    from cli.two_arms import write_study

    write_study(tmp_path / "study")
    with unpacked_package(make_package(tmp_path / "study", tmp_path / "s.zip")) as package:
        found = content(package.folder)
    assert {name: data for name, data in found.items() if name not in ("package.json", "sha256sums.txt")} == content(
        tmp_path / "study"
    )

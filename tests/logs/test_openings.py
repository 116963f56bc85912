"""Files in an archive are imported as the same files in a folder: the same campaign, to the last byte."""

import gzip
import random
import struct
import tarfile
import zipfile

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapline.errors import TraceError
from gapline.files.compression import IN_MEMORY
from gapline.files.open_file import VARIABLE
from gapline.logs import log_files
from gapline.logs.archive_members import Openings, list_members
from gapline.logs.importer import import_logs
from logs.readers.test_coco import write_folder
from profiles import examples
from traces.archives import KINDS, tar, zipped
from traces.small_logs import HGS, OLINES, dimacs

CONTENTS = st.sampled_from(
    [
        dimacs().encode(),
        dimacs(rows="x 1 1.0\n1000.0 1 2.0\n").encode(),
        dimacs(rows="1090.0 1 30.0\n1095.0 1 5.0\n", end=False).encode(),
        OLINES.encode(),
        gzip.compress(OLINES.encode()),
        zstandard.compress(HGS.format(name="n", seed=1).encode()),
        gzip.compress(OLINES.encode())[:-9],
        b"",
    ]
)
NAMES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map("/".join)


def written(name, target, **choices):
    imported = import_logs([name], name="{instance}-s{seed}.log", arm="x", allow_mixed_clocks=True, **choices)
    imported.campaign.save(target)
    return {path.name: path.read_bytes() for path in sorted(target.iterdir())}, imported


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_archive_gives_the_bytes_of_a_folder_of_its_name(tmp_path_factory, data, monkeypatch):
    """In whichever order it holds them, however it is cut into chunks; what cannot be read is named alike."""
    tmp_path = tmp_path_factory.mktemp("any")
    folders = data.draw(st.dictionaries(NAMES, CONTENTS, max_size=11))
    files = [(f"{name}/i{number}-s{number}.log", content) for number, (name, content) in enumerate(folders.items())]
    files.append(("b/a/i99-s9.log", dimacs().encode()))
    random.Random(data.draw(st.integers(0, 9))).shuffle(files)
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    for place in ("archive", "folder"):
        (tmp_path / place).mkdir()
    (tmp_path / "archive" / kind).write_bytes(KINDS[kind](files))
    for name, content in files:
        (tmp_path / "folder" / kind / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / kind / name).write_bytes(content)
    monkeypatch.setattr(log_files, "MOST_FILES", data.draw(st.sampled_from([4, 2048])))
    found = []
    for place in ("archive", "folder"):
        monkeypatch.chdir(tmp_path / place)
        pieces = tmp_path / f"{place}.pieces"
        pieces.mkdir()
        bytes_, imported = written(kind, tmp_path / f"{place}.out", keep_going=True, unfinished=pieces)
        again, kept = written(kind, tmp_path / f"{place}.again", keep_going=True, unfinished=pieces)
        assert again == bytes_
        assert kept.kept == len(files)
        found.append((bytes_, [(one.path, one.why) for one in imported.left_out]))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", KINDS)
def test_companions_are_found_in_the_same_archive(tmp_path, name, monkeypatch):
    folder = write_folder(tmp_path / "a" / name)
    files = [(str(path.relative_to(folder)), path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / name).write_bytes(KINDS[name](files))
    digests = []
    for place in ("a", "b"):
        monkeypatch.chdir(tmp_path / place)
        imported = import_logs([name])
        assert not imported.left_out
        digests.append((imported.campaign.digest(), imported.campaign.diagnostics))
    assert digests[0] == digests[1]
    assert digests[0][1].runs > 1


def write(path, data):
    path.write_bytes(data)
    return path


def test_hostile_members_are_refused_by_name_or_left_out(tmp_path):
    link = tarfile.TarInfo()
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    good = dimacs().encode()
    path = write(tmp_path / "x.tar", tar([("ok.out", good), ("link", link), ("../up", good), ("t", good), ("t", good)]))
    with pytest.raises(TraceError, match=r"4 of 5 files cannot be read"):
        import_logs([path])
    imported = import_logs([path], keep_going=True)
    assert imported.campaign.diagnostics.runs == 1
    plain = "expected a plain file under a name of its own, got"
    assert sorted((one.path, one.why) for one in imported.left_out) == sorted(
        (f"{path}/{name}", f"{path}/{name}: {plain} {why}")
        for name, why in [
            ("link", "a link"),
            ("../up", "one outside of the archive"),
            ("t", "one that is there twice"),
            ("t", "one that is there twice"),
        ]
    )
    # What --only does not name is nobody's concern.
    assert import_logs([path], only="*.out").campaign.diagnostics.runs == 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_what_came_before_a_cut_counts_only_when_going_on(tmp_path, pack):
    files = [(f"{number}.out", dimacs(f"I{number}").encode()) for number in range(4)]
    rng = random.Random(1)
    # Noise, so that what is cut off is behind the logs in the packed file too.
    data = pack(tar([*files, ("noise.out", rng.randbytes(200_000)), ("last.out", dimacs("last").encode())]))
    path = write(tmp_path / "x.tar.gz", data[: len(data) - 60_000])
    with pytest.raises(TraceError, match=r"x\.tar\.gz: expected a whole tar archive, got .*noise\.out"):
        import_logs([path])
    imported = import_logs([path], keep_going=True, only="[0-9].out")
    assert imported.campaign.diagnostics.runs == 4
    assert [one.path for one in imported.left_out] == [str(path)]
    assert imported.bad == 1


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_of_a_zip_that_is_not_what_its_list_claims_is_refused(tmp_path, method):
    data = zipped([("a.out", dimacs("A").encode()), ("b.out", dimacs("B").encode())], method)
    at = data.index(b"PK\x01\x02")
    for field, value in ((16, 7), (24, 60), (24, 9000), (42, 3)):
        wrong = bytearray(data)
        struct.pack_into("<I", wrong, at + field, value)
        path = write(tmp_path / "x.zip", bytes(wrong))
        imported = import_logs([path], keep_going=True)
        assert [one.path for one in imported.left_out] == [f"{path}/a.out"], field
        assert imported.campaign.diagnostics.runs == 1


def test_a_bomb_is_refused_where_it_would_be_held(tmp_path, monkeypatch):
    """A format that is not read by lines alone; what is packed twice is counted as it comes out."""
    bomb = gzip.compress(b"arm,instance,seed,time,objective\n" + b"a,i,1,1.0,10.0\n" * 100_000)
    monkeypatch.setenv(VARIABLE, "1000000")
    for name, make in KINDS.items():
        path = write(tmp_path / name, make([("bomb.csv.gz", bomb), ("ok.out", dimacs().encode())]))
        imported = import_logs([path], keep_going=True)
        assert [one.why for one in imported.left_out] == [
            f"{path}/bomb.csv.gz: expected at most 1,000,000 bytes once unpacked, got more"
        ]


def test_an_archive_in_a_folder_is_read_too(tmp_path):
    for number, name in enumerate(KINDS):
        write(tmp_path / name, KINDS[name]([("a.out", dimacs(f"I{number}").encode())]))
    write(tmp_path / "plain.out", dimacs("plain").encode())
    assert import_logs([tmp_path]).campaign.diagnostics.runs == len(KINDS) + 1


def test_an_archive_inside_an_archive_is_no_log(tmp_path):
    path = write(tmp_path / "x.zip", zipped([("in.zip", zipped([("a.out", dimacs().encode())]))]))
    with pytest.raises(TraceError, match=r"x\.zip/in\.zip: expected a known format"):
        import_logs([path])


def test_an_archive_that_changes_after_it_was_listed_is_refused(tmp_path):
    path = write(tmp_path / "x.tar", tar([("a.out", dimacs().encode())]))
    found = list_members(path).sources
    write(path, tar([("b.out", b"x" * 9000)]))
    with (
        Openings(found) as openings,
        pytest.raises(TraceError, match="got a changed one"),
        openings.log(found[0], set()),
    ):
        pass


@pytest.mark.slow
def test_large_members_are_streamed(tmp_path, monkeypatch):
    """Beyond what is held of a log its lines are read as they come, whatever archive they come from."""
    name = "n" * 300
    lines = "".join(f"{name}.vrp;1;{200_000 - number};{number / 1000}\n" for number in range(60_000)).encode()
    assert len(lines) > IN_MEMORY
    # A chunk of its own, as larger ones are.
    monkeypatch.setattr(log_files, "MOST_BYTES", 1 << 20)
    counts = set()
    for name in ("logs.zip", "logs.tar", "logs.tar.gz"):
        path = write(tmp_path / name, KINDS[name]([("big.csv", lines), ("small.csv", b"m.vrp;1;5;1\n")]))
        imported = import_logs([path], arm="x")
        counts.add((imported.campaign.digest(), imported.campaign.candidates))
    assert len(counts) == 1
    assert counts.pop()[1] == 60_001

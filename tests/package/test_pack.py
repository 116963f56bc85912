"""A study is packed: what is in the package, what is not, and when nothing is packed at all."""

import fcntl
import json
import subprocess
import zipfile
import zlib

import polars as pl
import pytest

import gapline as gl
from gapline.campaign.store import open_campaign
from gapline.errors import GaplineError, IntegrityError
from gapline.journal.claims import CLAIM_FILE
from gapline.journal.line import EVENTS_FILE, seal
from gapline.journal.read import JournalState, read_journal
from gapline.journal.verdicts import read_verdicts
from gapline.package.campaign import rebuild_campaign
from gapline.references.snapshot import Snapshot
from gapline.report.write import write_report
from package.planted_machine import HOST, USER, copied, read_document

PLANTED = [word.encode() for word in (HOST, HOST.lower(), USER)]


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
def test_the_sums_hold_without_gapline(made):
    done = subprocess.run(
        ["sha256sum", "-c", "--strict", "sha256sums.txt"], cwd=made.folder, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout
    listed = [line.split("  ")[1] for line in (made.folder / "sha256sums.txt").read_text().splitlines()]
    assert listed == sorted(files_of(made.folder).keys() - {"sha256sums.txt"})
    assert tuple(sorted([*listed, "sha256sums.txt"])) == made.packed.members


def test_the_identifier_is_that_of_git(made, tmp_path):
    subprocess.run(["unzip", "-q", made.packed.path, "-d", tmp_path / "u"], check=True)
    for command in (["init", "-q"], ["add", "-f", "."]):
        subprocess.run(["git", *command], cwd=tmp_path / "u", check=True)
    tree = subprocess.run(["git", "write-tree"], cwd=tmp_path / "u", check=True, capture_output=True, text=True)
    assert made.packed.identity.swhid == f"swh:1:dir:{tree.stdout.strip()}"


def test_nothing_of_the_machine_is_in_any_member(made):
    """Planted in orders, events, texts, versions, logs and reasons; Parquet and PNG are unpacked too."""
    journals = b"".join(path.read_bytes() for path in (made.study / "journal").rglob("*") if path.is_file())
    assert all(word in journals for word in (HOST.encode(), USER.encode(), str(made.study).encode()))
    places = [*PLANTED, str(made.study).encode(), str(made.study.parent).encode(), b"/home/"]
    for name, path in files_of(made.folder).items():
        data = path.read_bytes()
        if name.endswith(".parquet"):
            data += pl.read_parquet(path).write_csv().encode()
        if name.endswith(".png"):
            data += b"".join(texts_of(data))
        found = [word for word in places if word.lower() in data.lower().replace(b"/home/of/a/name", b"")]
        # The program and the solutions are the user's own words, which are never rewritten.
        assert name == "solve.py" or found == [], name


def texts_of(data):
    """Yield the chunks of a PNG that are no pixels, unpacked where they are packed."""
    place = 8
    while place < len(data):
        size, kind = int.from_bytes(data[place : place + 4]), data[place + 4 : place + 8]
        body = data[place + 8 : place + 8 + size]
        yield (
            zlib.decompress(body.partition(b"\0\0")[2])
            if kind in (b"zTXt", b"iCCP")
            else body
            if kind != b"IDAT"
            else b""
        )
        place += size + 12


def test_what_was_taken_out_is_listed_and_never_its_value(made):
    document = read_document(made.folder)
    kinds = {(one["what"], one["where"].rpartition("/")[2]) for one in document["taken_out"]}
    assert {("host name", "run.json"), ("user name", "events.jsonl")} <= kinds
    assert {("path", "*.log"), ("path", "verdicts-*.jsonl"), ("path", "events.jsonl")} <= kinds
    assert all(one["times"] > 0 for one in document["taken_out"])
    assert document["hosts_kept"] is False


def test_packed_journals_verify_and_solutions_are_those_that_were_checked(made):
    attempts = sorted(made.folder.glob("journal/*/attempt-*"))
    assert len(attempts) == 8
    for attempt in attempts:
        before = read_journal(made.study / attempt.relative_to(made.folder))
        after = read_journal(attempt)
        assert after.state is JournalState.WHOLE
        assert after.problems() == []
        assert [event.solution for event in after.events] == [event.solution for event in before.events]
        assert after.order.directory == "."
        assert after.order.machine["host"] == "host-1"
        assert after.order.environment["GAPLINE_INSTANCE"] == f"instances/{after.order.instance}.txt"
        (verdicts,) = read_verdicts(after)
        assert verdicts.usable
        assert verdicts.head.journal == f"{after.checksum:08x}"
        assert {one.reason for one in verdicts.by_sequence.values()} == {
            None, f"no solution of instances/{after.order.instance}.txt",
        }  # fmt: skip


def test_the_campaign_follows_from_the_packed_journals(made):
    campaign = rebuild_campaign(made.folder)[0]
    stored = open_campaign(made.folder / "campaign")
    assert campaign.digest() == stored.digest() == read_document(made.folder)["campaign"]
    assert stored.diagnostics == campaign.diagnostics
    assert stored.diagnostics.sources == (".",)
    assert stored.runs["host"].unique().to_list() == ["host-1"]
    # Numbers are those of the study.
    assert stored.time.tolist() == open_campaign(made.study / "campaign").time.tolist()


@pytest.mark.slow
def test_the_results_are_what_a_report_makes_of_the_package(made, tmp_path):
    write_report(gl.open_study(str(made.folder)), tmp_path / "results", formats=("svg", "png"))
    expected = {name: path.read_bytes() for name, path in files_of(made.folder / "results").items()}
    assert {name: path.read_bytes() for name, path in files_of(tmp_path / "results").items()} == expected


def test_the_scores_are_those_of_the_study(made):
    names = ["arm", "instance", "seed", "squeezed", "final_gap"]
    here, there = (gl.open_study(str(place)).scores[0].frame.select(names) for place in (made.study, made.folder))
    assert here.sort(names[:3]).equals(there.sort(names[:3]))


def test_the_document_states_digests_versions_and_machines(made):
    document = read_document(made.folder)
    known = Snapshot.load(made.folder / "references" / "known.json")
    assert document["schema"] == "gapline.package/1"
    assert document["snapshots"] == {"references/known.json": known.digest}
    assert document["instances"]["one"]["included"] is True
    assert document["environment"]["solvers"]["own"] == "own 1.0 built on host-1 in …/x"
    assert [one["machine"] for one in document["environment"]["machines"]] == ["host-1"]
    assert document["versions"] == json.loads((made.folder / "results" / "results.json").read_text())["versions"]
    text = (made.folder / "package.json").read_text(encoding="utf-8")
    assert text == json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_files_that_the_contract_names_are_in_and_others_are_listed(made):
    assert {"solve.py", "words.py", "rules.py", "study.toml", "references/known.json"} <= set(made.packed.members)
    own = {one.path: one.why for one in made.packed.left_out if not one.path.startswith(("journal", "**", "results"))}
    # Calibrations are a file of earlier versions.
    assert own == dict.fromkeys(("calibrations.jsonl", "drafts/", "notes.txt"), "the contract does not name it")


def test_the_executable_bit_is_kept_and_nothing_else(made):
    with zipfile.ZipFile(made.packed.path) as archive:
        modes = {member.filename: member.external_attr >> 16 for member in archive.infolist()}
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist() == sorted(archive.namelist())
    assert modes.pop("solve.py") == 0o100755
    assert set(modes.values()) == {0o100644}


@pytest.mark.slow
def test_the_study_directory_is_left_as_it_was(study, tmp_path):
    before = {name: path.stat().st_mtime_ns for name, path in files_of(study).items()}
    gl.pack(study, tmp_path / "a.zip")
    assert {name: path.stat().st_mtime_ns for name, path in files_of(study).items()} == before


@pytest.mark.slow
def test_hosts_are_kept_where_that_is_asked_for(study, tmp_path):
    packed = gl.pack(study, tmp_path / "a.zip", keep_hosts=True)
    with zipfile.ZipFile(packed.path) as archive:
        document = json.loads(archive.read("package.json"))
        for name in archive.namelist():
            if name.startswith("journal/"):
                assert archive.read(name) == (study / name).read_bytes()
    assert document["hosts_kept"] is True
    assert document["taken_out"] == []
    assert document["environment"]["machines"][0]["machine"] == HOST


@pytest.mark.slow
def test_runs_under_way_are_refused(study, tmp_path):
    claim = next(study.glob(f"journal/*/{CLAIM_FILE}"))
    with claim.open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(GaplineError, match="expected a study at rest, got 1 run under way"):
            gl.pack(study, tmp_path / "a.zip")
    gl.pack(study, tmp_path / "a.zip")


def change_byte(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("keep_hosts", [False, True])
@pytest.mark.parametrize("name", ["events.jsonl", "run.json", "verdicts-*.jsonl"])
def test_a_damaged_journal_is_refused(study, tmp_path, name, keep_hosts):
    path = next(study.glob(f"journal/*/*/{name}"))
    change_byte(path, 80)
    with pytest.raises(IntegrityError, match=r"expected journals that verify, got [12] files?") as refused:
        gl.pack(study, tmp_path / "a.zip", keep_hosts=keep_hosts)
    assert path.name in str(refused.value)
    assert "gapline-pack-" not in str(refused.value)
    assert not (tmp_path / "a.zip").exists()


def test_a_line_out_of_its_place_is_refused_though_its_checksums_were_made_again(study, tmp_path):
    path = next(study.glob(f"journal/*/*/{EVENTS_FILE}"))
    lines, checksum = path.read_bytes().splitlines(), 0
    lines[2], lines[3] = lines[3], lines[2]
    forged = b""
    for line in lines:
        sealed, checksum = seal(line[: line.rindex(b',"crc"')], checksum)
        forged += sealed
    path.write_bytes(forged)
    for verdicts in path.parent.glob("verdicts-*"):
        verdicts.unlink()
    with pytest.raises(IntegrityError, match="expected line number 2, got 3"):
        gl.pack(study, tmp_path / "a.zip")


@pytest.mark.parametrize(
    "name", ["campaign/time.npy", "campaign/manifest.json", "journal/register.jsonl", "references/known.json"]
)
def test_broken_digests_are_refused(study, tmp_path, name):
    change_byte(study / name, 150)
    with pytest.raises(GaplineError) as refused:
        gl.pack(study, tmp_path / "a.zip")
    assert name.rpartition("/")[2].partition(".")[0] in str(refused.value)
    assert not (tmp_path / "a.zip").exists()


def test_an_instance_that_is_not_the_one_that_was_solved_is_refused(study, tmp_path):
    (study / "instances" / "one.txt").write_text("another\n")
    with pytest.raises(IntegrityError, match="expected the instances that were solved") as refused:
        gl.pack(study, tmp_path / "a.zip")
    assert "instances/one.txt" in str(refused.value)


@pytest.mark.slow
def test_an_alarm_is_refused_unless_it_is_asked_for(run_once, tmp_path):
    study = copied(run_once, tmp_path / "study")
    values = {"one": {"value": 50.0, "certified": True}, "two": {"value": 18.5}}
    snapshot = Snapshot.from_entries(values, name="wrong", store={"name": "x"}, as_of="2020-01-01T00:00:00Z")
    (study / "references" / "known.json").unlink()
    snapshot.save(study / "references" / "known.json")
    text = (study / "study.toml").read_text().replace('policy = "frozen"', 'policy = "retrospective"')
    (study / "study.toml").write_text(text)
    with pytest.raises(IntegrityError, match="expected no integrity alarm, got"):
        gl.pack(study, tmp_path / "a.zip")
    packed = gl.pack(study, tmp_path / "a.zip", with_alarms=True)
    assert packed.alarms > 0
    with zipfile.ZipFile(packed.path) as archive:
        assert json.loads(archive.read("package.json"))["alarms"] == packed.alarms
        assert "integrity alarm" in archive.read("README.md").decode()


@pytest.mark.slow
def test_an_unfinished_plan_is_packed_and_said(study, tmp_path):
    text = (study / "study.toml").read_text().replace("seeds = 2", "seeds = 3")
    (study / "study.toml").write_text(text)
    packed = gl.pack(study, tmp_path / "a.zip")
    assert packed.coverage == "8 of 12 planned runs, 4 missing"
    with zipfile.ZipFile(packed.path) as archive:
        assert "8 of 12 planned runs, 4 missing" in archive.read("README.md").decode()


@pytest.mark.slow
def test_instances_are_left_out_where_that_is_asked_for(study, tmp_path):
    text = (study / "study.toml").read_text()
    packed = gl.pack(study, tmp_path / "a.zip", without_instances=True)
    with zipfile.ZipFile(packed.path) as archive:
        archive.extractall(tmp_path / "u")
    assert not (tmp_path / "u" / "instances").exists()
    one = read_document(tmp_path / "u")["instances"]["one"]
    assert (one["included"], one["where"]) == (False, "https://example.org/known, v3")
    assert one["digest"].startswith("sha256:")
    # A pattern of the contract still names them: the package opens, and its numbers are the same.
    there, here = (gl.open_study(str(place)).summary.frame for place in (tmp_path / "u", study))
    assert there.equals(here)
    stated = text.replace('panel = "small"', 'panel = "small"\nsource = "doi:10.1/x"')
    (study / "study.toml").write_text(stated.replace("[objective]", 'instances_source = "y"\n\n[objective]'))
    packed = gl.pack(study, tmp_path / "b.zip", without_instances=True)
    with zipfile.ZipFile(packed.path) as archive:
        wheres = {one["where"] for one in json.loads(archive.read("package.json"))["instances"].values()}
        assert "doi:10.1/x" in archive.read("README.md").decode()
    assert wheres == {"doi:10.1/x"}


@pytest.mark.slow
def test_a_torn_and_superseded_attempt_is_packed_as_evidence(study, tmp_path):
    whole = next(study.glob("journal/*/attempt-001"))
    torn = whole.rename(whole.with_name("attempt-002"))
    first = torn / EVENTS_FILE
    lines = first.read_bytes().splitlines(keepends=True)
    whole.mkdir()
    (whole / "run.json").write_bytes((torn / "run.json").read_bytes())
    (whole / EVENTS_FILE).write_bytes(b"".join(lines[:3]) + f'{{"seq":3,"t":0.1,"text":"/home/{USER}/x'.encode())
    packed = gl.pack(study, tmp_path / "a.zip")
    with zipfile.ZipFile(packed.path) as archive:
        name = f"journal/{whole.parent.name}/attempt-001/{EVENTS_FILE}"
        assert archive.read(name).endswith('"text":"…/x'.encode())
        assert b"1 attempt" in archive.read("results/results.json")


@pytest.mark.slow
def test_further_files_are_packed_where_they_are_asked_for(study, tmp_path):
    packed = gl.pack(study, tmp_path / "a.zip", also=["drafts"])
    assert "drafts/one.md" in packed.members
    with pytest.raises(GaplineError, match="--also: expected files"):
        gl.pack(study, tmp_path / "b.zip", also=["nothing*"])


@pytest.mark.slow
def test_a_package_in_the_study_is_no_file_of_it(study):
    first = gl.pack(study, study / "a.zip").identity
    assert gl.pack(study, study / "a.zip").identity == first


@pytest.mark.slow
def test_progress_is_told(study, tmp_path):
    told = []
    gl.pack(study, tmp_path / "a.zip", progress=lambda *facts: told.append(facts))
    assert [what for what, done, whole in told if done == whole] == ["journals", "report", "files"]

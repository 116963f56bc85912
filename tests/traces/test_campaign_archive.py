"""A zip in the place of a source: a campaign directory or traces, read, verified and scored like what was packed."""

import json
import tempfile
import zipfile
from pathlib import Path

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.contract.tables import RunKey
from gapline.errors import IntegrityError, TraceError, UsageError
from gapline.files.archives import folder_files, write_zip

TRACE = (
    "arm,instance,seed,time,objective,valid,horizon\n"
    "a,i,1,1,12,true,30\na,i,1,2,11,true,30\na,i,1,2.5,1,false,30\nb,i,1,1,11,true,30\nb,j,1,,,,30\n"
)
REFERENCES = "instance,value\ni,10\nj,10\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Everything in a folder of its own, temporary files too: what is left behind is seen."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TRACE)
    Path("refs.csv").write_text(REFERENCES)
    yield
    assert list(scratch.iterdir()) == []


def scored(source, **choices):
    return gl.open_study(source, **choices).scores[0].frame.drop("horizon")


def test_a_packed_campaign_is_the_campaign_to_the_last_bit():
    whole = gl.read("t.csv")
    runs = gl.Campaign.from_arrays(
        runs=whole.runs, interrupted=(RunKey("a", "j", 1),), facts={"checker": "mine 1"}, **whole.columns
    )
    runs.save("c")
    assert run(["export", "c", "-o", "c.zip"]) == 0
    again = gl.read("c.zip")
    assert again.digest() == gl.read("c").digest()
    assert again.interrupted == (RunKey("a", "j", 1),)
    assert dict(again.facts) == {"checker": "mine 1"}
    assert scored("c.zip", references="refs.csv").equals(scored("c", references="refs.csv"))


def test_the_zip_is_the_same_on_every_call(capsys):
    gl.read("t.csv").save("c")
    for source in ("t.csv", "c", "t.csv"):
        assert run(["export", source, "--references", "refs.csv", "-o", f"{source}.zip"]) == 0
    assert run(["export", "t.csv.zip", "-o", "again.zip"]) == 0
    packed = {Path(name).read_bytes() for name in ("t.csv.zip", "c.zip", "again.zip")}
    assert len(packed) == 1
    said = capsys.readouterr().out
    assert f"campaign {gl.read('t.csv').digest()}" in said
    assert "with the references refs (sha256:" in said


def test_the_references_of_a_zip_are_read_with_it(capsys):
    assert run(["export", "t.csv", "--references", "refs.csv", "-o", "b.zip"]) == 0
    assert scored("b.zip").equals(scored("t.csv", references="refs.csv"))
    capsys.readouterr()
    assert run(["score", "b.zip", "--json"]) == 0
    packed = json.loads(capsys.readouterr().out)
    assert run(["score", "t.csv", "--references", "refs.csv", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert packed["reference"] == plain["reference"]
    assert packed["arms"] == plain["arms"]


def test_an_archive_without_references_says_so(capsys):
    assert run(["export", "t.csv", "-o", "b.zip"]) == 0
    assert "without references: whoever reads it gives" in capsys.readouterr().out
    assert run(["score", "b.zip"]) == 2
    assert run(["export", "t.csv", "--references", "refs.csv", "-o", "b.csv"]) == 2
    assert "expected a .zip for --references" in capsys.readouterr().err


def test_traces_in_a_zip_are_put_together_and_named():
    lines = TRACE.splitlines(keepends=True)
    head = lines[0]
    files = {"in/a.csv": head + "".join(lines[1:4]), "in/b.csv": head + lines[4] + lines[5] + "b,k,1,1,oops,true,30\n"}
    write_zip(Path("t.zip"), {name: text.encode() for name, text in files.items()} | {"README.md": b"hello"})
    campaign = gl.read("t.zip")
    assert len(campaign) == 4
    assert campaign.diagnostics.problems == ("t.zip/in/b.csv:4: expected an objective, got 'oops' (run b/k/1)",)
    assert campaign.diagnostics.sources == ("t.zip/in/a.csv", "t.zip/in/b.csv")
    assert any("t.zip: neither of the campaign nor traces, and not read: README.md" in n for n in campaign.notes())


def test_recorded_traces_in_a_zip_are_read():
    with gl.record("r.jsonl", arm="a", instance="i", seed=1, horizon=30) as trace:
        trace.add(12.0)
    write_zip(Path("r.zip"), {"r.jsonl": Path("r.jsonl")})
    assert gl.read("r.zip").digest() == gl.read("r.jsonl").digest()


def test_files_that_a_desktop_adds_are_not_read():
    write_zip(Path("t.zip"), {"t.csv": TRACE.encode(), "__MACOSX/._t.csv": b"\0\5", ".hidden.csv": b"x"})
    assert gl.read("t.zip").digest() == gl.read("t.csv").digest()


def test_the_digests_of_a_packed_campaign_are_verified():
    gl.read("t.csv").save("c")
    files = folder_files(Path("c"), "campaign/")
    objective = bytearray(Path("c/objective.npy").read_bytes())
    objective[-1] ^= 1
    write_zip(Path("c.zip"), files | {"campaign/objective.npy": bytes(objective)})
    with pytest.raises(IntegrityError, match=r"^c\.zip/campaign: objective\.npy: expected sha256:") as error:
        gl.read("c.zip")
    assert "scratch" not in str(error.value)
    write_zip(Path("c.zip"), files)
    assert gl.read("c.zip").digest() == gl.read("t.csv").digest()


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "got nothing"),
        ({"README.md": b"x", "inner.zip": b"PK\3\4"}, "got README.md, inner.zip"),
        ({"a/manifest.json": b"{}", "b/manifest.json": b"{}"}, "expected one campaign directory, got 2: a, b"),
        ({"s/study.toml": b"", "s/campaign/manifest.json": b"{}"}, r"got a study \(s/study.toml\)"),
        ({"c/manifest.json": b"{"}, "c.zip/c/manifest.json: expected"),
        ({"t.csv": b"PK\3\4 a zip under another name"}, "c.zip/t.csv: expected"),
    ],
)
def test_what_is_no_campaign_is_named(files, why):
    write_zip(Path("c.zip"), files)
    with pytest.raises((TraceError, UsageError), match=why):
        gl.read("c.zip")


def test_a_zip_whose_name_says_otherwise_is_still_unpacked_with_care():
    with zipfile.ZipFile("t.csv", "w") as archive:
        archive.writestr("../t.csv", TRACE)
    with pytest.raises(TraceError, match="outside of the archive"):
        gl.read("t.csv")


def test_a_study_is_packed_as_it_scores(capsys):
    """Choices of the contract are options of the command that is printed; the snapshot is in the zip."""
    from cli.two_arms import write_study

    write_study(Path("study"))
    assert run(["export", "study", "-o", "s.zip"]) == 0
    said = capsys.readouterr().out
    command = said.splitlines()[-1].partition("as the study does: ")[2]
    assert command.startswith("gapline score s.zip --policy analysis --kernel maxform")
    assert run([*command.split()[1:], "--json", "--tier2", "coarse"]) == 0
    packed = json.loads(capsys.readouterr().out)
    assert run(["score", "study", "--json"]) == 0
    assert packed["arms"] == json.loads(capsys.readouterr().out)["arms"]


def test_several_references_are_not_chosen_from(capsys):
    for name, value in (("c", 10.0), ("d", 9.0)):
        gl.read("t.csv").filter(arm=("a" if name == "c" else "b",)).save(name)
        gl.Snapshot.from_values({"i": value, "j": value}, name=name).save(Path(name) / "references.json")
    assert run(["export", "c", "d", "-o", "both.zip"]) == 0
    assert "without references, because there are 2: choose one with --snapshot" in capsys.readouterr().out
    assert run(["export", "c", "d", "--snapshot", "c/references.json", "-o", "both.zip"]) == 0
    assert gl.open_study("both.zip").snapshot.name == "c"

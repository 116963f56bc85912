"""`gapline merge` keeps the content, and an export of it too; in parts or in one, it is the same campaign."""

import io
import json
import random
from pathlib import Path

import polars as pl
import pytest

import gapline as gl
from cli.worked_traces import as_json
from gapline.cli.app import run


def test_export_and_merge_keep_the_content(worked, capsys):
    assert run(["merge", "traces.csv", "-o", "campaign"]) == 0
    for form in ("csv", "jsonl", "parquet"):
        assert run(["export", "campaign", "-o", f"again.{form}"]) == 0
        assert gl.read(f"again.{form}").digest() == gl.open("campaign").digest()
    capsys.readouterr()
    _, from_file = as_json(capsys, "score", *worked)
    _, from_campaign = as_json(capsys, "score", "campaign", *worked[1:])
    assert from_file["arms"] == from_campaign["arms"]


FORMS = ("csv", "jsonl", "parquet", "arrow", "zip")


def write_sources(number: int, seed: int) -> list[str]:
    """Write the runs of two arms into so many sources of all kinds, shuffled; not all have bounds or reasons."""
    draw = random.Random(seed)
    groups: list[list[dict]] = [[] for _ in range(number)]
    for k, (arm, instance, run_seed) in enumerate((a, i, s) for a in "ab" for i in "ij" for s in (1, 2, 3)):
        rows = groups[k % number if k < number else draw.randrange(number)]
        one = {"arm": arm, "instance": instance, "seed": run_seed, "horizon": 10.0, "panel": instance}
        value = 40.0
        for step in range(draw.randint(0, 5)):
            value -= draw.random() * 3
            valid = draw.random() < 0.8
            rows.append(one | {"time": step + draw.random(), "objective": value, "valid": valid})
            rows[-1] |= {} if valid else {"reason": draw.choice(["odd", "late", "heavy"])}
        rows.append(one | {"time": None, "objective": None, "valid": None})
    names = []
    for k, group in enumerate(groups):
        rows = [row for j, row in enumerate(group) if row["time"] is not None or not same_run(group[j - 1], row)]
        if k % 2:
            rows = [row | {"bound": 1.0, "threads": 4} for row in rows]
        gl.read(rows, allow_empty=True).save(f"s{k}")
        names.append(f"s{k}")
        if k == 2:
            run(["export", "s2", "-o", "s2.csv"])
            names[-1] = "s2.csv"
        if k == 3:
            run(["export", "s3", "-o", "s3.zip"])
            names[-1] = "s3.zip"
    draw.shuffle(names)
    return names


def same_run(one: dict, other: dict) -> bool:
    return one is not other and all(one[name] == other[name] for name in ("arm", "instance", "seed"))


def everything(capsys) -> list:
    """Score and export the campaign `c`: all that anybody gets out of it."""
    capsys.readouterr()
    said = []
    for command in (["score", "--per-run"], ["score", "--arm", "a"], ["compare", "c:a", "c:b"]):
        source = [] if command[0] == "compare" else ["c"]
        said.append((run([*command, *source, "--references", "refs.csv", "--json"]), capsys.readouterr().out))
    for form in FORMS:
        assert run(["export", "c", "-o", f"out.{form}"]) == 0
        # Older versions of Polars pad the same table in other ways.
        data = Path(f"out.{form}").read_bytes()
        said.append(pl.read_ipc(io.BytesIO(data)).to_dict(as_series=False) if form == "arrow" else data)
    return said


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("seed", [1, 2])
def test_in_parts_or_in_one_everything_is_the_same(number, seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("refs.csv").write_text("instance,value\ni,10\nj,11\n")
    sources = write_sources(number, seed)
    assert run(["merge", *sources, "-o", "c", "--flat"]) == 0
    digest = json.loads(Path("c/manifest.json").read_text())["digest"]
    assert not list(Path("c").glob("part-*"))
    expected = everything(capsys)
    assert expected[0][0] == 0
    Path("c").rename("flat")
    assert run(["merge", *sources, "-o", "c"]) == 0
    assert digest in capsys.readouterr().out
    manifest = json.loads(Path("c/manifest.json").read_text())
    assert manifest["digest"] == gl.open("c").digest() == digest
    assert len(list(Path("c").glob("part-*"))) == (0 if number == 1 else len(manifest["parts"]))
    assert everything(capsys) == expected
    # In another order columns of the runs and codes stand in another order too; the content is the same.
    Path("c").rename("parts")
    random.Random(seed + 1).shuffle(sources)
    assert run(["merge", *sources, "-o", "c"]) == 0
    assert gl.open("c").digest() == digest
    assert everything(capsys)[:3] == expected[:3]
    assert gl.read("out.zip").digest() == gl.read("out.csv").digest() == digest


def test_the_parts_of_a_source_become_parts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        gl.read([{"arm": name, "instance": "i", "seed": 1, "time": 1.0, "objective": 5.0, "valid": True}]).save(name)
    assert run(["merge", "a", "b", "-o", "ab"]) == 0
    assert "in 2 parts, 10 files linked\n" in capsys.readouterr().out
    assert run(["merge", "c", "ab", "-o", "abc"]) == 0
    assert "in 3 parts, 15 files linked\n" in capsys.readouterr().out
    assert Path("abc/part-0002/time.npy").samefile("b/time.npy")
    assert gl.open("abc").digest() == gl.merge([gl.open(name) for name in "abc"]).digest()
    # What a filter leaves of a part is written; a part of which nothing is left still says what was read.
    assert run(["merge", "abc", "--arm", "[bc]", "-o", "bc"]) == 0
    assert "in 3 parts, 10 files linked\n" in capsys.readouterr().out
    assert gl.open("bc").runs["arm"].to_list() == ["b", "c"]
    assert gl.open("bc").diagnostics == gl.open("abc").diagnostics
    assert run(["merge", "ab", "b", "-o", "twice"]) == 1
    assert "got 1 in more than one source: b/i/1" in capsys.readouterr().err
    assert not Path("twice").exists()


def test_a_directory_with_parts_is_read_from_a_zip(tmp_path, monkeypatch):
    import shutil

    monkeypatch.chdir(tmp_path)
    for name in "ab":
        gl.read([{"arm": name, "instance": "i", "seed": 1, "time": 1.0, "objective": 5.0, "valid": True}]).save(name)
    assert run(["merge", "a", "b", "-o", "packed/ab"]) == 0
    shutil.make_archive("ab", "zip", "packed")
    read = gl.read("ab.zip")
    assert read.digest() == gl.open("packed/ab").digest()
    assert read.diagnostics.notes == ()
    read.check_files()
    Path("packed/ab/part-0001/time.npy").unlink()
    shutil.make_archive("ab", "zip", "packed")
    with pytest.raises(
        gl.GaplineError, match=r"ab\.zip/ab/part-0001: time\.npy: expected sha256:\w+, got no such file"
    ):
        gl.read("ab.zip")

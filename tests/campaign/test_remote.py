"""Sources on a real server of the S3 protocol: the same scores as from the directory, or one sentence and no traces."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from gapline.campaign import remote
from gapline.campaign.campaign import Campaign
from gapline.campaign.partitions import Part, save_parts
from gapline.campaign.remote import fetch, fetch_campaign, is_url, local_path
from gapline.campaign.store import save_campaign
from gapline.cli.app import run
from gapline.errors import EnvironmentLacksError, IntegrityError, TraceError

pytest.importorskip("fsspec")

RUNS = [
    {
        "arm": arm,
        "instance": instance,
        "seed": seed,
        "horizon": 10,
        "trace": [(0.5 + seed + step, 30.0 / (step + 1) + len(arm)) for step in range(4)],
    }
    for arm in ("hgs", "ils-2")
    for instance in ("i1", "i2")
    for seed in (1, 2, 3)
]
VALUES = {"i1": 7.0, "i2": 6.5}


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Where copies are made, so that what is left over can be seen."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(remote, "scratch_place", lambda: folder)
    monkeypatch.setattr(remote, "_copies", {})
    return folder


@pytest.fixture
def campaign(tmp_path):
    """A campaign directory that carries its references."""
    folder = save_campaign(Campaign.from_runs(RUNS), tmp_path / "campaign")
    gapline.Snapshot.from_values(VALUES, name="best", as_of="2020-01-01").save(folder / "references.json")
    return folder


def answer(capsys, *command):
    assert run([*command, "--json", "--per-run"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(kind, url, places):
    """The error of a fetch, of which nothing is left."""
    with pytest.raises(kind) as caught:
        fetch(url)
    assert list(places.iterdir()) == []
    return str(caught.value)


@pytest.mark.slow
def test_scores_from_s3_are_those_of_the_directory(bucket, campaign, places, capsys):
    url = bucket.put_directory(campaign, "deep/campaign")
    assert answer(capsys, "score", url) == answer(capsys, "score", str(campaign))
    copied = next(places.glob("*/campaign"))
    assert sorted(path.name for path in copied.iterdir()) == sorted(path.name for path in campaign.iterdir())
    assert gapline.read(url).digest() == gapline.open(campaign).digest()
    # It was fetched once for all of that.
    assert len(list(places.iterdir())) == 1


def test_traces_references_and_snapshots_may_be_urls(bucket, campaign, tmp_path, capsys):
    rows = [
        f"{run['arm']},{run['instance']},{run['seed']},{time},{objective},10"
        for run in RUNS
        for time, objective in run["trace"]
    ]
    table = "\n".join(["arm,instance,seed,time,objective,horizon", *rows, ""])
    (tmp_path / "traces.csv").write_text(table)
    (tmp_path / "refs.csv").write_text("instance,value\ni1,7.0\ni2,6.5\n")
    half = table.splitlines(keepends=True)
    split = 1 + len(rows) // 2
    bucket.put("halves/one.csv", "".join(half[:split]).encode())
    bucket.put("halves/two.csv", "".join([half[0], *half[split:]]).encode())
    traces = bucket.put("traces.csv", table.encode())
    references = bucket.put("refs.csv", (tmp_path / "refs.csv").read_bytes())
    snapshot = bucket.put("best.json", (campaign / "references.json").read_bytes())
    here = answer(capsys, "score", str(tmp_path / "traces.csv"), "--references", str(tmp_path / "refs.csv"))
    assert answer(capsys, "score", traces, "--references", references) == here
    assert answer(capsys, "score", f"{bucket.url}/halves/*.csv", "--references", references)["runs"] == here["runs"]
    scored = answer(capsys, "score", traces, "--snapshot", snapshot)
    assert scored["runs"] == here["runs"]
    assert scored["reference"]["name"] == "best"
    # What has changed since is fetched again.
    bucket.put("traces.csv", table.replace(",10\n", ",20\n").encode())
    assert {row["horizon"] for row in answer(capsys, "score", traces, "--snapshot", snapshot)["runs"]} == {20.0}


def test_an_object_that_is_missing_truncated_or_another_is_named(bucket, campaign, places, capsys):
    url = bucket.put_directory(campaign, "campaign")
    whole = bucket.get("campaign/objective.npy")
    bucket.put("campaign/objective.npy", whole[:-8])
    said = refused(IntegrityError, url, places)
    assert said.startswith(f"{url}/objective.npy: expected sha256:")
    assert f"of {len(whole) - 8:,} bytes" in said
    bucket.put("campaign/objective.npy", whole[:-8] + bytes(8))
    assert f"of {len(whole):,} bytes" in refused(IntegrityError, url, places)
    bucket.delete("campaign/objective.npy")
    assert refused(TraceError, url, places).startswith(f"{url}/objective.npy: expected an object, got none")
    assert run(["score", url]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    bucket.put("campaign/objective.npy", whole)
    assert gapline.read(url).digest() == gapline.open(campaign).digest()


def test_what_is_not_there_is_said_in_one_sentence(bucket, places):
    for url in ("s3://results/nothing", "s3://no-such-bucket/campaign"):
        said = refused(TraceError, url, places)
        assert said == f"{url}: expected a campaign directory (manifest.json) or a file, got no such object"
    with pytest.raises(TraceError, match="expected objects that match, got none"):
        gapline.read("s3://results/*.csv")
    assert "expected a URL that fsspec knows" in refused(TraceError, "nonsense://x/y", places)
    bucket.put("broken/manifest.json", b"{")
    assert "s3://results/broken/manifest.json: expected JSON" in refused(TraceError, "s3://results/broken", places)
    # A name that leads elsewhere is never followed.
    bucket.put(
        "evil/manifest.json", json.dumps({"schema": "gapline.campaign/1", "files": {"../x": "sha256:0"}}).encode()
    )
    assert "expected files of a campaign, got ../x" in refused(IntegrityError, "s3://results/evil", places)
    part = {"seal": "", "runs": 0, "candidates": 0}
    bucket.put("evil/manifest.json", json.dumps({"schema": "gapline.campaign/2", "parts": {"../x": part}}).encode())
    assert "expected parts named part-0000" in refused(TraceError, "s3://results/evil", places)


def test_without_credentials_or_an_answer_the_environment_lacks_something(bucket, campaign, places, monkeypatch):
    url = bucket.put_directory(campaign, "campaign")
    import fsspec

    kind = fsspec.get_filesystem_class("s3")
    kind.clear_instance_cache()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    said = refused(EnvironmentLacksError, url, places)
    assert "expected to be let in" in said
    assert "Hint: credentials are taken from AWS_ACCESS_KEY_ID" in said
    kind.clear_instance_cache()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    # Nobody listens there.
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert "expected an answer of the store" in refused(EnvironmentLacksError, url, places)
    kind.clear_instance_cache()


def parted(folder):
    """Two campaigns side by side under a manifest that lists their seals."""
    halves = [Campaign.from_runs(RUNS[6 * number : 6 * number + 6]) for number in range(2)]
    return save_parts([Part(half) for half in halves], folder).directory


@pytest.mark.slow
def test_parts_come_one_by_one_each_verified(bucket, tmp_path, places):
    folder = parted(tmp_path / "whole")
    url = bucket.put_directory(folder, "whole")
    copied = fetch_campaign(url)
    assert gapline.open(url).digest() == gapline.open(folder).digest()
    there = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {str(path.relative_to(copied)): path.read_bytes() for path in copied.rglob("*") if path.is_file()} == there
    for place in places.iterdir():
        for path in sorted(place.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        place.rmdir()
    # A part that is another one by now, and one that is gone.
    bucket.put("whole/part-0001/manifest.json", (folder / "part-0000" / "manifest.json").read_bytes())
    assert f"{url}/part-0001: expected the part with the seal" in refused(IntegrityError, url, places)
    for path in (folder / "part-0001").iterdir():
        bucket.delete(f"whole/part-0001/{path.name}")
    said = refused(TraceError, url, places)
    assert said.startswith(f"{url}/part-0001/manifest.json: expected an object, got none")


def test_a_campaign_that_is_replaced_while_it_is_fetched_is_fetched_anew(bucket, campaign, monkeypatch):
    url = bucket.put_directory(campaign, "campaign")
    other = save_campaign(Campaign.from_runs(RUNS[:3]), campaign.with_name("other"))
    listed, calls = remote._fetch_listed, []

    def replace_first(*given):
        if not calls:
            bucket.put_directory(other, "campaign")
        calls.append(given)
        return listed(*given)

    monkeypatch.setattr(remote, "_fetch_listed", replace_first)
    assert gapline.read(url).digest() == gapline.open(other).digest()
    assert len(calls) == 2


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_other_stores_are_read_in_the_same_way(scheme, campaign):
    import fsspec

    url = f"file://{campaign}" if scheme == "file" else "memory://here/campaign"
    if scheme == "memory":
        files = fsspec.filesystem("memory")
        for path in campaign.iterdir():
            files.pipe_file(f"/here/campaign/{path.name}", path.read_bytes())
    assert gapline.read(url).digest() == gapline.open(url).digest() == gapline.open(campaign).digest()
    assert gapline.Snapshot.load(f"{url}/references.json").name == "best"


SCRIPT = """
import sys
from gapline.campaign.remote import fetch
print(fetch(sys.argv[1]))
"""


def test_copies_are_gone_when_the_process_is(campaign):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, f"file://{campaign}"], capture_output=True, text=True, check=True
    )
    copy = Path(done.stdout.strip())
    assert copy.name == "campaign"
    assert not copy.parent.exists()


COMMAND = "import sys; from gapline.cli import main; sys.exit(main())"


@pytest.mark.slow
def test_a_missing_package_is_named_with_the_command_that_installs_it(tmp_path):
    """Without fsspec, and with it but without the package of the store."""
    for module in ("fsspec", "s3fs"):
        blocked = tmp_path / module
        blocked.mkdir()
        (blocked / f"{module}.py").write_text("raise ImportError('not here')")
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, "score", "s3://bucket/campaign"],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": str(blocked)},
        )
        assert done.returncode == 3, done.stderr
        assert "s3://bucket/campaign: " in done.stderr
        assert "Hint: pip install 'gapline[cloud]'" in done.stderr
        assert "Traceback" not in done.stderr


def test_paths_are_no_urls(tmp_path):
    assert not is_url(str(tmp_path))
    assert not is_url(Path("s3://x"))
    assert local_path(str(tmp_path)) == tmp_path

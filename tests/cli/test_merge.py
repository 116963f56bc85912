"""`gapline merge` keeps the content, and an export of it too."""

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

import base64
import json
import zlib

import numpy as np

import gapline as gl
from gapline.report.page.data import page_data
from report.page_study import make_campaign, make_study
from report.report_studies import report_of


def test_what_a_kernel_of_the_users_own_says_of_each_step_is_among_the_data():
    campaign, references = make_campaign()
    gl.register_kernel("page-log", lambda z, reference: np.log(z / reference), before=5.0, replace=True)
    snapshot = gl.Snapshot.from_values(references, name="known")
    study = gl.open_study(campaign, snapshots=[snapshot], kernels=["page-log", "squeezed"], policy="both", draws=10)
    data = page_data(study)
    (own, ours) = data.head["kernels"]
    assert (own["name"], own["kind"], own["before"]) == ("page-log", "custom", 5.0)
    assert "gaps" not in ours
    block = zlib.decompress(base64.b64decode(data.blocks["steps"]))
    columns, place = {}, 0
    for column in data.head["blocks"]["steps"]:
        size = column["length"] * column["width"]
        planes = np.frombuffer(block[place : place + size], np.uint8).reshape(column["width"], -1).astype(np.float64)
        columns[column["name"]] = sum(plane * 256.0**k for k, plane in enumerate(planes))
        place += size
    steps = sum(int(count) for count in study.envelopes.runs["count"])
    for entry, gaps in zip(study.references, own["gaps"], strict=True):
        units = columns[gaps["column"]]
        found = np.where(units % 2, -(units + 1) / 2, units / 2) / 10.0 ** gaps["decimals"]
        values = [
            np.log(z / entry.snapshot.values[name].value)
            for row, name in enumerate(study.envelopes.runs["instance"])
            for z in study.envelopes.steps(row)[1]
        ]
        assert len(found) == len(values) == steps
        assert np.allclose(np.sort(found), np.sort(values), atol=1e-12, rtol=0)


def test_the_head_has_the_choices_and_the_engine_s_rules():
    study = make_study(weight="early-log:0.5")
    head = page_data(study).head
    assert head["arms"] == ["alpha", "beta", "gamma"]
    assert head["units"]["name"] == ["l1", "l2", "s1", "s2", "s3"]
    assert (head["tolerance"], head["weighting"], head["level"]) == (study.tolerance, "panel", 0.95)
    assert head["weight"] == {
        "name": "early-log:0.5", "kind": "early_log", "cutoff": 0.5, "edges": [0.0], "values": [1.0],
    }  # fmt: skip
    assert [snapshot["digest"] for snapshot in head["snapshots"]] == [e.snapshot.digest for e in study.references]


def test_the_runs_are_in_the_order_of_their_instances_with_large_seeds_as_text():
    runs = [
        {"arm": arm, "instance": instance, "seed": 2**60 + 1, "horizon": 9, "trace": [(1, 12.0)]}
        for arm in ("a", "b")
        for instance in ("j", "i")
    ]
    study = report_of(gl.Campaign.from_runs(runs), gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="known"))
    table = json.loads(zlib.decompress(base64.b64decode(page_data(study).blocks["runs"])))
    assert table["unit"] == [0, 0, 1, 1]
    assert set(table["seed"]) == {"1152921504606846977"}

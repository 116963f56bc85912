import gapline as gl
from gapline.study.analyse import analyse


def runs(*rows, horizons=None):
    return [
        {"arm": arm, "instance": instance, "seed": 1, "panel": "p", "horizon": (horizons or {}).get(instance, 10.0),
         "trace": [(*step, True) for step in trace]}
        for arm, instance, trace in rows
    ]  # fmt: skip


def test_snapshots_of_one_name_are_told_apart_by_their_digests():
    one, other = (gl.Snapshot.from_values({"i": value}, name="mine") for value in (1.0, 2.0))
    study = gl.open_study(gl.Campaign.from_runs(runs(("a", "i", [(1, 12)]))), snapshots=[one, other])
    names = list(analyse(study).labels)
    assert len(set(names)) == len(names) == 3
    assert all(name.startswith("mine") for name in names)

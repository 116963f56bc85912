"""Real time-dependent instances, real routes, the real referee; the store is a git history that the test writes."""

import json
import re
import sys

import pytest

from gapline.errors import EnvironmentLacksError
from gapline.references.freeze import Moved, freeze
from references.history import History

pytest.importorskip("mamut_routing_lib")

ROUTES = [[1, 2], [3]]


def write_instance(history, base, *, pinned=True, sidecar=True, capacity=10):
    from mamut_routing_lib.td import InstanceATFs, build_arc_atf, compute_atf_sha256, save_instance_atfs

    name = base.rpartition("/")[2]
    horizon = (0.0, 1000.0)
    zones, speeds = [(0.0, 300.0), (300.0, 1000.0)], [1.0, 2.0]
    points = [(0, 0), (30, 40), (60, 80), (0, 50)]
    arcs = {
        (i, j): build_arc_atf(zones, speeds, ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5, horizon)
        for i, a in enumerate(points)
        for j, b in enumerate(points)
        if i != j
    }
    atfs = InstanceATFs(name, "Dabia2013", horizon, 3, arcs)
    file = history.folder / f"{base}.atf.json.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    if sidecar:
        save_instance_atfs(atfs, file)
    td = {"model": "atf-ndcpwlf", "atf_path": f"{name}.atf.json.gz"}
    if pinned:
        td["atf_sha256"] = compute_atf_sha256(atfs)
    document = {
        "instance_name": name,
        "instance_origin": "Solomon1987",
        "benchmark_name": "Dabia2013",
        "num_customers": 3,
        "vehicle_capacity": capacity,
        "coordinates": points,
        "demands": [0, 5, 5, 5],
        "service_times": [0, 10, 10, 10],
        "horizon": horizon,
        "time_windows": [(0, 1000)] * 4,
        "td": td,
    }
    history.put(f"{base}.vrp.json", document)


def true_cost(history, base):
    from mamut_routing_lib.models import BenchmarkSolution
    from mamut_routing_lib.td import check_td_solution, load_td_instance

    loaded = load_td_instance(history.folder / f"{base}.vrp.json")
    result = check_td_solution(loaded, BenchmarkSolution(instance_name=loaded.instance.instance_name, routes=ROUTES))
    assert result.is_valid()
    return result.routing_cost


@pytest.fixture
def history(tmp_path):
    return History(tmp_path / "repo")


def reprice(history, **options):
    history.commit("01-01")
    return freeze(f"mamut:{history.folder}@main", name="x", objective="Duration", reprice=True, **options)


def test_values_that_move_and_routes_that_are_infeasible_are_listed(history):
    for name in ("right", "bits", "moved", "certified", "infeasible", "malformed"):
        write_instance(history, f"F/n=3/{name}", capacity=9 if name == "infeasible" else 10)
    cost = true_cost(history, "F/n=3/right")
    history.bks("F/n=3/right", cost, routes=ROUTES, proven=cost)
    history.bks("F/n=3/bits", cost * (1 + 1e-14), routes=ROUTES, proven=cost)
    history.bks("F/n=3/moved", cost + 1, routes=ROUTES)
    history.bks("F/n=3/certified", cost + 2, routes=ROUTES, proven=cost + 2)
    history.bks("F/n=3/infeasible", cost, routes=ROUTES)
    history.bks("F/n=3/malformed", cost, routes=[[1, 1], [2, 3]])
    frozen = reprice(history)
    found = {moved.instance: moved for moved in frozen.moved}
    assert set(found) == {f"n=3/{name}" for name in ("moved", "certified", "infeasible", "malformed")}
    assert found["n=3/moved"] == Moved("n=3/moved", cost + 1, cost, "")
    assert found["n=3/certified"].reason == "certificate withdrawn"
    assert found["n=3/infeasible"].repriced is None
    assert "apacity" in found["n=3/infeasible"].reason
    assert found["n=3/malformed"].reason.startswith("malformed routes")
    values = frozen.snapshot.values
    assert {name.removeprefix("n=3/"): entry.value for name, entry in values.items()} == {
        "right": cost, "bits": cost, "moved": cost, "certified": cost, "infeasible": None, "malformed": None,
    }  # fmt: skip
    certified = [name for name, entry in values.items() if entry.certified]
    assert certified == ["n=3/bits", "n=3/right"], "the last bits do not cost a certificate"
    assert values["n=3/moved"].more["stored"] == cost + 1
    assert re.fullmatch(r"mamut-routing-lib [0-9.]+, td-fold/[0-9]+", frozen.snapshot.checker)


def test_the_tolerance_decides_what_moved(history):
    write_instance(history, "F/n=3/A")
    cost = true_cost(history, "F/n=3/A")
    history.bks("F/n=3/A", cost * (1 + 1e-6), routes=ROUTES)
    assert len(reprice(history).moved) == 1
    assert reprice(history, tolerance=1e-5).moved == ()


def test_what_cannot_be_priced_keeps_the_stored_value_and_is_listed(history):
    write_instance(history, "F/n=3/bare", sidecar=False)
    write_instance(history, "F/n=3/fine", pinned=False)
    write_instance(history, "F/n=3/other")
    file = history.folder / "F/n=3/other.vrp.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"horizon": [0, 999]}))
    cost = true_cost(history, "F/n=3/fine")
    for name in ("bare", "fine", "other", "lonely"):
        history.bks(f"F/n=3/{name}", cost, routes=ROUTES)
    frozen = reprice(history)
    assert frozen.moved == ()
    assert {entry.value for entry in frozen.snapshot.values.values()} == {cost}
    (note,) = [note for note in frozen.notes if "re-priced" in note]
    assert note.startswith("solutions that could not be re-priced: 3 (")
    assert "n=3/bare (no sidecar bare.atf.json.gz)" in note
    assert "n=3/lonely (no instance beside it)" in note
    assert "n=3/other (sidecar horizon" in note
    assert [name for name, entry in frozen.snapshot.values.items() if "priced_by" in entry.more] == [
        "n=3/bare", "n=3/lonely", "n=3/other",
    ]  # fmt: skip


def test_a_missing_extra_names_the_pip_command(history, monkeypatch):
    history.bks("F/n=3/A", 1.0)
    monkeypatch.setitem(sys.modules, "mamut_routing_lib.td", None)
    with pytest.raises(EnvironmentLacksError, match=r"pip install 'gapline\[routing\]'"):
        reprice(history)

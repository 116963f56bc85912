"""Which instances lie among files."""

import gzip

import pytest

from gapline.errors import UsageError
from gapline.generate.instance_files import find_instances
from gapline.generate.write import setcover_files
from generate.file_trees import VRPLIB, Tree, cvrp, mamut, solomon
from generate.test_files import POINTER


def find(files, root="", **choices):
    return find_instances(Tree(files, root), where="here", **choices)


def facts(found):
    return {one.name: (one.problem, one.size) for one in found.instances}


def test_each_problem_is_known_by_its_files():
    assert facts(find(cvrp("X-n12", 12))) == {"X-n12": ("cvrp", 12)}
    assert facts(find(solomon("C101", 9))) == {"C101": ("vrptw", 9)}
    windows = VRPLIB.format("w", "VRPTW", 4) + "TIME_WINDOW_SECTION\n"
    assert facts(find({"w.vrp": windows.encode(), "v.txt": windows.replace("\n", "\r\n").encode()})) == {
        "v": ("vrptw", 3),
        "w": ("vrptw", 3),
    }
    assert facts(find(mamut("n=20/A", 20))) == {"n=20/A": ("tdvrptw", 20)}
    model = setcover_files("s", 8)["s.mps"]
    found = find({"s.mps": model, "f/t.mps.gz": gzip.compress(model)})
    assert facts(found) == {"f/t": ("mip", 8), "s": ("mip", 8)}
    assert [one.suffix for one in found.instances] == [".mps.gz", ".mps"]
    assert {one.sense for one in found.instances} == {"min"}
    assert find({"m.lp": b"max\n obj: x + y\nst\n c: x + y <= 1\nend\n"}).instances[0].sense == "max"


def test_names_begin_at_the_root_and_solutions_are_no_instances():
    files = mamut("data/Fam/n=5/A", 5) | {"data/Fam/n=5/A.bks.Duration.json": b"{}", "x.vrp": b""} | cvrp("Y", 3)
    assert facts(find(files, "data/Fam")) == {"n=5/A": ("tdvrptw", 5)}
    assert list(facts(find(files, suffix=".vrp.json"))) == ["data/Fam/n=5/A"]


def test_patterns_choose_by_name_before_anything_is_read():
    files = {**mamut("n=5/A", 5), **mamut("n=5/B", 5), **mamut("n=9/A", 9), "n=9/B.vrp.json": None}
    found = find(files, include=["n=5/*", "n=9/A"], exclude=["*/B"])
    assert (list(facts(found)), found.passed_over, found.left_out) == (["n=5/A", "n=9/A"], 2, {})
    with pytest.raises(UsageError, match="fit --include and --exclude, got none of 4") as error:
        find(files, include=["n=6/*"])
    assert error.value.hint == "there are: n=5/A, n=5/B, n=9/A and 1 more"


def test_what_cannot_be_used_is_left_out_by_name_and_reason():
    files = {
        **mamut("n=5/A", 5),
        **mamut("n=5/static", 5, td=False),
        **mamut("n=5/unfetched", 5, atf=None),
        **mamut("n=5/pointer", 5, atf=POINTER),
        "n=5/absent.vrp.json": b'{"num_customers": 5, "td": {"atf_path": "no.atf.json.gz"}}',
        "n=5/broken.vrp.json": b"{",
        "n=5/large.vrp.json": POINTER,
        "tsp.vrp": VRPLIB.format("t", "TSP", 5).encode(),
        "limited.vrp": (VRPLIB.format("t", "CVRP", 5) + "DISTANCE : 200\n").encode(),
        "decimal.vrp": (VRPLIB.format("t", "CVRP", 2) + "EDGE_WEIGHT_SECTION\n0.0 1.5\n1.5 0.0\nEOF\n").encode(),
        "halves.txt": solomon("h", 3)["h.txt"].replace(b"      50 ", b"    50.5 "),
        "empty.vrp": b"",
        "bad.mps": b"nothing",
    }
    found = find(files)
    assert list(facts(found)) == ["n=5/A"]
    assert found.left_out == {
        "without a sidecar that they name": ["n=5/absent", "n=5/pointer", "n=5/unfetched"],
        "without time-dependent travel times, which no checker here prices in .vrp.json": ["n=5/static"],
        "not MAMUT instances": ["n=5/broken"],
        "not in the clone: a large file that was not fetched": ["n=5/large"],
        "of TYPE TSP, which no checker here prices": ["tsp"],
        "with a limit on the length of a route (DISTANCE), which no checker here has": ["limited"],
        "with weights that are not whole numbers, which no checker here prices": ["decimal"],
        "with coordinates or times that are not whole numbers, which no checker here prices": ["halves"],
        "not VRPLIB instances: no DIMENSION": ["empty"],
        "neither MPS nor LP to HiGHS, which reads them plain or .gz": ["bad"],
    }


def test_nothing_found_several_problems_and_names_twice_are_refused():
    with pytest.raises(UsageError, match="here: expected instances, got none among 1 files"):
        find({"README.txt": b"hello"})
    with pytest.raises(UsageError, match=r"expected instances, got 1 not VRPLIB instances: no DIMENSION \(a\)"):
        find({"a.vrp": b"hello"})
    with pytest.raises(UsageError, match=r"that can be used, got 1 without a sidecar that they name \(A\)"):
        find(mamut("A", 3, atf=None))
    both = cvrp("a", 3) | solomon("b", 3)
    with pytest.raises(UsageError, match=r"expected instances of one problem, got cvrp \(1\), vrptw \(1\)"):
        find(both)
    chosen = find(both, problem="cvrp")
    assert (list(facts(chosen)), chosen.left_out) == (["a"], {"of another problem": ["b"]})
    with pytest.raises(UsageError, match=r"expected instances of mip, got cvrp \(1\), vrptw \(1\)"):
        find(both, problem="mip")
    model = setcover_files("s", 4)["s.mps"]
    with pytest.raises(UsageError, match=r"expected one file of each name, got s\.mps and s\.mps\.gz"):
        find({"s.mps": model, "s.mps.gz": gzip.compress(model)})


def test_sidecars_are_found_beside_by_habit_and_from_the_root_of_a_collection():
    habit = {"A.vrp.json": b'{"num_customers": 3, "td": {"model": "x"}}', "A.atf.json": b"f"}
    assert find(habit).instances[0].sidecars == {"A.atf.json": "A.atf.json"}
    road = b'{"num_customers": 3, "td": {"road": {"path": "net/r.json"}}}'
    shared = {"top/mamut-collection.json": b"{}", "top/net/r.json": b"r", "top/Fam/n=3/A.vrp.json": road}
    # Above the family: the folder of instances takes the place of the root. Inside it: where it is.
    marker, net = "top/mamut-collection.json", "top/net/r.json"
    above = find(shared, "top/Fam").instances[0]
    assert above.sidecars == {"net/r.json": net, "mamut-collection.json": marker}
    inside = find(shared, "").instances[0]
    assert inside.sidecars == {"top/net/r.json": net, "top/mamut-collection.json": marker}


def test_progress_counts_what_is_read():
    told = []
    find(mamut("A", 3) | mamut("B", 3), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]

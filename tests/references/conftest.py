import pytest

from references.history import History, git


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Names repeat across sizes; then a certificate, its retraction, a regenerated instance, a renamed folder."""
    history = History(tmp_path_factory.mktemp("store") / "repo")
    old = "benchmarks/TDVRPTW/Fam"
    for base, cost in (("n=20/A-1", 100.0), ("n=20/A-2", 50.5), ("n=50/A-1", 300.0)):
        history.put(f"{old}/{base}.vrp.json", f'{{"instance_name": "A-1", "seed": "{base}"}}')
        history.bks(f"{old}/{base}", cost)
    history.bks(f"{old}/n=20/A-1", 7.0, objective="FleetCostDuration")
    commits = {"first": history.commit("02-01", tag="v1")}
    history.bks(f"{old}/n=20/A-1", 90.0, authors="B. Better", proven=90.0)
    history.bks(f"{old}/n=20/A-2", 50.5, proven=50.5)
    commits["certified"] = history.commit("03-01")
    history.bks(f"{old}/n=20/A-2", 50.5)
    commits["retracted"] = history.commit("04-01")
    history.put(f"{old}/n=50/A-1.vrp.json", '{"instance_name": "A-1", "seed": "again"}')
    history.bks(f"{old}/n=50/A-1", 333.0)
    commits["regenerated"] = history.commit("05-01")
    git(history.folder, "mv", "benchmarks", "data")
    (history.folder / "data/families").mkdir()
    git(history.folder, "mv", "data/TDVRPTW/Fam", "data/families/Fam")
    history.bks("data/families/Fam/n=20/A-3", 12.0)
    commits["renamed"] = history.commit("06-01", tag="v2")
    return history.folder, commits

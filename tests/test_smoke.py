"""One test each with a real browser and a real cluster in `make test`; the solvers have theirs in `solvers/`."""

import json

import pytest

from dask_cluster import wait_for_workers
from gapline.cli import app

TRACES = "arm,instance,seed,time,objective,horizon,valid\n" + "".join(
    f"{arm},{instance},1,{time},{objective},10,true\n"
    for arm, offset in (("swift", 0), ("steady", 2))
    for instance in ("p1", "p2", "p3")
    for time, objective in ((1, 130 + offset), (4, 110 + offset), (8, 100 + offset))
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces.csv").write_text(TRACES)
    (tmp_path / "refs.csv").write_text("instance,value\np1,100\np2,100\np3,100\n")
    return tmp_path


def run(capsys, *words):
    assert app.run(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.smoke
def test_a_browser_shows_the_page_of_a_report(place, browser, capsys):
    run(capsys, "report", "traces.csv", "--references", "refs.csv", "-o", "out")
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((place / "out" / "report.html").as_uri())
    page.wait_for_selector("svg, canvas")
    text = page.inner_text("body")
    page.close()
    assert errors == []
    assert "swift" in text
    assert "steady" in text


@pytest.mark.smoke
@pytest.mark.usefixtures("place")
def test_workers_of_dask_score_as_this_process_does(scheduler, start_worker, capsys):
    run(capsys, "import", "traces.csv", "-o", "campaign")
    words = ["score", "campaign", "--references", "refs.csv", "--json", "--per-run"]
    here = json.loads(run(capsys, *words))
    start_worker(scheduler)
    wait_for_workers(scheduler, 1)
    assert json.loads(run(capsys, *words, "--on", f"dask:{scheduler}")) == here

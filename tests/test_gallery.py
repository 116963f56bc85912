"""The gallery: each exhibit from start to page, small; and what a page says follows from its numbers."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from campaigns.gallery import assignment, gate, mip, notebook, page, routing, threads, undisturbed
from campaigns.gallery.__main__ import EXHIBITS
from campaigns.gallery.sentences import difference_words, means

import gapline as gl
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract

pytest.importorskip("kayros")
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "gallery"


@pytest.fixture(scope="module")
def notebook_page(tmp_path_factory):
    """The whole way of the exhibit that needs no solver: cells, recording, report, pictures, page."""
    folder = tmp_path_factory.mktemp("gallery")
    source = notebook.EXHIBIT.prepare(folder / "notebook", True)
    return source, page.write_exhibit(notebook.EXHIBIT, source, folder / "docs")


@pytest.mark.slow
def test_a_page_has_question_contract_three_pictures_and_what_one_learns(notebook_page):
    source, written = notebook_page
    text = written.read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == ["The contract", "What came out", "Three pictures", "What one learns", "How it was measured"]
    pictures = re.findall(r"!\[.*\]\((.*)\)", text)
    assert len(pictures) == 3
    assert all((written.parent / name).read_text().startswith("<svg") for name in pictures)
    study = gl.open_study(source, **notebook.EXHIBIT.choices)
    best, score = next(iter(means(study.scores[0], weighting="panel").items()))
    assert f"By the score: {best} {score:.5f}" in text
    assert "in one process that nobody watched" in text
    # Recorded once: a second call reads what is there.
    before = source.read_bytes()
    assert notebook.EXHIBIT.prepare(source.parent, True).read_bytes() == before


@pytest.mark.slow
def test_the_notebook_is_one(notebook_page):
    """Its cells are those that ran, in the layout of version 4, without outputs."""
    source, _ = notebook_page
    document = json.loads(notebook.notebook())
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert ["".join(cell["source"]) for cell in document["cells"]] == [text for _, text in notebook.cells()]
    assert json.loads((source.parent / "annealing.ipynb").read_text()) == document


def test_every_contract_is_whole(tmp_path, monkeypatch):
    """With instances, references and solvers as they are; nothing is run."""

    monkeypatch.setattr(routing, "calibrate", lambda *_args, **_more: gl.Snapshot.from_values({"i": 1.0}, name="c"))
    (tmp_path / "routing/references").mkdir(parents=True)
    for module in (gate, mip, routing, threads):
        exhibit = module.EXHIBIT
        folder = exhibit.prepare(tmp_path / exhibit.name, True)
        contract = load_contract(folder, files=True)
        panels = [instance.panel for instance in contract.instances]
        assert min(map(panels.count, panels)) >= 2, "several instances in each panel"
        assert len(set(panels)) >= 2
        assert Plan.of(contract).cells
        assert exhibit.contract(folder).startswith("```toml\nseeds = ")
        assert len(exhibit.pictures) == 3


@pytest.mark.slow
def test_the_sets_of_mip_have_optima_of_every_sign(tmp_path):
    """Asked of a solver, not of whoever drew them."""
    highspy = pytest.importorskip("highspy")

    mip.EXHIBIT.prepare(tmp_path, True)
    signs = {}
    for path in sorted((tmp_path / "instances").glob("*.mps")):
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(path))
        solver.run()
        signs.setdefault(path.name.partition("-")[0], set()).add(float(solver.getInfo().objective_function_value))
    assert all(value > 0 for value in signs["cover"])
    assert all(value < 0 for value in signs["profit"])
    assert signs["balance"] == {0.0}


def test_the_planted_mistake_changes_the_pace_and_nothing_else():
    problem = assignment.draw(9, "test")
    quick = [(value, list(place)) for value, place in assignment.search(*problem, 3, 500)]
    slow = [(value, list(place)) for value, place in assignment.search(*problem, 3, 500, slow=True)]
    assert quick == slow
    assert len(quick) > 3
    assert all(assignment.cost(*problem, place) == value for value, place in quick)


def test_sentences_follow_the_numbers_whichever_way_they_come_out():
    row = {"a": "new", "b": "old", "difference": -0.2, "low": -0.3, "high": -0.1, "instances": 8, "reason": None}
    assert difference_words(row) == "new is better than old by 0.20000 [0.10000, 0.30000], shown on 8 instances"
    worse = row | {"difference": 0.2, "low": 0.1, "high": 0.3}
    assert difference_words(worse).startswith("new is worse than old by 0.20000 [0.10000, 0.30000]")
    assert "no difference is shown" in difference_words(row | {"high": 0.1})
    assert "without an interval (one)" in difference_words(row | {"low": None, "high": None, "reason": "one"})


def test_disturbed_runs_are_run_again_until_there_are_none(tmp_path, monkeypatch):
    """Twice beside each other, then one at a time, and no more often than asked."""
    left, calls = [3, 2, 1, 0], []

    class Whole:
        left = 0

    monkeypatch.setattr(undisturbed, "run_study", lambda _study, **how: calls.append(how) or Whole())
    monkeypatch.setattr(undisturbed, "disturbed", lambda _study: left[len(calls) - 1])
    assert undisturbed.run_undisturbed(tmp_path, rounds=6) == 0
    assert [(how.get("rerun_noisy", False), how.get("jobs")) for how in calls] == [
        (False, None), (True, None), (True, None), (True, 1),
    ]  # fmt: skip


def test_a_picture_that_is_too_large_is_refused(notebook_page, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "LARGEST", 10)
    monkeypatch.setattr(page, "write_report", lambda _study, folder, **_how: folder)
    source, _ = notebook_page
    with pytest.raises(SystemExit, match=r"expected at most 10 bytes, got"):
        page.write_exhibit(replace(notebook.EXHIBIT, learned=lambda _study: []), source, tmp_path)


def test_the_published_pages_are_of_undisturbed_runs_and_have_their_pictures():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for name, exhibit in EXHIBITS.items():
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert f"[{exhibit.title}]({name}.md)" in index
        for picture in re.findall(r"!\[.*\]\((.*)\)", text):
            assert 0 < (DOCS / picture).stat().st_size <= 300_000
        assert name == "notebook" or re.search(r"- 0 (of [\d,]+ )?runs were disturbed", text)

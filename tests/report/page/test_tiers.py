"""The page describes tier 2: it ranks, tests, bolds and names compared arms alone, with and without script."""

import pytest

import gapline as gl
from gapline.report.page.build import write_page
from report.page_study import make_study
from report.report_studies import hierarchical, report_of


@pytest.fixture(scope="module")
def tiered(tmp_path_factory):
    """Alpha, the best of three, is descriptive."""
    return write_page(make_study(tier_two=["alpha"], contrasts=[]), tmp_path_factory.mktemp("tiers") / "page.html")


@pytest.mark.slow
def test_a_descriptive_arm_has_no_rank_no_bold_no_test_and_no_headline(open_page, tiered):
    page = open_page(tiered)
    for choice in ({}, {"kernel": "maxform"}, {"snapshot": 1}):
        page.choose(**choice)
        ranking = page.table("ranking")
        assert [(row["rank"], row["arm"].split(" ")[0]) for row in ranking][-1] == ("–", "alpha")
        assert ranking[-1]["arm"] == "alpha (descriptive)"
        assert sorted(row["rank"] for row in ranking[:-1]) == ["1", "2"]
        assert page.page.locator('#ranking tr[data-arm="alpha"] td.best').count() == 0
        assert not any("alpha" in (row["arm a"], row["arm b"]) for row in page.table("contrast-table"))
        assert "alpha" not in page.text("#headline")
        assert "alpha" not in page.page.locator(".card").first.text_content()
        for name in ("panel-table", "instance-table"):
            column = [head.strip() for head in page.page.locator(f"#{name} thead th").all_text_contents()].index(
                "alpha"
            )
            cells = page.page.locator(f"#{name} tbody td:nth-child({column + 1})")
            assert not any("best" in (cell.get_attribute("class") or "") for cell in cells.all())


def test_the_first_screen_says_the_same_before_and_after_the_script(open_page, tiered):
    before, after = open_page(tiered, java_script_enabled=False), open_page(tiered)
    for place in ("#headline", "#subline"):
        assert before.text(place) == after.text(place)
    assert before.page.locator(".card").all_text_contents() == after.page.locator(".card").all_text_contents()
    rows = [line.locator("td").all_text_contents() for line in before.page.locator("#ranking tbody tr").all()]
    shown = [[r["rank"], r["arm"], r["mean squeezed"], r["tier"]] for r in after.table("ranking")]
    assert [[*row[:3], row[6]] for row in rows] == shown
    assert [row[3] for row in shown] == ["1", "1", "2"]


def test_hidden_arms_leave_the_headline_to_those_shown_and_say_so(open_page, page_file):
    page = open_page(page_file)
    declared = page.text("#headline")
    assert "tier" not in page.table("ranking")[0], "where all arms are compared nobody asks"
    page.choose(kernel="maxform")
    assert page.text("#headline") != declared
    page.choose(kernel="squeezed")
    assert page.text("#headline") == declared
    page.change(page.page.locator('.arm[data-arm="alpha"]').click)
    assert "ahead" not in page.text("#headline")
    assert page.text("#headline").startswith("No significant difference between gamma and beta: ")
    assert page.text("#subline").startswith("Of the arms shown. ")
    assert declared in page.text("#subline")


def with_other_instances():
    """Return a study in which a and c ran four instances, b and d two of them; b is the best on each of its own."""
    best = {"a": 12.0, "b": 11.0, "c": 13.0, "d": 12.5}
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": 1, "horizon": 9, "trace": [(1, value + k / 10)]}
        for arm, value in best.items()
        for k in range(4 if arm in "ac" else 2)
    ]
    return report_of(
        gl.Campaign.from_runs(runs), gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(4)}, name="bks")
    )


def test_arms_with_other_instances_are_not_ranked_and_hiding_arms_keeps_the_rule(open_page, tmp_path):
    page = open_page(write_page(with_other_instances(), tmp_path / "page.html"))

    def rows():
        return [(row["rank"], row["arm"]) for row in page.table("ranking")]

    assert rows() == [("1", "a"), ("2", "c"), ("–", "b (other instances)"), ("–", "d (other instances)")]
    assert "b (2 of these 4), d (2 of these 4)" in page.text("#ranking-caption")
    assert page.text("#headline").startswith("a ")
    assert page.page.locator('#ranking tr[data-arm="b"] td.best').count() == 0
    assert [(row["arm a"], row["arm b"]) for row in page.table("contrast-table")] == [("a", "c")]
    for name, ranked in (
        ("a", [("1", "b"), ("2", "d"), ("–", "c (other instances)")]),
        ("d", [("–", "b"), ("–", "c")]),
    ):
        page.change(page.page.locator(f'.arm[data-arm="{name}"]').click)
        assert rows() == ranked
    assert page.text("#headline") == "No arm is ranked"
    assert "no two arms ran the same instances" in page.text("#ranking-caption").lower()
    assert page.page.locator("#instance-table td.by-arm.best").count() == 0


@pytest.mark.slow
def test_what_a_descriptive_arm_found_ranks_no_arms_that_found_nothing(open_page, tmp_path):
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": 1, "horizon": 9, "trace": [(1, 12.0)] if arm == "t" else []}
        for arm in "abt"
        for k in range(3)
    ]
    known = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(3)}, name="bks")
    study = report_of(gl.Campaign.from_runs(runs), known, tier_two=["t"])
    page = open_page(write_page(study, tmp_path / "page.html"))
    for choice in ({}, {"kernel": "maxform"}):
        page.choose(**choice)
        assert page.text("#headline") == "No arm is ranked"
        assert page.text("#subline") == "No run of a compared arm found a solution."
        assert [row["rank"] for row in page.table("ranking")] == ["–"] * 3


def test_statuses_that_nobody_states_are_not_called_crashes(open_page, tmp_path):
    runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 12.0)]} for arm in ("a", "b")]
    campaign = gl.Campaign.from_runs(runs)
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="known")
    study = report_of(campaign, snapshot)
    path = write_page(study, tmp_path / "page.html")
    for page in (open_page(path, java_script_enabled=False), open_page(path)):
        card = page.page.locator(".card").nth(1).text_content()
        assert "0 empty · 2 of unknown end" in card
        assert "crash" not in card


def test_both_parts_of_a_hierarchical_objective_stand_among_the_facts_of_a_run(open_page, tmp_path):
    page = open_page(write_page(hierarchical(), tmp_path / "page.html"))
    page.change(page.page.locator("#run-table tbody tr", has_text="b").locator("button").first.click)
    facts = page.page.locator("#run-facts").text_content()
    assert "best, primary part3.0" in facts
    assert "best, secondary part20.0" in facts


@pytest.mark.slow
def test_what_rounds_to_zero_has_no_sign_on_the_page(open_page, page_file):
    page = open_page(page_file)
    texts = page.page.evaluate("() => [-1e-9, -0, 0, 1e-9].map(x => [x.toFixed(5)])")
    assert texts[0] == ["-0.00000"], "the browser itself would print the sign"
    runs = [
        {"arm": a, "instance": "i", "seed": 1, "horizon": 9, "trace": [(0, z)]}
        for a, z in (("a", 10.0), ("b", 10 - 1e-7))
    ]
    campaign = gl.Campaign.from_runs(runs)
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="known")
    study = report_of(campaign, snapshot)
    zero = open_page(write_page(study, page_file.parent / "zero.html"))
    assert {row["mean squeezed"] for row in zero.table("ranking")} == {"0.00000"}
    assert {row["final gap"] for row in zero.table("ranking")} == {"0.00 %"}
    assert {row["a − b"] for row in zero.table("contrast-table")} == {"0.00000"}

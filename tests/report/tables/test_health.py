import gapline as gl
from gapline.report.tables.health import health_table
from gapline.study.health import health
from report.report_studies import rows_of, synthetic, synthetic_analyses


def test_health_counts_are_those_of_the_envelopes():
    runs = synthetic().envelopes.runs
    table = health_table(synthetic_analyses().health, validation="checker")
    total = sum(int(row["rejected"].text.replace(",", "")) for row in rows_of(table))
    assert total == runs["rejected"].sum() > 0


def test_where_nobody_says_how_runs_ended_nobody_says_that_none_crashed():
    runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "status": status, "trace": []}
            for arm, status in (("a", "unknown"), ("b", "crashed"))]  # fmt: skip
    campaign = gl.Campaign.from_runs(runs)
    table = health_table(health(campaign, gl.build_envelopes(campaign)), validation="solver")
    ends = {row["arm"].text: (row["crashed or killed"].text, row["unknown end"].text) for row in rows_of(table)}
    assert ends == {"a": ("–", "1"), "b": ("1", "0")}
    assert "Of 1 run the source does not say how they ended." in table.notes

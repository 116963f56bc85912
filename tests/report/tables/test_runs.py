from gapline.report.tables.health import run_frame, run_table
from report.report_studies import by_hand, hierarchical, rows_of


def test_both_parts_of_a_hierarchical_objective_stand_at_every_run():
    scores = hierarchical().scores[0]
    assert run_frame(scores).select("best_primary", "best_secondary").rows() == [(2, 50), (2, 40), (3, 20)]
    assert [row["best K"].text for row in rows_of(run_table(scores))] == ["2", "2", "3"]


def test_a_short_listing_says_how_many_runs_it_leaves_out_and_its_csv_has_them_all():
    table = run_table(by_hand().scores[0], most=3)
    assert [row["arm"].text for row in rows_of(table)] == ["a", "a", "a"]
    assert table.notes[-1] == "5 more runs: use --json"
    assert table.frame.height == 8


def test_a_goal_that_was_never_attained_has_no_time():
    """Of b on i, seed 1 ends 20 % above the reference; on j, seed 2 attains it at 2 s."""
    frame = run_frame(by_hand().scores[0]).filter(arm="b")
    hits = dict(frame.select("instance", "seed", "hit:0.01").rows_by_key("instance", unique=False))
    assert hits == {"i": [(1, None), (2, None)], "j": [(1, 0.0), (2, 2.0)]}

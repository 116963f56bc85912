"""Names of the columns of a goal."""

import gapline as gl
from scoring.prepared_runs import prepared


def test_goals_that_print_alike_are_kept_apart():
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(1, 10.10000005), (5, 10.09)]}]
    frame = gl.score(*prepared((runs, {"i": 10.0})), goals=[0.01, 0.01000001]).frame
    assert [frame[name][0] for name in frame.columns if name.startswith("hit:")] == [5.0, 1.0]

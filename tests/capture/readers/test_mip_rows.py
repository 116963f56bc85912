"""Single progress lines, and the moments of those that print none."""

import math

import pytest

from gapline.capture.readers.mip_rows import Number, Row, progress_rows, read_printed, read_stamp, stamp_rows


def test_a_printed_number_knows_its_last_digit():
    assert read_printed("2.1000e+09") == Number(2.1e9, 1e5)
    assert read_printed("2.1000e+09").may_be(2.100015e9)
    assert not read_printed("2.1000e+09").may_be(2.1001e9)
    assert read_stamp("12.5m") == Number(750.0, 6.0)
    assert read_stamp("-1s") is None


GUROBI = "H  312   201                    1800.0000000 1500.00000  16.7%  12.4    3s"
HIGHS = " T 0 0 0 0.00% -1350 -1205.5 9.42% 0 0 0 0 0.4s"
CPLEX = "*    12+    4                         1234.0000      1000.0000            18.96%"
CPLEX_CLOCK = "Elapsed time = 12.50 sec. (5000.00 ticks, tree = 1.00 MB, solutions = 2)"
CBC = "Cbc0004I Integer solution of 77 found after 12 iterations and 0 nodes (0.25 seconds)"
CBC_AFTER = "Cbc0010I After 10 nodes, 5 on tree, 1e+50 best solution, best possible 70.5 (1.5 seconds)"
XPRESS = " *** Solution found:   350.000000   Time:   2.10    Heuristic: e ***"


@pytest.mark.parametrize(
    ("solver", "line", "row"),
    [
        ("gurobi", GUROBI, (3.0, 1800.0, 1500.0, True)),
        ("highs", HIGHS, (0.4, -1205.5, -1350.0, True)),
        ("cplex", CPLEX, (None, 1234.0, 1000.0, True)),
        ("cplex", CPLEX_CLOCK, (12.5, None, None, False)),
        ("cbc", CBC, (0.25, 77.0, None, True)),
        # 1e+50 is how CBC says that it has no incumbent.
        ("cbc", CBC_AFTER, (1.5, None, 70.5, False)),
        ("xpress", XPRESS, (2.1, 350.0, None, True)),
        ("gurobi", "Presolve time: 0.01s", None),
        ("nobody", "1 2 3", None),
    ],
)
def test_a_line_says_when_which_incumbent_and_which_bound(solver, line, row):
    found = list(progress_rows(solver, [(7, line)]))
    values = [(*(None if n is None else n.value for n in one[1:4]), one.found) for one in found]
    assert values == ([] if row is None else [row])
    assert all(one.line == 7 for one in found)


def test_a_row_without_a_stamp_stands_at_the_latest_moment_before_the_next():
    """The next stamp is 2 s in whole seconds, so the row came before 3 s; the stated end of 2.5 s is nearer."""
    rows = [Row(1, None, Number(9.0, 1.0)), Row(2, Number(2.0, 1.0)), Row(3, None)]
    assert stamp_rows(rows, end=None)[0][0][0] == 3.0
    stamped, resolution = stamp_rows(rows, end=2.5)
    assert [moment for moment, _ in stamped] == [2.5, 2.0, 2.5]
    assert resolution == 1.0
    assert math.isnan(stamp_rows(rows, end=None)[0][2][0])

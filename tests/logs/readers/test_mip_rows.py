"""Single progress lines, and the moments of those that print none."""

import math

import pytest

from gapline.logs.readers.mip_rows import Number, Row, Stamped, progress_rows, read_printed, read_stamp, stamp_rows


def test_a_printed_number_knows_its_last_digit():
    assert read_printed("2.1000e+09") == Number(2.1e9, 1e5)
    assert read_printed("2.1000e+09").may_be(2.100015e9)
    assert not read_printed("2.1000e+09").may_be(2.1001e9)
    assert read_stamp("12.5m") == Number(750.0, 6.0)
    assert read_stamp("-1s") is None
    # A print that leaves out zeros at its end knows more than it shows, and shows more where it has more digits.
    assert read_printed("1525", 10) == Number(1525.0, 1e-6)
    assert read_printed("2500021300.012", 10) == Number(2500021300.012, 1e-3)
    assert read_printed("0", 10).unit == pytest.approx(1e-9)


GUROBI = "H  312   201                    1800.0000000 1500.00000  16.7%  12.4    3s"
HIGHS = " T 0 0 0 0.00% -1350 -1205.5 9.42% 0 0 0 0 0.4s"
CPLEX = "*    12+    4                         1234.0000      1000.0000            18.96%"
CPLEX_CLOCK = "Elapsed time = 12.50 sec. (5000.00 ticks, tree = 1.00 MB, solutions = 2)"
CBC = "Cbc0004I Integer solution of 77 found after 12 iterations and 0 nodes (0.25 seconds)"
CBC_AFTER = "Cbc0010I After 10 nodes, 5 on tree, 1e+50 best solution, best possible 70.5 (1.5 seconds)"
CPLEX_WIDE = "*123456+234567                            2.5000        2.7500            10.00%"
CPLEX_DASHES = "      0     2      310.5000    90      420.2500      310.5000      836     ---"
CPLEX_BOUND = "      2     3      311.5000    71                   311.2500      961         "
CPLEX_CUTS = "      0     0      312.0000    83                   Cuts: 35        953         "
HIGHS_MANY = " 1001k 203 9001m 0.50% 1350 1405.5 3.88% 0 0 0 9001m 99.4s"
XPRESS_OLD = " *** Heuristic solution found: -345000.600      Time: 7 ***"
XPRESS_ZERO = "q          455.000000      .000000      2                   455        0      5"
XPRESS = " *** Solution found:   350.000000   Time:   2.10    Heuristic: e ***"


@pytest.mark.parametrize(
    ("solver", "line", "row"),
    [
        ("gurobi", GUROBI, (3.0, 1800.0, 1500.0, True)),
        ("highs", HIGHS, (0.4, -1205.5, -1350.0, True)),
        ("cplex", CPLEX, (None, 1234.0, 1000.0, True)),
        ("cplex", CPLEX_CLOCK, (12.5, None, None, False)),
        ("cplex", CPLEX_WIDE, (None, 2.5, 2.75, True)),
        ("cplex", CPLEX_DASHES, (None, 420.25, 310.5, False)),
        ("cplex", CPLEX_BOUND, (None, None, 311.25, False)),
        ("cplex", CPLEX_CUTS, None),
        ("highs", HIGHS_MANY, (99.4, 1405.5, 1350.0, False)),
        ("xpress", XPRESS_OLD, (7.0, -345000.6, None, True)),
        # The gap of a bound of 0 is no percentage.
        ("xpress", XPRESS_ZERO, (5.0, 455.0, 0.0, True)),
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


INCUMBENT = Number(9.0, 1.0)


def test_a_row_without_a_stamp_stands_at_the_next_and_reaches_back_to_the_one_before():
    """The next stamp is 2 s in whole seconds, so the row lies in [0, 3), or in [0, 2.5] where the run ended then."""
    rows = [Row(1, None, INCUMBENT), Row(2, Number(2.0, 1.0)), Row(3, None)]
    assert stamp_rows(rows, end=2.5) == [
        Stamped(2.0, 2.5, rows[0]),
        Stamped(2.0, 1.0, rows[1]),
        Stamped(2.5, 0.5, rows[2]),
    ]
    assert stamp_rows(rows, end=None)[0].slack == 3.0
    assert math.isnan(stamp_rows(rows, end=None)[2].moment)


def test_order_in_the_file_is_order_in_time_where_the_stamps_allow_it():
    """0 s in whole seconds may be 0.42 s; 0.1 s after it cannot, and stays as it is printed."""
    stamps = [Number(0.42, 0.01), Number(0.0, 1.0), Number(0.1, 0.1), Number(1.0, 1.0)]
    moments = [one.moment for one in stamp_rows([Row(1, stamp) for stamp in stamps], end=None)]
    assert moments == [0.42, 0.42, 0.1, 1.0]


def test_a_clock_of_its_own_begins_where_the_solve_did():
    rows = [Row(1, None, INCUMBENT), Row(2, Number(3.0, 1.0), is_relative=True), Row(3, Number(64.0, 1.0))]
    assert [one.moment for one in stamp_rows(rows, end=66.5, start=60.0)] == [63.0, 63.0, 64.0]
    assert stamp_rows(rows, end=66.5, start=60.0)[0].slack == 4.0

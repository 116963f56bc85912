"""Generated mixed-integer programs: what they ask for, by hand and by the checker."""

from gapline.checkers import load_checker
from gapline.generate import write_instances
from gapline.generate.write import COSTS, DIMENSIONS, knapsack_files, setcover_files


def test_generated_programs_can_be_satisfied(tmp_path):
    """Choosing everything covers every row and leaves every weight out; choosing nothing does neither."""
    for path in write_instances("mip", tmp_path, name="all", customers=12, count=2):
        everything = {f"x{index}": 1 for index in range(1, 13)}
        assert load_checker("mip").check(path, everything).valid
        assert load_checker("mip").check(path, {}).kind == "row violated"


def sections(files):
    """Return the lines of each section of the one MPS file."""
    (content,) = files.values()
    found = {}
    for line in content.decode().splitlines():
        if not line.startswith(" "):
            found[section := line.split()[0]] = []
        else:
            found[section].append(line.split())
    return found


def test_a_cover_has_half_as_many_rows_as_sets_and_each_asks_for_one():
    parts = sections(setcover_files("c", 12))
    assert [row for row in parts["ROWS"] if row[0] == "G"] == [["G", f"cover{k}"] for k in range(1, 7)]
    assert {side for _, _, side in parts["RHS"]} == {"1"}
    costs = [int(cost) for _, row, cost in parts["COLUMNS"] if row == "cost"]
    assert len(costs) == 12
    assert COSTS[0] <= min(costs)
    assert max(costs) <= COSTS[1]


def test_a_knapsack_leaves_out_half_of_each_weight_and_pays_for_it():
    parts = sections(knapsack_files("k", 8))
    for dimension in range(1, DIMENSIONS + 1):
        weights = [int(weight) for _, row, weight in parts["COLUMNS"] if row == f"weight{dimension}"]
        assert ["RHS", f"weight{dimension}", str(sum(weights) // 2)] in parts["RHS"]
    assert all(int(cost) > 0 for _, row, cost in parts["COLUMNS"] if row == "cost")
    assert parts["BOUNDS"] == [["BV", "BND", f"x{k}"] for k in range(1, 9)]

"""CVRP instances: points on the map, loads that fit, and a file that the checker reads."""

from gapline.checkers import load_checker
from gapline.checkers.routing_files import read_cvrp
from gapline.generate import write_instances
from gapline.generate.draws import Draws
from gapline.generate.routing import draw_customers


def test_customers_stay_on_the_map_and_the_depot_is_in_the_middle():
    points, demands = draw_customers(Draws("map"), 40, side=100, between=(5, 9))
    assert points[0] == (50, 50)
    assert len(points) == len(demands) == 41
    assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in points)
    assert demands[0] == 0
    assert set(demands[1:]) <= set(range(5, 10))


def test_any_one_customer_fits_a_vehicle_and_all_together_do_not(tmp_path):
    (path,) = write_instances("cvrp", tmp_path, name="fit", customers=20)
    instance = read_cvrp(path)
    # Seven customers of 22.5 on average: 7 x 45 // 2.
    assert instance.capacity == 157
    checker = load_checker("cvrp")
    assert checker.check(path, [[customer] for customer in range(1, 21)]).valid
    assert checker.check(path, [list(range(1, 21))]).kind == "capacity exceeded"

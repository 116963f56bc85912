"""VRPTW instances: windows that bind and can be kept."""

from gapline.checkers import load_checker
from gapline.checkers.routing_files import read_vrptw
from gapline.generate import routing, write_instances
from gapline.generate.routing import plant_windows


def first_come_routes(instance):
    """Serve customers in the order of their numbers, with no eye on the clock."""
    routes, load = [[]], 0
    for customer in range(1, instance.customers + 1):
        if load + instance.demands[customer] > instance.capacity:
            routes.append([])
            load = 0
        routes[-1].append(customer)
        load += instance.demands[customer]
    return routes


def test_windows_bind_and_can_be_kept(tmp_path, monkeypatch):
    """A plan without an eye on the clock breaks them; the planted one, which the fleet is sized for, keeps them."""
    planted = []

    def remember(*arguments, **options):
        planted.append(plant_windows(*arguments, **options))
        return planted[-1]

    monkeypatch.setattr(routing, "plant_windows", remember)
    (path,) = write_instances("vrptw", tmp_path, name="bind", customers=30)
    checker = load_checker("vrptw")
    assert checker.check(path, planted[0][1]).valid
    assert checker.check(path, [route[::-1] for route in planted[0][1]]).kind == "time window violated"
    assert checker.check(path, first_come_routes(read_vrptw(path))).kind in {"time window violated", "too many routes"}

"""VRPTW instances as Solomon files: time windows around planted routes, which show that the windows can be kept."""

import math
from collections.abc import Callable

from gapline.generate.cvrp import draw_customers
from gapline.generate.draws import Draws

Arrive = Callable[[int, int, float], float]


def plant_windows(
    draws: Draws,
    points: list[tuple[int, int]],
    arrive: Arrive,
    *,
    demands: list[int],
    capacity: int,
    service: int,
    day: int,
    widths: tuple[int, int],
) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """Walk from the depot to near customers until the vehicle is full or the day over; put a window around each visit.

    Returns the windows of depot (the first of the `points`) and customers, and the routes that keep them. `arrive` says
    when one gets to the second vertex on leaving the first at a moment; `widths` are the shortest and longest window.
    """
    windows: list[tuple[int, int]] = [(0, day)] * len(points)
    left = set(range(1, len(points)))
    routes: list[list[int]] = []
    while left:
        route: list[int] = []
        # A route starts anywhere in the first half of the day, so that windows spread over all of it.
        here, leave = 0, float(draws.integer(0, day // 2))
        while left:
            x, y = points[here]
            squares = {there: (points[there][0] - x) ** 2 + (points[there][1] - y) ** 2 for there in sorted(left)}
            near = sorted(squares, key=squares.__getitem__)
            # Not always the nearest: windows around greedy routes would be kept by any greedy solver.
            there = draws.choice(near[:3]) if route else draws.choice(list(squares))
            start = arrive(here, there, leave)
            full = sum(demands[customer] for customer in [*route, there]) > capacity
            if full or arrive(there, 0, start + service) > day:
                break
            width = draws.integer(*widths)
            ready = max(0, int(start) - draws.integer(0, width))
            # The due date is rounded up: the planted visit stays inside.
            windows[there] = (ready, min(day, max(ready + width, int(start) + 1)))
            route.append(there)
            left.discard(there)
            here, leave = there, start + service
        if route:
            routes.append(route)
    return windows, routes


SIDE = 100
DAY = 600
SERVICE = 10
DEMANDS = (5, 30)
CAPACITY = 150
WIDTHS = (30, 120)


def vrptw_files(name: str, customers: int) -> dict[str, bytes]:
    """Return the files of one instance by name."""
    draws = Draws(f"gapline vrptw/1 {name}")
    points, demands = draw_customers(draws, customers, side=SIDE, between=DEMANDS)

    def arrive(here: int, there: int, leave: float) -> float:
        # Rounded up to whole units: the planted routes then also keep the windows under truncated distances.
        (x, y), (u, v) = points[here], points[there]
        return leave + math.isqrt((x - u) ** 2 + (y - v) ** 2) + 1

    windows, routes = plant_windows(
        draws, points, arrive, demands=demands, capacity=CAPACITY, service=SERVICE, day=DAY, widths=WIDTHS
    )
    # Some vehicles more than planted: the fleet limits, and other plans stay possible.
    vehicles = len(routes) + 1 + len(routes) // 4
    rows = [
        f"{vertex:5d} {x:7d} {y:7d} {demands[vertex]:7d} {ready:7d} {due:7d} {SERVICE if vertex else 0:7d}"
        for vertex, ((x, y), (ready, due)) in enumerate(zip(points, windows, strict=True))
    ]
    lines = [
        name,
        "",
        "VEHICLE",
        "NUMBER     CAPACITY",
        f"{vehicles:4d} {CAPACITY:11d}",
        "",
        "CUSTOMER",
        "CUST NO.  XCOORD.  YCOORD.  DEMAND  READY TIME  DUE DATE  SERVICE TIME",
        "",
        *rows,
    ]
    return {f"{name}.txt": ("\n".join(lines) + "\n").encode()}

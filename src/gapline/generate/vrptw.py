"""VRPTW instances as Solomon files: windows around planted routes, a fleet a little larger than they need."""

import math

from gapline.generate.cvrp import draw_customers
from gapline.generate.draws import Draws
from gapline.generate.planted import plant_windows

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

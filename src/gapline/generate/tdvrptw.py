"""TDVRPTW instances in the MAMUT format: travel times from a speed profile with two rush hours, windows that bind."""

import gzip
import json
import math

from gapline.errors import import_extra
from gapline.generate.cvrp import draw_customers
from gapline.generate.draws import Draws
from gapline.generate.vrptw import plant_windows

SIDE = 1000
DAY = 6000
SERVICE = 60
DEMANDS = (5, 30)
CAPACITY = 150
WIDTHS = (200, 800)
PERIODS = ((0, 1200), (1200, 2100), (2100, 3900), (3900, 4800), (4800, 6000))
# Speed on fast roads, in town and on side roads in each period: the rush hours hit the town hardest.
SPEEDS = ((1.6, 0.8, 1.4, 0.7, 1.5), (1.2, 0.45, 1.0, 0.4, 1.1), (0.9, 0.75, 0.85, 0.7, 0.9))


def tdvrptw_files(name: str, customers: int) -> dict[str, bytes]:
    """Return the files of one instance by name."""
    artifacts = import_extra("mamut_routing_lib.td.artifacts", "routing", package="mamut-routing-lib")
    build_arc_atf = import_extra("mamut_routing_lib.td.igp", "routing", package="mamut-routing-lib").build_arc_atf
    draws = Draws(f"gapline tdvrptw/1 {name}")
    points, demands = draw_customers(draws, customers, side=SIDE, between=DEMANDS)
    arcs = {}
    for i in range(customers + 1):
        for j in range(i):
            distance = math.sqrt((points[i][0] - points[j][0]) ** 2 + (points[i][1] - points[j][1]) ** 2)
            function = build_arc_atf(PERIODS, draws.choice(SPEEDS), distance, (0.0, float(DAY)))
            arcs[i, j] = arcs[j, i] = function

    def arrive(here: int, there: int, leave: float) -> float:
        # Who leaves after the day is over is home too late, whatever the roads are like then.
        return float(arcs[here, there].evaluate(leave)) if leave <= DAY else math.inf

    windows, _ = plant_windows(
        draws, points, arrive, demands=demands, capacity=CAPACITY, service=SERVICE, day=DAY, widths=WIDTHS
    )
    functions = artifacts.InstanceATFs(
        instance_name=name,
        benchmark_name="Dabia2013",
        horizon=(0.0, float(DAY)),
        num_customers=customers,
        arcs=arcs,
        generator={"name": "gapline tdvrptw/1"},
    )
    payload = {
        "instance_name": name,
        # The format's lists of families are closed; the metadata say what this is.
        "instance_origin": "Solomon1987",
        "benchmark_name": "Dabia2013",
        "num_customers": customers,
        "vehicle_capacity": CAPACITY,
        "coordinates": [list(point) for point in points],
        "demands": demands,
        "service_times": [0, *[SERVICE] * customers],
        "horizon": [0, DAY],
        "td": {
            "model": "atf-ndcpwlf",
            "atf_path": f"{name}.atf.json.gz",
            # So that the digest of the instance file stands for both files.
            "atf_sha256": artifacts.compute_atf_sha256(functions),
        },
        "metadata": {"family": "gapline tdvrptw/1"},
        "time_windows": [list(window) for window in windows],
    }
    return {
        f"{name}.vrp.json": (json.dumps(payload, indent=1) + "\n").encode(),
        # Without the time of writing, which would make other bytes of it each time.
        f"{name}.atf.json.gz": gzip.compress(artifacts.atfs_to_canonical_json_bytes(functions), mtime=0),
    }

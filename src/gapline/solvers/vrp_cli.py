"""vrp-cli on TDVRPTW with the day in 1, 5, 24 or 96 slices, and on VRPTW and CVRP; its last solution only.

Options: slices (1, 5, 24, 96), problem (tdvrptw, vrptw, cvrp; by default from the file's name), iterations
(generations).

vrp-cli takes one matrix of travel times per slice, stamped with the middle of the slice, and interpolates between them:
96 slices come close to the true functions, but remain an approximation. It takes no seed, and its time limit is in
whole seconds: the adapter rounds it down, so that the solution is printed before the horizon.
"""

import datetime
import json
from importlib import import_module
from typing import Any

import numpy as np

from gapline.solvers.protocol import Task, announce, emit, run_adapter
from gapline.solvers.simplified_models import problem_of, sliced_model_name
from gapline.solvers.static_model import SCALE, StaticModel, cut_day, load_day, read_model

SLICES = (1, 5, 24, 96)
# Longer than any day: the windows of a problem without windows.
OPEN = 10**8


def solve(task: Task) -> None:
    """Print the last solution of vrp-cli if it serves every customer."""
    vrp_cli = import_module("vrp_cli")
    announce("vrp-cli", terminal_only=True, model=sliced_model_name(task.options, task.instance))
    count = task.option("slices", 1, among=SLICES)
    model = read_model(task)
    matrices = time_matrices(task, model, count)
    iterations = task.iterations()
    limit = {"maxTime": max(1, int(task.last_word()))} if iterations is None else {"maxGenerations": iterations}
    threads = {"numThreadPools": 1, "threadsPerPool": task.threads}
    settings = {"termination": limit, "environment": {"parallelism": threads, "logging": {"enabled": False}}}
    printed = vrp_cli.solve_pragmatic(
        problem=json.dumps(state_problem(model)), matrices=list(map(json.dumps, matrices)), config=json.dumps(settings)
    )
    answer = json.loads(printed)
    if not answer.get("unassigned"):
        emit(answer["statistic"]["cost"] / model.instance.scale, read_routes(answer))


def time_matrices(task: Task, model: StaticModel, count: int) -> list[dict[str, Any]]:
    """Return the travel times of each slice in integer tenths; a single slice has no stamp."""
    instance = model.instance
    lengths = [int(one) for one in instance.distances.ravel()]
    if problem_of(task.options, task.instance) != "tdvrptw" or count == 1:
        times = lengths if instance.windows else [0] * len(lengths)
        return [{"profile": "car", "travelTimes": times, "distances": lengths}]
    day = cut_day(load_day(task.instance), count)
    tenths = np.rint(SCALE * day.times).astype(int)
    return [
        {"profile": "car", "timestamp": stamp(SCALE * float(middle)), "travelTimes": one, "distances": [0] * len(one)}
        for middle, one in zip(day.middles, tenths.reshape(count, -1).tolist(), strict=True)
    ]


def state_problem(model: StaticModel) -> dict[str, Any]:
    """State the problem in vrp-cli's pragmatic format; one second there is one unit of the instance."""
    instance = model.instance
    windows = instance.windows or [(0, OPEN)] * (instance.customers + 1)
    services = instance.services or [0] * (instance.customers + 1)
    jobs = []
    for customer in range(1, instance.customers + 1):
        times = [[stamp(moment) for moment in windows[customer]]]
        place = {"location": {"index": customer}, "duration": float(services[customer]), "times": times}
        delivery = {"places": [place], "demand": [instance.demands[customer]]}
        jobs.append({"id": str(customer), "deliveries": [delivery]})
    costs = {"fixed": 0.0, "distance": 0.0, "time": 1.0} if model.minimise_duration else {"distance": 1.0, "time": 0.0}
    depot, (opening, closing) = {"index": 0}, map(stamp, windows[0])
    shift = {"start": {"earliest": opening, "location": depot}, "end": {"latest": closing, "location": depot}}
    vehicle = {
        "typeId": "vehicle",
        "vehicleIds": [f"vehicle {number}" for number in range(model.vehicles)],
        "profile": {"matrix": "car"},
        "costs": costs,
        "shifts": [shift],
        "capacity": [instance.capacity],
    }
    return {
        "plan": {"jobs": jobs},
        "fleet": {"vehicles": [vehicle], "profiles": [{"name": "car"}]},
        # The number of vehicles is not minimised in these problems.
        "objectives": [[{"type": "minimize-unassigned"}], [{"type": "minimize-cost"}]],
    }


def read_routes(answer: dict[str, Any]) -> list[list[int]]:
    """Return the customers of each tour in order."""
    tours = [
        [
            int(activity["jobId"])
            for stop in tour["stops"]
            for activity in stop["activities"]
            if activity["type"] == "delivery"
        ]
        for tour in answer["tours"]
    ]
    return [tour for tour in tours if tour]


def stamp(seconds: float) -> str:
    """Return a moment as vrp-cli reads it.

    >>> stamp(90)
    '1970-01-01T00:01:30Z'
    """
    return datetime.datetime.fromtimestamp(round(seconds), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    run_adapter(solve)

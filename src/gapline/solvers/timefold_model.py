"""TDVRPTW as a Timefold model: vehicles with lists of visits, and the cost of a route on the true functions.

Everything is inside `build_model`: the decorators start the JVM, and the functions are compiled to run inside it, which
is why they are limited to plain loops over plain lists. Durations are those of `route_clock.RouteClock`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from gapline.solvers.route_clock import LATER, read_clock
from gapline.solvers.static_model import load_day

# Scores are integers: thousandths of the instance's unit.
UNITS = 1000


class TimefoldModel(NamedTuple):
    """The classes that Timefold compiled, and the function that fills them from an instance."""

    solution: Any
    vehicle: Any
    constraints: Any
    read_plan: Callable[[Path], Any]


def build_model() -> TimefoldModel:
    """Declare the model; the JVM must already run."""
    domain: Any = import_module("solverforge_legacy.solver.domain")
    score: Any = import_module("solverforge_legacy.solver.score")
    HardSoftScore = score.HardSoftScore

    @dataclass
    class Roads:
        capacity: int
        demands: list[int]
        services: list[float]
        ready: list[float]
        due: list[float]
        leave: list[list[list[float]]]
        arrive: list[list[list[float]]]

    @dataclass
    class Visit:
        id: Annotated[int, domain.PlanningId]

    def value_at(xs: list[float], ys: list[float], x: float) -> float:
        """Evaluate a nondecreasing function; it is constant before its first point and has slope one after its last."""
        low = 0
        high = len(xs) - 1
        if x <= xs[0]:
            return ys[0]
        if x >= xs[high]:
            return ys[high] + (x - xs[high])
        while high - low > 1:
            middle = (low + high) // 2
            if xs[middle] <= x:
                low = middle
            else:
                high = middle
        return ys[low] + (ys[high] - ys[low]) * (x - xs[low]) / (xs[high] - xs[low])

    @domain.planning_entity
    @dataclass
    class Vehicle:
        id: Annotated[int, domain.PlanningId]
        roads: Roads
        visits: Annotated[list[Visit], domain.PlanningListVariable] = field(default_factory=list)

        def overload(self) -> int:
            load = 0
            for visit in self.visits:
                load += self.roads.demands[visit.id]
            return max(0, load - self.roads.capacity)

        def end_of(self, start: float) -> float:
            """Return when the route ends that starts at a given time."""
            roads = self.roads
            now = start
            here = 0
            for visit in self.visits:
                there = visit.id
                now = max(value_at(roads.leave[here][there], roads.arrive[here][there], now), roads.ready[there])
                now += roads.services[there]
                here = there
            return value_at(roads.leave[here][0], roads.arrive[here][0], now)

        def start_for(self, end: float) -> float:
            """Return the latest start that keeps every window and ends at a given time."""
            roads = self.roads
            now = end
            there = 0
            for index in range(len(self.visits) - 1, -1, -1):
                here = self.visits[index].id
                now = value_at(roads.arrive[here][there], roads.leave[here][there], now)
                now = min(now - roads.services[here], roads.due[here])
                there = here
            return value_at(roads.arrive[0][there], roads.leave[0][there], now)

        def lateness(self) -> int:
            """Return the lateness when leaving as early as possible, which is the least lateness of the route."""
            roads = self.roads
            now = roads.ready[0]
            late = 0.0
            here = 0
            for visit in self.visits:
                there = visit.id
                now = max(value_at(roads.leave[here][there], roads.arrive[here][there], now), roads.ready[there])
                late += max(0.0, now - roads.due[there])
                now += roads.services[there]
                here = there
            if here != 0:
                now = value_at(roads.leave[here][0], roads.arrive[here][0], now)
                late += max(0.0, now - roads.due[0])
            # Any lateness counts, however small.
            return 0 if late <= 0.0 else 1 + int(UNITS * late)

        def duration(self) -> int:
            if len(self.visits) == 0:
                return 0
            roads = self.roads
            end = self.end_of(roads.ready[0])
            first = max(roads.ready[0], self.start_for(end))
            best = end - first
            last = self.start_for(roads.due[0])
            if last > first:
                for step in range(1, LATER + 1):
                    end = self.end_of(first + (last - first) * step / LATER)
                    best = min(best, end - max(roads.ready[0], self.start_for(end)))
            return int(UNITS * best) + 1

    @domain.planning_solution
    @dataclass
    class RoutePlan:
        vehicles: Annotated[list[Vehicle], domain.PlanningEntityCollectionProperty]
        visits: Annotated[list[Visit], domain.ProblemFactCollectionProperty, domain.ValueRangeProvider]
        score: Annotated[HardSoftScore, domain.PlanningScore] = field(default=None)  # type: ignore[valid-type]

    @score.constraint_provider  # type: ignore[untyped-decorator]
    def constraints(factory: Any) -> list[Any]:
        return [
            factory.for_each(Vehicle)
            .filter(lambda vehicle: vehicle.overload() > 0)
            .penalize(HardSoftScore.ONE_HARD, lambda vehicle: vehicle.overload())
            .as_constraint("capacity"),
            factory.for_each(Vehicle)
            .filter(lambda vehicle: vehicle.lateness() > 0)
            .penalize(HardSoftScore.ONE_HARD, lambda vehicle: vehicle.lateness())
            .as_constraint("windows"),
            factory.for_each(Vehicle)
            .penalize(HardSoftScore.ONE_SOFT, lambda vehicle: vehicle.duration())
            .as_constraint("duration"),
        ]

    def read_plan(path: Path) -> Any:
        clock = read_clock(load_day(path))
        ready, due = map(list, zip(*clock.windows, strict=True))
        roads = Roads(clock.capacity, clock.demands, clock.services, ready, due, clock.leave, clock.arrive)
        return RoutePlan(
            vehicles=[Vehicle(number, roads) for number in range(clock.vehicles)],
            visits=[Visit(customer) for customer in range(1, len(clock.demands))],
        )

    return TimefoldModel(RoutePlan, Vehicle, constraints, read_plan)

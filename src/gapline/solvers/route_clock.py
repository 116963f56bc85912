"""Times along a route under travel-time functions, for solvers that call Python for each route."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from gapline.solvers.static_model import cut_day, windows_of

# The number of departures tried between the earliest sensible and the latest feasible one.
LATER = 4

Points = list[float]


@dataclass(frozen=True, slots=True)
class RouteClock:
    """A TDVRPTW instance, depot 0; `leave[i][j]` and `arrive[i][j]` are points of the function from i to j."""

    capacity: int
    demands: list[int]
    services: list[float]
    windows: list[tuple[float, float]]
    leave: list[list[Points]]
    arrive: list[list[Points]]
    vehicles: int

    def excess(self, route: list[int]) -> float:
        """Return the excess load plus the lateness when leaving as early as possible: zero for a feasible route."""
        over = max(0, sum(self.demands[customer] for customer in route) - self.capacity)
        now, late, here = self.windows[0][0], 0.0, 0
        for there in [*route, 0] if route else []:
            now = max(value_at(self.leave[here][there], self.arrive[here][there], now), self.windows[there][0])
            late += max(0.0, now - self.windows[there][1])
            now += self.services[there]
            here = there
        return over + late

    def duration(self, route: list[int]) -> float:
        """Return the least duration over a few departures, never below the exact minimum over all departures."""
        # Leave as late as the earliest end allows, then try later departures: after a rush hour, travel may be shorter.
        if not route:
            return 0.0
        opening, closing = self.windows[0]
        end = self.end_of(route, opening)
        first = max(opening, self.start_for(route, end))
        durations = [end - first]
        last = self.start_for(route, closing)
        for step in range(1, LATER + 1) if last > first else ():
            end = self.end_of(route, first + (last - first) * step / LATER)
            durations.append(end - max(opening, self.start_for(route, end)))
        return min(durations)

    def end_of(self, route: list[int], start: float) -> float:
        """Return when a route ends that starts at a given time."""
        now, here = start, 0
        for there in route:
            now = max(value_at(self.leave[here][there], self.arrive[here][there], now), self.windows[there][0])
            now += self.services[there]
            here = there
        return value_at(self.leave[here][0], self.arrive[here][0], now)

    def start_for(self, route: list[int], end: float) -> float:
        """Return the latest start that keeps every window and ends at a given time."""
        now, there = end, 0
        for here in reversed(route):
            now = value_at(self.arrive[here][there], self.leave[here][there], now) - self.services[here]
            now = min(now, self.windows[here][1])
            there = here
        return value_at(self.arrive[0][there], self.leave[0][there], now)


def read_clock(loaded: Any, slices: int | None = None) -> RouteClock:
    """Return the clock of a loaded instance, with its true functions or an interpolation between slices of the day."""
    instance = loaded.instance
    size = instance.num_customers + 1
    leave: list[list[Points]] = [[[0.0] for _ in range(size)] for _ in range(size)]
    arrive: list[list[Points]] = [[[0.0] for _ in range(size)] for _ in range(size)]
    day = None if slices is None else cut_day(loaded, slices)
    for (i, j), function in loaded.atfs.arcs.items():
        if day is None:
            leave[i][j], arrive[i][j] = list(map(float, function.xs)), list(map(float, function.ys))
        else:
            # The first and the last slice extend to the ends of the day.
            moments = [float(loaded.atfs.horizon[0]), *day.middles.tolist(), float(loaded.atfs.horizon[1])]
            travel = day.times[:, i, j].tolist()
            leave[i][j] = moments
            arrive[i][j] = [a + b for a, b in zip(moments, [travel[0], *travel, travel[-1]], strict=True)]
    return RouteClock(
        capacity=int(instance.vehicle_capacity),
        demands=[int(demand) for demand in instance.demands],
        services=[float(service) for service in instance.service_times],
        windows=[(float(ready), float(due)) for ready, due in windows_of(instance)],
        leave=leave,
        arrive=arrive,
        vehicles=min(int(instance.num_vehicles or instance.num_customers), instance.num_customers),
    )


def value_at(xs: Points, ys: Points, x: float) -> float:
    """Evaluate a nondecreasing function; it is constant before its first point and has slope one after its last.

    >>> [value_at([0.0, 10.0], [5.0, 25.0], x) for x in (-1.0, 0.0, 5.0, 10.0, 12.0)]
    [5.0, 5.0, 15.0, 25.0, 27.0]
    """
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        # After the last point, the travel time stays as at that point.
        return ys[-1] + (x - xs[-1])
    high = bisect_right(xs, x)
    low = high - 1
    return ys[low] + (ys[high] - ys[low]) * (x - xs[low]) / (xs[high] - xs[low])

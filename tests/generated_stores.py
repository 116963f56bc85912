"""A MAMUT store of generated instances, as a git repository: real files, solutions priced by the referee."""

import json

from mamut_routing_lib.models import BenchmarkSolution
from mamut_routing_lib.td import check_td_solution, load_td_instance

from gapline.generate.routing import tdvrptw_files
from references.history import History


def write_store(folder, *, families=("",), sizes=(3, 4, 5, 6, 7, 8), names=30):
    """Write `names` instances of each size in each family, the same names in each as stores have them; commit them.

    The best-known solution of each is a route for each customer: anything that a solver finds is about as good.
    """
    history = History(folder)
    for family in families:
        for size in sizes:
            for number in range(1, names + 1):
                base = "/".join(filter(None, [family, f"n={size}", f"Demo-{number}"]))
                put_instance(history, base, size)
    return history


def put_instance(history, base, size, *, solved=True):
    """Write one instance with its sidecar, and its best-known solution."""
    # The name inside is that of the file; what else the instance is follows from the whole path.
    place, _, stem = base.rpartition("/")
    for name, data in tdvrptw_files(f"{stem}", size).items():
        file = history.folder / place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    if solved:
        routes = [[customer] for customer in range(1, size + 1)]
        loaded = load_td_instance(history.folder / f"{base}.vrp.json")
        priced = check_td_solution(loaded, BenchmarkSolution(instance_name=stem, routes=routes))
        assert priced.is_valid(), priced.error_message
        history.bks(base, priced.routing_cost, routes=routes)
    return json.loads((history.folder / f"{base}.vrp.json").read_bytes())

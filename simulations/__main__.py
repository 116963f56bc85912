"""Simulate the error rates of every method and write docs/statistics.md.

python -m simulations --campaigns 2000 --page docs/statistics.md
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from simulations.gates import gate_errors, real_scores, run_traces
from simulations.nulls import DESIGNS, LAWS, SEEDS, Design, designs_of
from simulations.page import write_page
from simulations.rates import Rate, null_rates, power

# Campaigns of the methods that draw nothing.
FAST = 20_000
GATES = 1000


def main() -> int:
    """Simulate everything, with a line for every case."""
    options = argparse.ArgumentParser(prog="python -m simulations", description=__doc__)
    options.add_argument("--campaigns", type=int, default=1000, help="null campaigns per case, of methods that draw")
    options.add_argument("--page", type=Path, default=Path("docs/statistics.md"), help="the page to write")
    options.add_argument("--folder", type=Path, default=Path("simulation-runs"), help="where real traces are kept")
    options.add_argument("--workers", type=int, default=2)
    given = options.parse_args()
    cases = [(law, design, seeds) for seeds in SEEDS for law in LAWS for design in designs_of(law)]
    found: dict[tuple[str, Design, int], dict[str, Rate]] = {}
    began = time.monotonic()
    # Not forked: a child of a process that has used Polars hangs in it.
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        jobs = [
            pool.submit(null_rates, *case, campaigns=given.campaigns, fast=FAST, seed=number)
            for number, case in enumerate(cases)
        ]
        powers = {
            design: pool.submit(power, design, campaigns=given.campaigns, fast=FAST, seed=number)
            for number, design in enumerate(DESIGNS)
        }
        for number, (case, job) in enumerate(zip(cases, jobs, strict=True), start=1):
            found[case] = job.result()
            shown = ", ".join(f"{name} {100 * rate.error:.1f}" for name, rate in found[case].items())
            law, design, seeds = case
            elapsed = time.monotonic() - began
            print(f"{number}/{len(cases)} ({elapsed:.0f} s) {design} {law}, seeds {seeds}: {shown}", flush=True)
        by_design = {design: job.result() for design, job in powers.items()}
    gates = gate_errors(real_scores(run_traces(given.folder)), gates=GATES)
    print(gates, flush=True)
    write_page(given.page, found, by_design, gates, campaigns=given.campaigns, fast=FAST, gate_count=GATES)
    print(f"written: {given.page}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

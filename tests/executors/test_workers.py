"""What passes over runs ask of workers is what an executor of Python gives."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import gapline as gl
from gapline.campaign.campaign import Campaign
from gapline.executors.executors import Workers
from gapline.study import open_study


class Threads:
    def width(self) -> int:
        return 2

    def run(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        with ThreadPoolExecutor(2) as pool:
            futures = {pool.submit(function, *task): number for number, task in enumerate(tasks)}
            yield from ((futures[done], done.result()) for done in as_completed(futures))


def test_threads_of_this_process_are_workers(tmp_path):
    runs = [
        {
            "arm": "ab"[s % 2],
            "instance": f"i{s % 3}",
            "seed": s,
            "horizon": 9,
            "trace": [(t, 50.0 - t) for t in range(s)],
        }
        for s in range(9)
    ]
    place = str(Campaign.from_runs(runs).save(tmp_path / "campaign"))
    snapshot = gl.Snapshot.from_values({f"i{k}": 42.0 for k in range(3)}, name="drawn")
    threads: Workers = Threads()
    apart = open_study(place, snapshots=[snapshot], workers=threads)
    assert apart.envelopes.held is not None
    assert apart.scores[0].frame.equals(open_study(place, snapshots=[snapshot]).scores[0].frame)

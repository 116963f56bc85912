"""A server and 200 clients, 50 of whom never read: nobody else waits, nothing is lost, and memory stays what it was."""

import random
import time
from pathlib import Path

from torture.crowd import Crowd, Server, facts_of, served
from torture.watched_study import WatchedStudy, watched_study

RUNNING, WAITING = 20, 300
READERS, DEAF = 150, 50
# Seconds from a journal to all who read, and what the memory with all of them may be of that with one.
# Long traces need the compiled functions sooner or later: what these take is not what a crowd costs.
COMPILE = """
import numpy, polars, gapline
size = 200_000
run = {"arm": "a", "instance": "i", "seed": 1, "panel": "p", "horizon": 1e6, "status": "finished"}
runs = polars.DataFrame([run | {"first": 0, "count": size}])
columns = {"time": numpy.arange(size) * 1.0, "objective": numpy.arange(size, 0, -1.0)}
campaign = gapline.Campaign.from_arrays(runs=runs, verdict=numpy.ones(size, "u1"), **columns)
envelopes = gapline.build_envelopes(campaign)
gapline.score(envelopes, gapline.Snapshot.from_values({"i": 1.0}, name="known"))
del columns, campaign, envelopes
"""
WITHIN, MOST_MEMORY = 2.0, 1.5
# However busy the machine is.
PATIENCE = 900.0
# Of the clients that read, one comes back every so many seconds, and every so many a run ends and another one begins.
BACK_EVERY, END_EVERY = 2, 10


def trial(
    count: int,
    seed: int,
    scratch: Path,
    *,
    readers: int = READERS,
    deaf: int = DEAF,
    within: float = WITHIN,
    running: int = RUNNING,
    steps: int = 20,
    speaking: int = 1,
    every: float = 1.0,
    before: str = "",
) -> dict[str, int]:
    """Let a study go on `count` times, and until everybody who never reads was dropped; account for all events.

    So many runs are `speaking` each time, once in `every` seconds; `steps` is the length of traces at the beginning,
    `before` Python that the server runs first.
    """
    chance = random.Random(seed)
    with (
        watched_study(scratch / "study", done=20, running=running, steps=steps, waiting=WAITING) as study,
        served(study.path, f"{before}\n{COMPILE}") as server,
    ):
        crowd = Crowd(server.port, 1, 0)
        assert crowd.attend(time.monotonic() + PATIENCE, lambda: crowd.readers[0].states > 0)
        # What draws curves is loaded once, whoever is there.
        server.ask("/api/curves")
        alone = server.memory()
        crowd.close()
        crowd = Crowd(server.port, readers, deaf)
        try:
            found = _go_on(study, server, crowd, chance, count, speaking, every)
            _compare(server, crowd, f"seed {seed}")
        finally:
            crowd.close()
    lost, ratio = sum(one.lost for one in crowd.readers), found.memory / alone
    outcomes = {
        "readers": readers,
        "events lost": lost,
        "worst lateness in ms": round(found.latest * 1000),
        "memory in % of that with one client": round(ratio * 100),
        "connections of deaf clients dropped": sum(crowd.dropped),
        "readers that came back": found.back,
        "readers cut off": sum(one.ended for one in crowd.readers),
        "marks": found.marks,
    }
    where = f"seed {seed}, {count} s, {outcomes}"
    assert lost == 0, f"{where}: {lost} events were lost"
    assert min(crowd.dropped, default=1) > 0, f"{where}: {crowd.dropped.count(0)} who never read were not dropped"
    assert ratio <= MOST_MEMORY, f"{where}: {ratio:.2f} of the memory with one client"
    assert found.latest <= within, f"{where}: {found.latest:.2f} s from a journal to a client"
    return outcomes


class _Found:
    """What was seen: the longest way of a mark to a client, the most memory, and how many of each there were."""

    def __init__(self) -> None:
        self.latest = 0.0
        self.memory = self.back = self.marks = 0
        self.said: dict[float, float] = {}

    def hear(self, change: dict[str, list[tuple[list[str], object]]]) -> None:
        """Take the marks of a change."""
        now = time.monotonic()
        for path, value in change["set"]:
            if path[-1] == "incumbent" and isinstance(value, float) and value in self.said:
                self.latest = max(self.latest, now - self.said[value])
                self.marks += 1


def _go_on(
    study: WatchedStudy, server: Server, crowd: Crowd, chance: random.Random, count: int, speaking: int, every: float
) -> _Found:
    found = _Found()
    for reader in crowd.readers[1:]:
        reader.on_change(found.hear)
    start, turn = time.monotonic(), 0
    assert crowd.attend(start + PATIENCE, lambda: all(one.states for one in crowd.readers)), "a client got no state"
    slow = crowd.readers[0]
    crowd.deafen(slow)
    start = time.monotonic()
    while (passed := time.monotonic() - start) < count * every or (
        (0 in crowd.dropped or crowd.deafened) and passed < count * every + PATIENCE
    ):
        turn += 1
        mark = round(80.0 - turn * 0.001, 6)
        found.said[mark] = time.monotonic()
        study.say([study.running[(turn + k) % len(study.running)] for k in range(speaking)], 30.0 + passed, mark)
        if turn % END_EVERY == 0 and study.waiting:
            study.finish(chance.choice(study.running))
            study.begin(study.waiting.pop(0))
        if turn % BACK_EVERY == 0:
            crowd.come_back(chance.choice([one for one in crowd.readers if one is not slow]))
            found.back += 1
        crowd.attend(start + turn * every)
        found.memory = max(found.memory, server.memory())
    assert not crowd.deafened, "a reader that did not read any more was not dropped"
    # It comes late by as long as it did not read, and gets what it missed, not everything.
    assert slow.states == 1, "a reader that was dropped did not catch up from its last event"
    return found


def _compare(server: Server, crowd: Crowd, where: str) -> None:
    """Check that everybody has what the server says, those who come now from the beginning and all others."""
    new = crowd.add()
    assert crowd.attend(time.monotonic() + PATIENCE, lambda: new.states > 0), f"{where}: nobody is let in any more"
    # Nobody reads while it is asked for, so nobody is further.
    asked = server.ask("/api/state")
    for reader in crowd.readers:
        reader.expect(asked["id"], facts_of(asked))
    compared = crowd.attend(time.monotonic() + PATIENCE, lambda: all(one.agrees is not None for one in crowd.readers))
    assert compared, f"{where}: {sum(one.agrees is None for one in crowd.readers)} clients never came so far"
    assert all(one.agrees for one in crowd.readers), f"{where}: clients have another state than the server"

"""kill -9 of scripts that record (`gapline.record`) at random moments: what was added and returned is there."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import gapline as gl
from gapline.journal.read import Journal, JournalState
from gapline.traces.recordings import read_journals

# Says how many were added, each time after `add` came back. Solutions of many pages are what a kill can cut in two.
SEARCH = """
import gapline as gl, os, random, sys
path, seed, longest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
draws = random.Random(seed)
with gl.record(path, arm="mine", instance="a", seed=seed, horizon=60) as trace:
    for step in range(int(sys.argv[4])):
        trace.add(1e6 - step, solution=[step] * draws.randint(0, longest))
        os.write(1, b"%d\\n" % (step + 1))
"""
ENDLESS = 10**9
# A script that nobody kills, in the same file: what it adds must not be lost behind what others left torn.
BESIDE = 400


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Kill `count` scripts, some alone in their file and some beside others, and look for all that they said."""
    chance = random.Random(seed)
    outcomes: Counter[str] = Counter()
    number = 0
    scratch.mkdir(parents=True, exist_ok=True)
    while outcomes["killed"] < count:
        number += 1
        path = scratch / f"traces-{number}.jsonl"
        victims = min(chance.choice((1, 1, 2, 3)), count - outcomes["killed"])
        longest = chance.choice((0, 10, 3000, 200_000))
        where = f"seed {seed}, file {number}, {victims} killed"
        others = chance.random() < 0.5
        scripts = {place: _start(path, place, longest, ENDLESS) for place in range(1, victims + 1)}
        beside = _start(path, 0, longest // 20, BESIDE) if others else None
        said = {}
        for place, script in scripts.items():
            said[place] = _kill(script, chance)
        if beside is not None:
            assert beside.stdout is not None
            said[0] = int(beside.stdout.read().split()[-1])
            beside.stdout.close()
            assert beside.wait() == 0, f"{where}: the one beside them failed"
        outcomes["killed"] += victims
        _all_there(path, said, where, outcomes)
        path.unlink(missing_ok=True)
    return dict(outcomes)


def _start(path: Path, seed: int, longest: int, steps: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", SEARCH, str(path), str(seed), str(longest), str(steps)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def _kill(script: "subprocess.Popen[bytes]", chance: random.Random) -> int:
    """Kill a script at a random moment, mostly while it adds; return how many it said it had added."""
    assert script.stdout is not None
    said = b""
    if chance.random() < 0.9:
        said = os.read(script.stdout.fileno(), 1 << 16)
    time.sleep(chance.uniform(0.0, 0.02))
    script.send_signal(signal.SIGKILL)
    said += script.stdout.read()
    script.stdout.close()
    assert script.wait() == -signal.SIGKILL
    whole = said[: said.rfind(b"\n") + 1].split()
    return int(whole[-1]) if whole else 0


def _all_there(path: Path, said: dict[int, int], where: str, outcomes: Counter[str]) -> None:
    journals, problems = read_journals(path) if path.exists() and path.stat().st_size else ([], [])
    known: dict[int, Journal] = {journal.order.seed: journal for journal in journals if journal.order is not None}
    for seed, count in said.items():
        if seed not in known:
            assert count == 0, f"{where}: {count} were added and no run is there"
            outcomes["killed before the run began"] += 1
            continue
        journal = known[seed]
        state = JournalState.BROKEN if seed else JournalState.WHOLE
        assert journal.state is state, f"{where}: run {seed} is {journal.state}: {journal.problems()}"
        found = [event.objective for event in journal.events]
        assert found == [1e6 - step for step in range(len(found))], f"{where}: another run"
        # One may be there of which its script had no time to tell.
        assert count <= len(found) <= count + 1, f"{where}: run {seed}: {count} were added, {len(found)} are there"
        outcomes["added and there"] += count
        outcomes["there, not yet told"] += len(found) - count
    outcomes["torn lines"] += len(problems)
    outcomes["beside killed ones, whole"] += 0 in said
    if known:
        campaign = gl.read(path)
        ended = dict(campaign.runs.select("seed", "status").iter_rows())
        assert ended == {seed: "killed" if seed else "finished" for seed in known}, f"{where}: {ended}"
        assert campaign.diagnostics.problem_count == len(problems), where

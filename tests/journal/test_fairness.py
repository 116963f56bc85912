"""What is said of how runs were measured, on endings written by hand."""

import pytest

from gapline.journal.fairness import disturbances, fairness_columns, is_noisy, summarise_fairness
from gapline.journal.records import Ending, Order


def order(**changes):
    facts = {
        "arm": "a",
        "instance": "i",
        "seed": 1,
        "panel": "p",
        "horizon": 10.0,
        "attempt": 1,
        "argv": [],
        "cpus": [3],
        "load": 1.5,
        "machine": {"host": "h1", "cores": "2"},
    }
    return Order(**(facts | changes))


def ending(**changes):
    return Ending(**({"cause": "exit", "started": "", "elapsed": 10.25, "cpu_time": 9.225} | changes))


@pytest.mark.parametrize(
    ("share", "elapsed", "noisy"),
    [(0.5, 10.0, True), (0.05, 10.0, False), (0.5, 0.2, False), (None, 10.0, False)],
)
def test_a_noisy_host_is_one_whose_others_show(share, elapsed, noisy):
    assert is_noisy(share, elapsed) is noisy


@pytest.mark.parametrize(
    ("told", "ended", "expected"),
    [
        ({}, {}, []),
        ({}, {"foreign_share": 0.2}, ["shared cores"]),
        ({}, {"jitter": 0.019}, []),
        ({}, {"jitter": 0.021}, ["late stamps"]),
        ({}, {"stalled": 0.2}, ["slow disk"]),
        ({"load": 7.0}, {}, []),
        ({"load": 7.0, "cpus": []}, {}, ["loaded host"]),
        ({"load": 2.0, "cpus": []}, {}, []),
        ({"load": None, "cpus": []}, {}, []),
        # A solver that idles, overruns or takes more threads than it was given did so itself.
        ({"cpus": []}, {"cpu_time": 80.0, "elapsed": 12.0}, []),
        ({}, {"foreign_share": 0.2, "jitter": 0.1, "stalled": 1.0}, ["shared cores", "late stamps", "slow disk"]),
    ],
)
def test_only_what_comes_from_outside_disturbs_a_run(told, ended, expected):
    assert disturbances(order(**told), ending(**ended)) == expected


def test_the_columns_of_one_run():
    machine = {"host": "h1", "cores": "2", "governor": "performance", "boost": "off"}
    found = fairness_columns(order(machine=machine, cpus=[3, 4]), ending(foreign_share=0.2, jitter=0.001))
    assert found == {
        "host": "h1",
        "cpus": "3,4",
        "governor": "performance",
        "boost": "off",
        "load": 1.5,
        "cpu_share": 0.45,
        "foreign_share": 0.2,
        "overshoot": 0.25,
        "jitter": 0.001,
        "disturbed": "shared cores",
    }
    lost = fairness_columns(order(cpus=[]), None)
    assert lost["load"] == 1.5
    assert {name for name, value in lost.items() if value is not None} == {"host", "load"}


def test_the_summary_takes_the_worst_and_counts_reasons():
    rows = [
        fairness_columns(order(), ending(foreign_share=0.2, jitter=0.03)),
        fairness_columns(order(load=3.0, machine={"host": "h2", "governor": "powersave"}), ending(elapsed=9.0)),
        fairness_columns(order(cpus=[]), ending(foreign_share=None, elapsed=9.225)),
    ]
    found = summarise_fairness(rows)
    assert (found.runs, found.pinned, found.disturbed) == (3, 2, 1)
    assert found.reasons == {"shared cores": 1, "late stamps": 1}
    assert (found.hosts, found.governors, found.boost) == (["h1", "h2"], ["powersave"], [])
    assert (found.load, found.foreign_share, found.overshoot, found.jitter) == (3.0, 0.2, 0.25, 0.03)
    assert found.cpu_share == 1.0
    assert found.lines() == [
        "2 of 3 runs pinned to their cores on 2 hosts; governor powersave, boost not readable, "
        "CPU time / wall time 1.00 (median)",
        "1 of 3 runs were disturbed (delayed stamps 1, shared cores 1)",
        "at worst: load 3, others' share of the cores 20.0%, overshoot 0.250 s, stamps' jitter 30.0 ms",
    ]
    assert found.document()["reasons"] == {"shared cores": 1, "late stamps": 1}
    assert summarise_fairness([]).lines() == []


def test_who_kept_the_limits_is_said():
    kernel = ending(limits="kernel: processes, cores, memory, number of processes")
    sampled = ending(limits="sampled", unpinned=3, shared_memory=250_000_000)
    found = summarise_fairness(fairness_columns(order(), one) for one in (kernel, kernel, sampled))
    assert found.lines()[3:] == [
        "limits kept by the kernel (cgroup v2: processes, cores, memory, number of processes): 2 runs",
        "limits kept by sampling ten times a second: 1 runs",
        "1 runs left their cores and were put back",
        "up to 250 MB in files on /dev/shm or the like beside the runs",
    ]
    assert found.document()["limits"] == {kernel.limits: 2, "sampled": 1}
    # A run from before anybody looked has no such columns.
    assert "limits" not in fairness_columns(order(), ending())

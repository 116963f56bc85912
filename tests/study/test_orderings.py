"""Reversals of panel orderings, against what was planted and the slow way."""

from gapline.scoring.kernels import PAPER_KERNELS
from planted import EXPECTED as WANT


def test_reversals_are_those_planted_and_those_of_the_slow_way(document, slow):
    metrics = document["metrics"]
    assert metrics["pairs"] == WANT["pairs"]
    found = {
        (r["panel"], r["a"], r["b"], f"{r['from']['kernel']} {r['from']['reference']}",
         f"{r['to']['kernel']} {r['to']['reference']}", r["out_of_envelope"])
        for r in metrics["reversals"]
    }  # fmt: skip
    assert found == WANT["reversals"]
    assert len(metrics["reversals"]) == len(found)
    readings = [((k, r), (PAPER_KERNELS[0], r)) for k in PAPER_KERNELS[1:] for r in ("given", "analysis")]
    readings += [((k, "analysis"), (k, "given")) for k in PAPER_KERNELS]
    count = sum(len(slow.reversals(before, after)) for after, before in readings)
    assert count == len(found)

"""The traces that the paper's figures are drawn from: its three-run example and a pair with equal scores."""

from typing import Any

from gapline.envelope.build import Envelopes, build_envelopes
from gapline.model.campaign import Campaign
from gapline.reference.snapshot import Snapshot
from gapline.report.drawing import line_look
from gapline.report.looks import look_of

REFERENCE, HORIZON, INSTANCE = 10.0, 30.0, "worked"
Trace = tuple[tuple[float, float], ...]

WORKED: dict[str, Trace] = {
    "Run 1": (),
    "Run 2": ((5, 30), (7, 29), (11, 22), (14, 18), (19, 15), (24, 14), (27, 13)),
    "Run 3": ((0, 14), (2, 12), (3, 11), (5, 10), (8, 9), (15, 8), (18, 7), (23, 6), (26, 5)),
}
# Both areas are exactly 2: 2/3 + 28/21, and 1 + 6/9 + 7/21 + 0. Over 30 seconds that is a score of 1/15.
PAIR: dict[str, Trace] = {
    "early, then flat": ((0, 20), (2, 11)),
    "late, then better": ((0, 30), (2, 12.5), (8, 11), (15, 10)),
}
# How the three runs are told apart; the pair looks like the last two.
_LOOKS = tuple(map(look_of, (6, 1, 0)))


def run_look(names: list[str], *, width: int = 620) -> dict[str, Any]:
    """Return the encodings that tell the runs apart."""
    return line_look("series", names, width=width, looks=dict(zip(names, _LOOKS[-len(names) :], strict=True)))


def example_envelopes(traces: dict[str, Trace]) -> Envelopes:
    """Return the runs as envelopes, an arm each."""
    runs = [
        {"arm": arm, "instance": INSTANCE, "seed": 1, "horizon": HORIZON, "trace": [(*step, True) for step in trace]}
        for arm, trace in traces.items()
    ]
    return build_envelopes(Campaign.from_runs(runs))


def example_snapshot() -> Snapshot:
    """Return the reference of the examples."""
    return Snapshot.from_values({INSTANCE: REFERENCE}, name="worked example", source="the paper")

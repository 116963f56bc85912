"""Small campaigns for the tests of references, and strategies that draw them."""

import polars as pl
from hypothesis import strategies as st

from gapline.campaign.campaign import Campaign
from gapline.envelope.build import build_envelopes

INSTANCES = ("i1", "i2", "i3")


def campaign(*runs, **carried):
    """Build a campaign from (arm, instance, seed, trace), horizon 30; `carried` are further columns of the runs."""
    rows = [{"arm": a, "instance": i, "seed": s, "horizon": 30.0, "trace": trace} for a, i, s, trace in runs]
    built = Campaign.from_runs(rows)
    columns = {"validation": ["checker"] * len(rows)} | carried
    keys = built.runs.select("arm", "instance", "seed").rows()
    order = [(r["arm"], r["instance"], r["seed"]) for r in rows]
    table = built.runs.with_columns(
        pl.Series(name, [values[order.index(key)] for key in keys]) for name, values in columns.items()
    )
    return Campaign.from_arrays(runs=table, time=built.time, objective=built.objective, verdict=built.verdict)


def envelopes(*runs, **carried):
    return build_envelopes(campaign(*runs, **carried))


values = st.floats(min_value=1e-3, max_value=1e6)
candidates = st.tuples(st.floats(min_value=0, max_value=60), values)


@st.composite
def drawn_runs(draw):
    """Draw runs of two arms and two seeds on three instances; some are empty, some candidates are late."""
    keys = [(arm, instance, seed) for arm in "ab" for instance in INSTANCES for seed in (1, 2)]
    chosen = draw(st.lists(st.sampled_from(keys), unique=True, min_size=1, max_size=6))
    return [(*key, draw(st.lists(candidates, max_size=5))) for key in chosen]


references = st.fixed_dictionaries(dict.fromkeys(INSTANCES, values))

"""The headline of another choice is worded by the rule of Python: cases by hand and many at random."""

import numpy as np
import pytest

from gapline.report.order import ArmOrder
from gapline.report.page.seal import read_part
from gapline.report.statements.headline import Evidence, write_headline
from gapline.statistics.cells import TIE
from gapline.statistics.contrasts import holm
from gapline.statistics.ranking import rank_means

LEVEL = 0.95
KERNEL = "squeezed"
# A page without data: what the headline asks for, and wins and losses of each arm against the first.
STUB = """
const page = {};
function difference(_page, _choice, _cells, a, b) { return page.against[`${a}-${b}`]; }
"""


@pytest.fixture(scope="module")
def words(browser):
    """Return a function that words cases by the script of the page."""
    script = "\n".join(
        [STUB, *(read_part(f"script/{name}.js") for name in ("format", "order", "ranks", "holm", "headline"))]
    )
    tab = browser.new_page()
    yield lambda cases: tab.evaluate(
        f"""(cases) => {{ {script}
        return cases.map(({{ head, choice, summary, judged, against }}) => {{
          Object.assign(page, {{ head, choice: {{ ...choice, hidden: new Set(choice.hidden) }}, against }});
          return headlineWords(summary, judged);
        }}); }}""",
        cases,
    )
    tab.close()


def case(means, pairs, *, declared=(), instances=9, tied=False, others=(), reason=None, empty=False, more=0):
    """Return the headline by Python, and the case as the page has it; `pairs` has difference, low, high and p.

    As many `more` contrasts are declared, of arms that are not ranked.
    """
    arms = sorted(means, key=lambda arm: (means[arm], arm))
    ranks = rank_means(np.array([means[arm] for arm in arms])).tolist()
    rows = [
        {"a": a, "b": b, "declared": (a, b) in declared, "difference": d, "low": low, "high": high, "p": p,
         "p_holm": None, "reason": None if low is not None else "no spread"}
        for (a, b), (d, low, high, p) in pairs.items()
    ]  # fmt: skip
    family = [row for row in rows if row["declared"] and row["p"] is not None]
    for row, p in zip(family, holm([*(row["p"] for row in family), *[1.0] * more]), strict=False):
        row["p_holm"] = float(p)
    mine = [row["p"] for row in rows if arms and arms[0] in (row["a"], row["b"])]
    worst = None if None in mine else 1 + int(np.sum(holm(mine) > 1 - LEVEL))
    counts = {"wins": 0, "losses": 0} if tied else {"wins": 5, "losses": 4}
    ranking = {arm: counts | {"rank": rank, "rank_high": worst} for arm, rank in zip(arms, ranks, strict=True)}
    order = ArmOrder(tuple(arms), (), dict(zip(arms, ranks, strict=True)), others=tuple(others), reason=reason)
    every = means | dict.fromkeys(others, 0.5)
    found = write_headline(
        order,
        Evidence(KERNEL, LEVEL, every, instances, ranking=ranking, empty=empty,
                 contrasts=sorted(rows, key=lambda row: not row["declared"])),
    )  # fmt: skip
    shown = {
        arm: {"arm": k, "name": arm, "score": every[arm], "runs": 4, "empty": 4 if empty else 0}
        for k, arm in enumerate(every)
    }
    for arm, rank in zip(arms, ranks, strict=True):
        shown[arm]["rank"] = rank
    compared = [shown[arm] for arm in arms]
    numbers = {frozenset((a, b)): counts for a in range(len(every)) for b in range(len(every))}
    return found, {
        "head": {"level": LEVEL, "tie": TIE, "instanceSet": {"arms": sorted(arms)}},
        "choice": {"kernel": {"name": KERNEL, "kind": "squeezed"}, "hidden": []},
        "summary": {"arms": list(shown.values()), "visible": list(shown.values()), "compared": compared,
                    "others": [shown[arm] for arm in others], "notRanked": None, "reason": reason,
                    "instances": instances, "score": None},
        "judged": {"contrasts": sorted(rows, key=lambda row: not row["declared"])},
        "against": {"-".join(map(str, sorted(pair))): one for pair, one in numbers.items() if len(pair) == 2},
    }  # fmt: skip


def random_case(generator):
    """Draw two to five arms with means, intervals and p-values, some equal, some without an interval."""
    arms = [f"arm {k}" for k in range(int(generator.integers(2, 6)))]
    means = {arm: float(generator.choice([0.1, 0.2, 0.2, generator.random()])) for arm in arms}
    pairs = {}
    for k, a in enumerate(arms):
        for b in arms[k + 1 :]:
            apart, half = means[a] - means[b], float(generator.choice([0.01, 0.05, 0.2]))
            pair, apart = ((a, b), apart) if generator.random() < 0.5 else ((b, a), -apart)
            ends = (None, None) if generator.random() < 0.1 else (apart - half, apart + half)
            p = (
                None
                if ends[0] is None and generator.random() < 0.5
                else float(generator.choice([1e-4, 0.01, 0.03, 0.4]))
            )
            pairs[pair] = (apart, *ends, p)
    declared = [pair for pair in pairs if generator.random() < 0.25]
    return case(means, pairs, declared=declared, instances=int(generator.choice([1, 2, 3, 12])))


def test_the_script_words_every_case_as_python_does(words):
    generator = np.random.default_rng(14)
    two = {("x", "y"): (-0.2, -0.3, -0.1, 0.01)}
    cases = [
        case({"x": 0.1, "y": 0.3}, two),
        case({"x": 0.1, "y": 0.1}, {("x", "y"): (0.0, None, None, 1.0)}, tied=True),
        case({"x": 0.1, "y": 0.3}, two, empty=True),
        # Holm over more declared contrasts than the ranking has pairs.
        case({"x": 0.1, "y": 0.3}, two, declared=two, more=2),
        case({"x": 0.1, "y": 0.3}, two, declared=two, more=9),
        case({}, {}, others=("only",)),
        case({}, {}, others=("x", "y"), reason="no two arms ran the same instances"),
        *(random_case(generator) for _ in range(400)),
    ]
    found = words([page for _, page in cases])
    for (python, page), (text, detail) in zip(cases, found, strict=True):
        assert (text, detail) == (python.text, python.detail), page
    texts = "\n".join(python.text for python, _ in cases)
    phrases = (
        "other ranked arms", "is ahead of arm", "cannot be distinguished from it", "from them", "share the lowest mean",
        "only", "is better", "no significant difference", "No significant difference", "no interval",
    )  # fmt: skip
    assert [phrase for phrase in phrases if phrase not in texts] == []

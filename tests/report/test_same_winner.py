"""Arms that ran other instances: every output ranks the same arms, names the same winner, or none."""

import random

import pytest

import gapline as gl
from gapline.report.facts import make_statements
from gapline.report.macros import study_macros
from gapline.report.order import order_arms
from gapline.report.page.data import page_data
from gapline.report.page.words import page_head, page_words
from gapline.report.tables.means import score_document, score_table
from gapline.report.tables.sensitivity import pooled_table
from gapline.report.write import results_document
from gapline.report.writers.latex import to_latex
from gapline.study.analyse import analyse


def random_study(seed):
    """Return a study of two to five arms on random sets of up to six instances in two panels."""
    chance = random.Random(seed)
    arms = "abcde"[: chance.randint(2, 5)]
    shared = [chance.sample(range(6), chance.randint(1, 6)) for _ in range(2)]
    runs = []
    for arm in arms:
        # Often one of two sets, so that groups of arms with the same instances exist.
        numbers = chance.choice(shared) if chance.random() < 0.7 else chance.sample(range(6), chance.randint(1, 6))
        for number in numbers:
            for run in range(1, chance.choice((2, 3, 3))):
                level = 100 * (1 + 0.1 * number * chance.random())
                runs.append(
                    {"arm": arm, "instance": f"i{number}", "panel": "pq"[number % 2], "seed": run, "horizon": 10.0}
                    | {"trace": [(chance.uniform(0, 9), level)] if chance.random() < 0.9 else []}
                )
    snapshot = gl.Snapshot.from_values({f"i{number}": 100.0 for number in range(6)}, name="known")
    missing = ("leave-out", "leave-out", "common", "empty")[seed % 4]
    tier_two = [arms[-1]] if seed % 7 == 0 and len(arms) > 2 else []
    return gl.open_study(
        gl.Campaign.from_runs(runs), snapshots=[snapshot], missing=missing, tier_two=tier_two, draws=20
    )


def winners(study, analysis, said):
    """Return whom each table ranks first, and whose mean it prints in bold."""
    table = score_table(study.summary)
    lines = [line for _, lines in table.parts for line in lines]
    mean = [column.head for column in table.columns].index(study.kernels[0])
    latex = [line.split("&") for line in to_latex(table).splitlines()]
    document = score_document(study.scores[0], study.summary, per_run=False, order=order_arms(study.summary))
    name = next(iter(analysis.labels))
    pooled = pooled_table(analysis)
    own = next(lines for _, lines in pooled.parts)
    lead = [column.head for column in pooled.columns].index(study.kernels[0])
    return {
        "terminal": {line[1].text for line in lines if line[0].text == "1"},
        "bold": {line[1].text for line in lines if line[mean].bold},
        "latex": {line[1].strip() for line in latex if len(line) > mean and "textbf" in line[mean]},
        "json": {row["arm"] for row in document["arms"] if row["rank"] == 1},
        "order": {arm for arm, rank in said.order.ranks.items() if rank == 1},
        "ranking": {row["arm"] for row in study.ranking.frame.to_dicts() if row["rank"] == 1},
        "pooled": {
            row["arm"] for row in analysis.metrics.pooled.to_dicts()
            if row["rank"] == 1 and (row["kernel"], row["reference"]) == (study.kernels[0], name)
        },
        "bold in pooled": {line[0].text for line in own if line[lead].bold},
    }  # fmt: skip


def check_winners(study, found, said, label):
    assert len({frozenset(arms) for arms in found.values()}) == 1, (label, found)
    ranked = set(study.ranked_arms)
    assert found["terminal"] <= ranked, label
    assert bool(found["terminal"]) == bool(ranked), label
    assert len(ranked) != 1, label
    assert page_head(said)["instanceSet"]["arms"] == sorted(ranked), label
    means = dict(study.summary.frame.select("arm", study.kernels[0]).iter_rows())
    for row in (*study.ranking.frame.to_dicts(), *study.intervals.frame.to_dicts()):
        assert row["mean"] == pytest.approx(means[row["arm"]], abs=1e-12), label
    for row in study.contrasts.frame.to_dicts():
        assert {row["a"], row["b"]} <= ranked, label
        # Over the same instances a contrast is the difference of the means, and never contradicts their order.
        assert row["difference"] == pytest.approx(means[row["a"]] - means[row["b"]], abs=1e-12), label
    if " is ahead of " in said.headline.text:
        assert said.headline.text.split(" ")[0] in found["terminal"], label


@pytest.mark.parametrize("block", [pytest.param(k, marks=[] if k == 0 else pytest.mark.slow) for k in range(15)])
def test_every_table_names_the_same_winner_or_none(block):
    for seed in range(20 * block, 20 * (block + 1)):
        study = random_study(seed)
        said = make_statements(study)
        check_winners(study, winners(study, analyse(study), said), said, seed)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 9, pytest.param(range(10, 20), marks=pytest.mark.slow)])
def test_results_macros_analysis_and_page_name_them_too(seed):
    for number in [seed] if isinstance(seed, int) else seed:
        study = random_study(number)
        analysis, said = analyse(study), make_statements(study)
        results = results_document(study, analysis, said)
        macros = study_macros(analysis, said)
        data = page_data(study)
        assert data is not None
        page = page_words(study, said, data.head)["ranking"]["rows"]
        found = winners(study, analysis, said) | {
            "results": {row["arm"] for row in results["readings"][0]["arms"] if row["rank"] == 1},
            "macros": {macro.owner for macro in macros if (macro.statistic, macro.value) == ("rank", "1")},
            "page": {row[1].split(" ")[0] for row in page if row[0] == "1"},
            "analysis": {row["arm"] for row in analysis.document()["ranking"] if row["rank"] == 1},
        }
        check_winners(study, found, said, number)
        assert results["reading"]["instance_set"]["arms"] == list(study.ranked_arms)

"""Fifty unusual campaigns through every output: no two sentences contradict each other, one question has one number.

A campaign is opened from files, as a user would. Sentences come from the terminal (`score`, `analyse`, `compare`), the
methods, the captions of tables and figures, macros and the page; numbers from JSON, CSV, macros and the page's data.
"""

import csv
import html
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.report.page.data import page_data
from gapline.report.statements.headline import FEW_INSTANCES
from gapline.report.write import write_report
from unusual_campaigns import Unusual, unusual_campaigns

pytestmark = pytest.mark.slow

CAMPAIGNS = list(unusual_campaigns())
# Options of the command line under which a choice of `open_study` goes by another name.
OPTIONS = {"kernels": "--kernel", "contrasts": "--contrast", "tier_two": "--tier2"}
RANGES = {"squeezed": (-1.0, 1.0), "maxform": (-1.0, 1.0), "berthold": (0.0, 1.0)}


@dataclass
class Outputs:
    """What was said and written about one campaign."""

    study: gl.Study
    texts: dict[str, str]
    scored: dict[str, Any]
    analysed: dict[str, Any]
    results: dict[str, Any]
    folder: Path

    @property
    def everything(self) -> str:
        """All sentences, a line each text, white space folded."""
        return "\n".join(" ".join(text.split()) for text in self.texts.values())


def options_of(choices: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in choices.items():
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        for one in value if isinstance(value, tuple | list) else [value]:
            words += [option, *(map(str, one) if isinstance(one, tuple) else [str(one)])]
    return words


def collect(case: Unusual, folder: Path, capsys) -> Outputs:
    trace, references = folder / "traces.csv", folder / "best.csv"
    trace.write_text(case.trace())
    references.write_text(case.reference_file())
    options = ["--references", str(references), *options_of(dict(case.choices))]

    def said(*words: str) -> str:
        code = run([*words, *options])
        out = capsys.readouterr()
        assert code in (0, 1), out.err
        assert not out.err.startswith("error"), out.err
        return out.out

    texts = {command: said(command, str(trace)) for command in ("score", "analyse")}
    texts["analyse --all"] = said("analyse", str(trace), "--all")
    documents = {command: json.loads(said(command, str(trace), "--json")) for command in ("score", "analyse")}
    study = gl.open_study(str(trace), references=str(references), **case.choices)
    if len(study.ranked_arms) >= 2:
        texts["compare"] = said("compare", *(f"{trace}:{arm}" for arm in study.ranked_arms[:2]))
    results = folder / "results"
    write_report(study, results, formats=("svg",))
    for path in sorted(results.rglob("*")):
        if path.suffix in (".md", ".tex", ".txt"):
            texts[path.name] = path.read_text(encoding="utf-8")
    page = (results / "report.html").read_text(encoding="utf-8")
    bare = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    texts["page"] = html.unescape(re.sub(r"<[^>]+>", " ", bare))
    published = json.loads((results / "results.json").read_text(encoding="utf-8"))
    for name, document in (documents | {"results": published}).items():
        texts[f"{name} --json"] = "\n".join(_strings(document))
    return Outputs(study, texts, documents["score"], documents["analyse"], published, results)


def _strings(document: Any) -> Iterator[str]:
    """Yield every sentence and word of a JSON document."""
    if isinstance(document, str):
        yield document
    for item in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from _strings(item)


def csv_rows(folder: Path, name: str) -> list[dict[str, str]]:
    path = folder / "tables" / f"{name}.csv"
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))) if path.is_file() else []


def macros(folder: Path) -> dict[str, str]:
    return dict(re.findall(r"\\newcommand\{\\(\w+)\}\{(.*)\}", (folder / "macros.tex").read_text(encoding="utf-8")))


def ranked_first(found: Outputs) -> dict[str, set[str]]:
    """Return whom each output puts first."""
    first = found.results["readings"][0]["arms"]
    names = {
        "results.json": {row["arm"] for row in first if row["rank"] == 1},
        "scores.csv": {row["arm"] for row in csv_rows(found.folder, "scores") if row["rank"] == "1"},
        "ranking": {row["arm"] for row in found.analysed["ranking"] or () if row["rank"] == 1},
        "terminal": {_arm_of(line, found.study.arms) for line in found.texts["score"].splitlines()} - {None},
    }
    lead = found.study.kernels[0]
    pooled = found.analysed["metrics"]["pooled"]
    frozen = next(iter(dict.fromkeys(row["reference"] for row in pooled)), None)
    names["pooled"] = {
        row["arm"] for row in pooled if row["rank"] == 1 and (row["kernel"], row["reference"]) == (lead, frozen)
    }
    return names


def _arm_of(line: str, arms: tuple[str, ...]) -> str | None:
    """Return the arm of a row of rank 1, whose name may hold spaces."""
    ranked = re.match(r"\s*1 +(\S.*)", line)
    return None if ranked is None else max((arm for arm in arms if ranked[1].startswith(arm)), key=len, default=None)


@pytest.fixture(scope="module", params=CAMPAIGNS, ids=lambda case: case.name)
def case(request):
    return request.param


def test_no_two_sentences_contradict_each_other_and_one_question_has_one_number(case, tmp_path, capsys):
    found = collect(case, tmp_path, capsys)
    check_numbers(found)
    check_ranks(found)
    check_sentences(case, found)
    check_withheld(found)


def check_numbers(found: Outputs) -> None:
    study, lead = found.study, found.study.kernels[0]
    means = dict(study.summary.frame.select("arm", lead).iter_rows())
    assert {row["arm"]: row["scores"][lead] for row in found.scored["arms"]} == means
    assert {row["arm"]: row["scores"][lead] for row in found.results["readings"][0]["arms"]} == means
    table = {row["arm"]: row[lead] for row in csv_rows(found.folder, "scores")}
    assert {arm: float(text) if text else None for arm, text in table.items()} == means
    for document in (found.results, found.analysed):
        for row in document["intervals"] or ():
            if row["mean"] is not None:
                assert row["mean"] == pytest.approx(means[row["arm"]], abs=1e-12)
            if row["low"] is not None and lead in RANGES:
                low, high = RANGES[lead]
                assert low <= row["low"] <= row["mean"] <= row["high"] <= high
    coverage = [found.scored["coverage"], found.analysed["reading"]["coverage"], found.results["reading"]["coverage"]]
    assert all(one == coverage[0] for one in coverage)
    data = page_data(study)
    assert data is not None
    assert set(data.head["arms"]) == set(means)
    # One headline: that of the JSON is the one of the macros, the page, the methods and the terminal.
    headline = _bare(found.results["headline"]["text"])
    assert _bare(macros(found.folder)["StudyHeadline"]) == headline
    for name in ("page", "methods.md", "methods.tex", "analyse"):
        assert headline in _bare(found.texts[name]), name


def _bare(text: str) -> str:
    """Return a text without markup and spaces."""
    text = re.sub(r"\\(allowbreak|textminus|textbar|ensuremath)(\{\})?", "", text)
    return re.sub(r"[\s\\{}$*−-]", "", text)


def check_ranks(found: Outputs) -> None:
    """Every output ranks the same arms, in the same order; who is not in the ranked group has no rank anywhere."""
    study = found.study
    ranks = {row["arm"]: row["rank"] for row in found.results["readings"][0]["arms"]}
    assert {arm for arm, rank in ranks.items() if rank is not None} <= set(study.ranked_arms)
    assert {row["arm"]: row["rank"] for row in csv_rows(found.folder, "scores")} == {
        arm: "" if rank is None else str(rank) for arm, rank in ranks.items()
    }
    winners = {name: arms for name, arms in ranked_first(found).items() if arms}
    assert len({frozenset(arms) for arms in winners.values()}) <= 1, winners
    compared = {row[side] for row in found.results["contrasts"] or () for side in ("a", "b")}
    assert compared <= set(study.ranked_arms)
    for row in found.results["contrasts"] or ():
        # What is said to differ does: a p-value belongs to a difference over instances that both have.
        assert row["p"] is None or row["instances"] >= 2
        assert row["low"] is None or row["low"] <= row["high"]


SILENT = (
    # Without a register, a journal or a checker none of these can be known.
    "frozen before the runs",
    "declared beforehand",
    "announced to",
    "independent checker",
    "registered",
    "0 crashed",
)
AHEAD = re.compile(r"\b(is ahead of|is better than|has the lowest mean)\b")


def check_withheld(found: Outputs) -> None:
    """An alarm, few instances or arms without a ranking: no output names a better arm, whatever it is asked for."""
    text, study, headline = found.everything, found.study, found.results["headline"]
    # Nothing is settled, better or worse where the headline names nobody.
    if study.alarms or study.instance_set.instances <= FEW_INSTANCES or not found.analysed["ranking"]:
        assert not re.search(r"Settled: [1-9]", text)
        names = "|".join(map(re.escape, study.arms))
        # The legend of a table says which sign is better, of any pair.
        assert not re.search(rf"(?<!negative, )\b({names}) is (ahead of|better\b)", text)
    if study.alarms:
        assert not headline["settled"]
        assert "no verdict" in found.texts.get("compare", "no verdict")
        assert not re.search(r": (better|worse): [+−]", found.texts.get("compare", ""))
        for name in ("score", "analyse"):
            lines = [line for line in found.texts[name].splitlines() if line.strip()]
            assert "ALARM" in lines[0] or "alarm" in lines[0], lines[0]
        assert "alarm" in found.texts["methods.md"].lower()
    if len(study.ranked_arms) < 2:
        assert not re.search(r"\\textbf\{", (found.folder / "tables" / "scores.tex").read_text())
        assert "has the lowest mean" not in text


def check_sentences(case: Unusual, found: Outputs) -> None:
    text, study = found.everything, found.study
    for words in SILENT:
        if words != "0 crashed" or "status" not in case.rows[0]:
            assert not re.search(rf"\b{words}", text), words
    headline = found.results["headline"]
    told = f"{headline['text']}. {headline['detail']}"
    means = [row["scores"][study.kernels[0]] for row in found.scored["arms"] if row["arm"] in study.ranked_arms]
    if AHEAD.search(told):
        assert len(study.ranked_arms) >= 2
        assert not study.alarms
        assert found.analysed["ranking"]
    if "is ahead of" in told or "is better than" in told:
        assert headline["settled"]
        ranking = {row["arm"]: row for row in found.analysed["ranking"]}
        first = min(ranking.values(), key=lambda row: row["rank"])
        assert first["rank_high"] == 1, "ahead, and first place is open"
    if all(mean is None or mean == 1.0 for mean in means) and study.coverage.empty == study.coverage.runs:
        assert not AHEAD.search(text)
        assert "no run found a solution" in text.lower()
    if "no difference in any cell" in text:
        assert not AHEAD.search(text)
        assert not re.search(r"Flips under another choice: [1-9]", text)
    if re.search(r"nothing (?:to|can) flip", text):
        assert not re.search(r"Flips under another choice: [1-9]", text)
    assert not (re.search(r"(\d+) of \1 planned runs", text) and "not complete" in text)
    if "horizon" in case.choices and "horizon" not in case.rows[0]:
        assert "as stated in the file" not in text
    beaten = int(study.scores[0].frame["beaten"].sum())
    if beaten:
        assert re.search(r"\bbeat", found.texts["methods.md"])
    assert "nan" not in re.findall(r"\b(nan|None|inf)\b", text), "a number that is none was printed"
    for row in found.results["intervals"] or ():
        assert row["low"] is None or math.isfinite(row["low"])

"""A gate on real traces: one solver against itself, its seeds dealt out anew to two arms each time."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

import gapline as gl
from gapline.generate.study import Panel, write_study
from gapline.run.campaign import run_study
from gapline.scoring.scores import Scores
from gapline.statistics.bootstrap import Bootstrap
from gapline.study.gate import judge_gate

SEEDS = tuple(range(1, 9))
PANELS = (Panel(20, 4), Panel(40, 4))


def run_traces(folder: Path) -> Path:
    """Run one real solver on eight instances with eight seeds each, three seconds a run; what is done stays."""
    if not (folder / "study.toml").exists():
        contract = write_study(folder, "cvrp", name="gate", horizon=3.0, seeds=SEEDS, panels=list(PANELS))
        head, *arms = contract.read_text().split("[[arms]]\n")
        head = head.replace('contrasts = [["pyvrp", "ortools"]]', "contrasts = []")
        contract.write_text(f"{head}[[arms]]\n{next(arm for arm in arms if 'pyvrp' in arm)}")
    report = run_study(folder)
    if report.left:
        raise SystemExit(f"{report.left} runs are left in {folder}")
    return folder


def real_scores(source: Path) -> Scores:
    """Score the traces against the best of them."""
    return gl.open_study(source, policy="analysis").scores[0]


def deal(scores: Scores, generator: np.random.Generator) -> Scores:
    """Deal the seeds of every instance out to two arms, half each: two arms that do not differ."""
    frame = scores.frame.sort("panel", "instance", "seed")
    order = np.concatenate([generator.permutation(size) for size in _sizes(frame)])
    half = np.concatenate([np.full(size, size // 2) for size in _sizes(frame)])
    # An odd seed is left over, and is nobody's.
    arm = np.where(order < half, "old", np.where(order < 2 * half, "new", "none"))
    dealt = frame.with_columns(arm=pl.Series(arm)).filter(pl.col("arm") != "none")
    return Scores(**{name: getattr(scores, name) for name in scores.__dataclass_fields__} | {"frame": dealt})


def _sizes(frame: pl.DataFrame) -> Iterator[int]:
    yield from frame.group_by("panel", "instance", maintain_order=True).len()["len"]


def gate_errors(
    scores: Scores, *, gates: int, limit: float = 0.0, error: float = 0.05, seed: int = 1
) -> dict[str, float]:
    """Return how often each gate errs on arms that do not differ, and the rate that the gates themselves state."""
    generator = np.random.Generator(np.random.PCG64(seed))
    failed, passed, stated = 0, 0, []
    for _ in range(gates):
        estimate = Bootstrap(deal(scores, generator)).difference("new", "old")
        worse = judge_gate(estimate, limit=limit, error=error, method="skew-t")
        better = judge_gate(estimate, question="superior", limit=limit, error=error, method="skew-t")
        failed += worse.failed
        passed += not better.failed
        stated.append(worse.wrong)
    return {
        "fails an arm that is no worse": failed / gates,
        "passes an arm that is no better": passed / gates,
        "stated": float(np.mean(stated)),
    }

"""`gapline paper` as a user meets it."""

import pytest

from gapline.cli.app import run

pytestmark = pytest.mark.slow


def test_paper_of_a_study_has_its_tables(traces, capsys):
    arguments = ["paper", "traces.csv", "--references", "refs.csv", "-o", "paper", "--tier2", "fast", "--format", "svg"]
    assert run([*arguments, "--title", "my runs"]) == 0
    assert "9 figures" in capsys.readouterr().out
    tables = {path.stem for path in (traces / "paper" / "tables").iterdir()}
    # Two arms, one of them descriptive, have no ratio; without a contract there is no design.
    kernels = {"saturation", "signs", "kernel-ratios"}
    assert tables == {"worked-example", "scale-landmarks", "health", "pooled", "pairs", "grid", "cutoffs", *kernels}
    assert "my runs" in (traces / "paper" / "figures" / "two-regime.svg").read_text(encoding="utf-8")

"""`gapline curve`: numbers, drawings, and a plot on the terminal."""

import json
from pathlib import Path

import polars as pl

from gapline.cli.app import run


def test_curve_writes_numbers_and_drawings(worked, capsys):
    outputs = ["c.csv", "c.json", "c.svg", "c.png", "c.pdf"]
    assert run(["curve", *worked, "--bands", *(word for name in outputs for word in ("-o", name))]) == 0
    assert capsys.readouterr().out.count("wrote ") == 5
    table = pl.read_csv("c.csv")
    assert set(table["curve"]) == {"mean", "attainment", "mean band", "attainment band"}
    mean = table.filter((pl.col("curve") == "mean") & (pl.col("arm") == "run 2"))
    assert mean["time"].to_list() == [0, 5, 7, 11, 14, 19, 24, 27]
    document = json.loads(Path("c.json").read_text())
    assert document["mean"][1]["value"] == mean["value"].to_list()
    heads = {"c.svg": b"<svg", "c.png": b"\x89PNG", "c.pdf": b"%PDF"}
    assert all(Path(name).read_bytes().startswith(head) for name, head in heads.items())


def test_curve_plots_on_the_terminal(worked, capsys):
    assert run(["curve", *worked]) == 0
    out = capsys.readouterr().out
    assert "mean squeezed gap" in out
    assert "share of runs within 1 % of the reference" in out
    assert "━ run 1" in out

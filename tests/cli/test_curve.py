"""`gapline curve`: numbers, drawings, and a plot on the terminal."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from gapline.cli.app import run


@pytest.mark.slow
def test_curve_writes_numbers_and_drawings(worked, capsys):
    outputs = ["c.csv", "c.json", "c.svg", "c.png", "c.pdf"]
    assert run(["curve", *worked, "--bands", *(word for name in outputs for word in ("-o", name))]) == 0
    out = capsys.readouterr().out
    assert out.count("wrote ") == 5
    assert "note: no bands: every curve has a panel with one instance" in out
    table = pl.read_csv("c.csv")
    assert set(table["curve"]) == {"mean", "attainment"}
    mean = table.filter((pl.col("curve") == "mean") & (pl.col("arm") == "run 2"))
    assert mean["time"].to_list() == [0, 5, 7, 11, 14, 19, 24, 27]
    document = json.loads(Path("c.json").read_text())
    assert document["mean"][1]["value"] == mean["value"].to_list()
    heads = {"c.svg": b"<svg", "c.png": b"\x89PNG", "c.pdf": b"%PDF"}
    assert all(Path(name).read_bytes().startswith(head) for name, head in heads.items())


def test_a_drawing_is_as_a_paper_wants_it_and_its_words_lie_beside_it(worked, capsys):
    paper = ["--width", "column", "--no-title", "--grey", "--font-size", "7"]
    assert run(["curve", *worked, *paper, "-o", "c.svg"]) == 0
    drawing, words = Path("c.svg").read_text(encoding="utf-8"), Path("c.txt").read_text(encoding="utf-8")
    assert ' width="8.5cm"' in drawing
    colours = {one.lower() for one in re.findall(r"#[0-9A-Fa-f]{6}", drawing)}
    assert all(one[1:3] == one[3:5] == one[5:7] for one in colours)
    assert words.startswith("Mean convergence: smaller is better\n")
    digests = re.findall("sha256:[0-9a-f]{64}", words)
    assert len(digests) == 2
    assert all(digest in drawing for digest in digests)
    capsys.readouterr()
    assert run(["curve", *worked, "--width", "wide", "-o", "c.svg"]) == 2
    assert "width: expected column, page or centimetres, got 'wide'" in capsys.readouterr().err


@pytest.mark.slow
def test_bands_are_pointwise_and_where_asked_for_joint(two_arms, capsys):
    source = ["curve", "traces.csv", *two_arms, "--bands"]
    assert run([*source, "-o", "c.csv", "-o", "c.svg"]) == 0
    pointwise = pl.read_csv("c.csv").filter(pl.col("curve") == "mean band")
    assert "joint_low" not in pointwise.columns
    assert run([*source, "--simultaneous", "-o", "c.csv", "-o", "joint.svg"]) == 0
    both = pl.read_csv("c.csv").filter(pl.col("curve") == "mean band")
    assert both["low"].to_list() == pointwise["low"].to_list()
    wide = both.filter(pl.col("high") > pl.col("low"))
    assert (wide["joint_low"] < wide["low"]).all()
    # Both end at 1, beyond which no gap lies.
    assert ((wide["joint_high"] > wide["high"]) | (wide["high"] == 1)).all()
    assert Path("joint.svg").read_bytes() != Path("c.svg").read_bytes()
    capsys.readouterr()


def test_curve_plots_on_the_terminal(worked, capsys):
    assert run(["curve", *worked]) == 0
    out = capsys.readouterr().out
    assert "mean squeezed gap" in out
    assert "share of runs within 1 % of the reference" in out
    assert "A run 1   B run 2   C run 3" in out


def test_the_classical_kinds_are_printed_and_written(worked, capsys):
    assert run(["curve", *worked, "--kind", "target-ecdf"]) == 0
    assert "Target ECDF" in capsys.readouterr().out
    assert run(["curve", *worked, "--kind", "eaf", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {curve["level"] for curve in document["curves"]} == {0.25, 0.5, 0.75}
    pair = ["--pair", "run 1", "run 2"]
    assert run(["curve", *worked, "--kind", "eaf-difference", *pair, "-o", "d.csv", "-o", "d.png"]) == 0
    assert set(pl.read_csv("d.csv")["a"]) == {"run 1"}
    assert Path("d.png").read_bytes().startswith(b"\x89PNG")


def test_options_of_one_kind_are_refused_for_another(worked, capsys):
    assert run(["curve", *worked, "--pair", "run 1", "run 2"]) == 2
    assert "--kind eaf-difference" in capsys.readouterr().err
    assert run(["curve", *worked, "--kind", "eaf", "--bands"]) == 2
    assert "neither --by nor --bands" in capsys.readouterr().err


def test_logarithmic_time_is_a_matter_of_drawing(worked, capsys):
    """The first step of all after time 0 is at 2 s; the numbers are from time 0 on either way."""
    assert run(["curve", *worked, "--log-time"]) == 0
    out = capsys.readouterr().out
    assert out.count("logarithmic time  ") == 2
    assert "logarithmic time from 2 s on, what holds there is drawn from there" in out
    names = [word for name in ("log.csv", "log.json", "log.svg") for word in ("-o", name)]
    assert run(["curve", *worked, "--log-time", *names]) == 0
    assert run(["curve", *worked, "-o", "linear.csv", "-o", "linear.json", "-o", "linear.svg"]) == 0
    assert Path("log.csv").read_bytes() == Path("linear.csv").read_bytes()
    log, linear = (json.loads(Path(f"{kind}.json").read_text()) for kind in ("log", "linear"))
    assert (log["log_time_from"], linear["log_time_from"]) == (2.0, None)
    assert log["mean"] == linear["mean"]
    assert "time (s), logarithmic" in Path("log.svg").read_text()
    assert "logarithmic" not in Path("linear.svg").read_text()


def test_the_classical_curves_take_logarithmic_time_and_the_map_does_not(worked, capsys):
    for kind in ("target-ecdf", "eaf"):
        assert run(["curve", *worked, "--kind", kind, "--log-time", "-o", "c.svg"]) == 0
        assert "time, logarithmic" in Path("c.svg").read_text()
        assert run(["curve", *worked, "--kind", kind, "--log-time"]) == 0
        assert "logarithmic time from 2 s on" in capsys.readouterr().out
    assert run(["curve", *worked, "--kind", "eaf-difference", "--pair", "run 1", "run 2", "--log-time"]) == 2
    assert "expected without --log-time" in capsys.readouterr().err


def test_points_are_a_number_times_or_all(worked, capsys, monkeypatch):
    assert run(["curve", *worked, "-o", "whole.csv"]) == 0
    assert run(["curve", *worked, "--points", "5,12.5,27", "-o", "times.csv"]) == 0
    mean = (pl.col("curve") == "mean") & (pl.col("arm") == "run 2")
    whole, times = (pl.read_csv(name).filter(mean) for name in ("whole.csv", "times.csv"))
    assert times["time"].to_list() == [5.0, 12.5, 27.0]
    assert times["value"].to_list() == whole.filter(pl.col("time").is_in([5.0, 11.0, 27.0]))["value"].to_list()
    monkeypatch.setattr("gapline.report.curves.MOST_STEPS", 3)
    assert run(["curve", *worked, "-o", "moments.csv"]) == 0
    assert 1999 <= pl.read_csv("moments.csv").filter(mean).height <= 2001
    assert run(["curve", *worked, "--points", "all", "-o", "all.csv", "--memory", "16MiB"]) == 0
    assert Path("all.csv").read_bytes() == Path("whole.csv").read_bytes()
    capsys.readouterr()
    for wrong in ("1", "some", "1,x", "-3"):
        assert run(["curve", *worked, f"--points={wrong}"]) == 2
        assert "times such as 1,10,100, or all" in capsys.readouterr().err
    assert run(["curve", *worked, "--points", "1,1e9"]) == 2
    assert "expected times from 0 to 30, got 1, 1e+09" in capsys.readouterr().err

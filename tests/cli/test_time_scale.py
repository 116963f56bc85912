"""`--time-scale` through the commands: the same work on a faster machine is equal, and every output says why."""

import json

import pytest

from cli.two_arms import CONTRACT
from gapline.cli.app import run

SAID = "time scaled: quick × 2, other hosts × 1 (declared)"


def write(path, *, speed, host, arm="solver", machine=None):
    rows = ["arm,instance,seed,time,objective,valid,panel,horizon,host,machine"]
    for i in range(6):
        for seed in range(2):
            for step in range(1, 5):
                time = (1 + 0.3 * i + 0.1 * seed) * step / speed
                rows.append(f"{arm},i{i},{seed},{time},{160 - 12 * step},true,p{i % 2},20,{host},{machine or host}")
    path.write_text("\n".join(rows) + "\n")


@pytest.fixture
def hosts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old.csv", speed=1, host="plain")
    write(tmp_path / "new.csv", speed=2, host="quick")
    (tmp_path / "refs.csv").write_text("instance,value\n" + "".join(f"i{i},100\n" for i in range(6)))
    return ["--references", "refs.csv", "--draws", "200"]


def answer(capsys, *arguments, code=0):
    assert run([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_compare_knows_of_it(hosts, capsys):
    plain = answer(capsys, "compare", "old.csv", "new.csv", *hosts)
    assert plain["difference"] < -0.01
    assert "machines differ: plain and quick; times are not comparable as such" in plain["notes"]
    assert plain["time_scale"] is None
    # The host is in one of the two sources alone.
    scaled = answer(capsys, "compare", "old.csv", "new.csv", "--time-scale", "quick=2", *hosts)
    assert scaled["difference"] == 0.0
    assert scaled["machine_differs"] is True
    assert f"machines differ: plain and quick; their times are scaled: {SAID.partition(': ')[2]}" in scaled["notes"]
    assert scaled["time_scale"] == {"factors": {"quick": 2.0}, "source": "declared"}
    assert run(["compare", "old.csv", "new.csv", "--time-scale", "quik=2", *hosts]) == 2
    assert "did you mean 'quick'?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["score", "curve", "analyse"])
def test_it_is_printed_and_in_json(command, hosts, capsys):
    assert run([command, "old.csv", "--time-scale", "plain=1.5", *hosts]) == 0
    assert "time scaled: plain × 1.5" in capsys.readouterr().out.replace("\n", " ")
    found = answer(capsys, command, "old.csv", "--time-scale", "plain=1.5", *hosts)
    assert found.get("reading", found)["time_scale"]["factors"] == {"plain": 1.5}


@pytest.mark.slow
def test_a_report_says_it_on_the_page_in_the_tables_and_in_the_methods(hosts, tmp_path):
    assert run(["report", "new.csv", "--time-scale", "quick=2", *hosts, "-o", "out", "--format", "svg"]) == 0
    for name in ("report.html", "tables/scores.md", "methods.md"):
        assert "quick × 2, other hosts × 1" in (tmp_path / "out" / name).read_text()
    assert (
        r"quick $\times$ 2" in (tmp_path / "out" / "methods.tex").read_text()
        or "quick" in (tmp_path / "out" / "methods.tex").read_text()
    )
    methods = (tmp_path / "out" / "methods.md").read_text()
    assert "Runs are scored over 20 s of the reference machine; the horizon stated was 20 s of each machine." in methods
    assert json.loads((tmp_path / "out" / "results.json").read_text())["reading"]["time_scale"] is not None
    assert (
        r"\newcommand{\StudyTimeScale}{quick $\times$ 2, other hosts $\times$ 1 (declared)}"
        in (tmp_path / "out" / "macros.tex").read_text()
    )
    header = (tmp_path / "out" / "tables" / "runs.csv").read_text().splitlines()[0]
    assert "time_scale" in header


def test_a_contract_may_declare_it_and_two_that_differ_are_not_compared(tmp_path, monkeypatch, capsys):
    import gapline as gl

    monkeypatch.chdir(tmp_path)
    for name, host, factor in (("one", "plain", 1.25), ("two", "quick", 2)):
        folder = tmp_path / name
        folder.mkdir()
        write(folder / "traces.csv", speed=1, host=host, arm="mine")
        gl.read(str(folder / "traces.csv")).save(folder / "campaign")
        gl.Snapshot.from_values({f"i{i}": 100.0 for i in range(6)}, name="2026").save(folder / "references.json")
        text = CONTRACT.format(kernel="squeezed").replace(
            "[reference]", f'[time.scale]\n"{host}" = {factor}\n[reference]'
        )
        (folder / "study.toml").write_text(text.replace('policy = "analysis"', ""))
    assert answer(capsys, "score", "one")["time_scale"]["factors"] == {"plain": 1.25}
    # What the caller says stands in for the contract.
    assert answer(capsys, "score", "one", "--time-scale", "plain=3")["time_scale"]["factors"] == {"plain": 3.0}
    assert run(["compare", "one", "two"]) == 1
    error = capsys.readouterr().err
    assert "contracts differ in time_scale" in error
    assert "--time-scale" in error
    found = answer(capsys, "compare", "one", "two", "--time-scale", "plain=1.25", "--time-scale", "quick=2")
    assert found["time_scale"]["factors"] == {"plain": 1.25, "quick": 2.0}


def test_a_contract_with_a_scale_that_is_none_is_refused(tmp_path, capsys):
    text = CONTRACT.format(kernel="squeezed")
    for scale, said in (('"x" = -1', "expected greater than 0, got -1"), ('"x" = "fast"', "got 'fast'")):
        (tmp_path / "study.toml").write_text(text.replace("[reference]", f"[time.scale]\n{scale}\n[reference]"))
        assert run(["score", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert "time.scale.x: " in error
        assert said in error
    (tmp_path / "study.toml").write_text(text.replace("horizon = 20", 'horizon = 20\nscale = "measured"'))
    assert run(["score", str(tmp_path)]) == 2
    assert "time.scale: expected a table, got 'measured'" in capsys.readouterr().err

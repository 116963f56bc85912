"""`gapline compare` as a user meets it."""

from xml.etree import ElementTree

from cli.two_arms import write_study, write_traces
from cli.worked_traces import as_json
from gapline.cli.app import run


def test_compare_two_arms_of_one_source(two_arms, capsys):
    code, document = as_json(capsys, "compare", "traces.csv:mine", "traces.csv:theirs", *two_arms)
    assert (code, document["verdict"]) == (0, "worse")
    assert [row["panel"] for row in document["panels"]] == ["large", "small"]
    code, document = as_json(capsys, "compare", "traces.csv:theirs", "traces.csv:mine", *two_arms)
    assert (code, document["verdict"]) == (0, "better")


def test_compare_fails_only_when_worse_beyond_the_limit(two_arms, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    pair = ["compare", "traces.csv:mine", "new.csv", *two_arms]
    assert run([*pair, "--fail-if-worse", "0.002"]) == 1
    out = capsys.readouterr().out
    assert "new.csv:mine: worse" in out
    assert "failed: worse by more than 0.002" in out
    assert run([*pair, "--fail-if-worse", "0.5"]) == 0
    assert run(["compare", "new.csv", "traces.csv:mine", *two_arms, "--fail-if-worse", "0.002"]) == 0


def test_compare_refuses_other_horizons_and_names_them(two_arms, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", horizon=30, arms=("mine",))
    assert run(["compare", "traces.csv:mine", "new.csv", *two_arms]) == 1
    assert "horizons differ on 8 instances" in capsys.readouterr().err
    assert run(["compare", "traces.csv:mine", "new.csv", *two_arms, "--horizon", "20"]) == 0
    assert "the runs state different horizons" in capsys.readouterr().out


def test_compare_asks_for_the_arm_where_there_are_several(two_arms, capsys):
    assert run(["compare", "traces.csv", "traces.csv:mine", *two_arms]) == 2
    assert "expected one arm, got mine, theirs" in capsys.readouterr().err
    assert run(["compare", "traces.csv:mime", "traces.csv:mine", *two_arms]) == 2
    assert "did you mean 'mine'?" in capsys.readouterr().err


def test_contracts_that_ask_different_questions_are_not_compared_silently(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "old")
    write_study(tmp_path / "new", kernel="squeezed")
    assert run(["compare", "old:mine", "new:mine"]) == 1
    assert "contracts differ in kernel: old declares maxform, new declares squeezed" in capsys.readouterr().err
    code, document = as_json(capsys, "compare", "old:mine", "new:mine", "--kernel", "squeezed")
    assert (code, document["kernel"], document["draws"]) == (0, "squeezed", 77)
    assert document["difference"] == 0.0


def gated(two_arms, *more):
    return ["compare", "traces.csv:mine", "new.csv", *two_arms, "--fail-if-worse", "0.002", *more]


def test_markdown_and_junit_are_written_and_said(two_arms, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    assert run(gated(two_arms, "--markdown", "c.md", "--junit", "c.xml")) == 1
    out, err = capsys.readouterr()
    assert err == "wrote c.md\nwrote c.xml\n"
    assert "failed: worse by more than 0.002" in out
    text = (tmp_path / "c.md").read_text()
    assert text.startswith("### Failed: worse by more than 0.002\n")
    suite = ElementTree.parse(tmp_path / "c.xml").find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    first = (tmp_path / "c.md").read_bytes(), (tmp_path / "c.xml").read_bytes()
    assert run(gated(two_arms, "--markdown", "c.md", "--junit", "c.xml")) == 1
    assert ((tmp_path / "c.md").read_bytes(), (tmp_path / "c.xml").read_bytes()) == first


def test_the_summary_of_a_workflow_is_appended_to(two_arms, tmp_path, monkeypatch, capsys):
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    (tmp_path / "summary.md").write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert run(gated(two_arms)) == 1
    assert (tmp_path / "summary.md").read_text() == "# Before\n"
    capsys.readouterr()
    assert run(gated(two_arms, "--markdown", "-")) == 1
    out, err = capsys.readouterr()
    # On the standard output it stands alone, for whoever pipes it on.
    assert out.startswith("### Failed: worse by more than 0.002\n")
    assert err == "appended to $GITHUB_STEP_SUMMARY\n"
    assert (tmp_path / "summary.md").read_text() == f"# Before\n{out}\n"
    code, document = as_json(capsys, *gated(two_arms, "--markdown", "c.md"))
    assert (code, document["failed"]) == (1, True)
    assert (tmp_path / "summary.md").read_text().count("### Failed") == 2


def test_a_refused_comparison_is_told_in_both_files(two_arms, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_traces(tmp_path / "new.csv", horizon=30, arms=("mine",))
    assert run(gated(two_arms, "--markdown", "c.md", "--junit", "c.xml")) == 1
    assert "horizons differ on 8 instances" in capsys.readouterr().err
    assert "horizons differ on 8 instances" in (tmp_path / "c.md").read_text()
    suite = ElementTree.parse(tmp_path / "c.xml").find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")


def test_wrong_places_are_refused(two_arms, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", arms=("mine",))
    assert run(gated(two_arms, "--markdown", "-", "--json")) == 2
    assert "expected --json or --markdown - on the standard output, got both" in capsys.readouterr().err
    assert run(gated(two_arms, "--junit", ".")) == 2
    assert "expected a file to write, got a directory" in capsys.readouterr().err


def test_suggest_names_a_limit_and_the_smallest_difference(two_arms, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    pair = ["compare", "traces.csv:mine", "new.csv", *two_arms, "--suggest"]
    assert run(pair) == 0
    out = capsys.readouterr().out
    _, document = as_json(capsys, *pair)
    assert f"suggestion: --fail-if-worse {document['suggested']['suggested']:.2g} finds" in out
    assert f"these runs show a true difference of {document['detectable']:.2g} in 80% of comparisons" in out


def test_a_zip_is_compared_like_what_was_packed(two_arms, tmp_path, capsys):
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    assert run(["export", "traces.csv", "--arm", "mine", "--references", "refs.csv", "-o", "baseline.zip"]) == 0
    capsys.readouterr()
    _, plain = as_json(capsys, "compare", "traces.csv:mine", "new.csv", *two_arms)
    _, packed = as_json(capsys, "compare", "baseline.zip", "new*.csv", "--draws", "200")
    for name in ("difference", "low", "high", "p", "reference", "panels"):
        assert packed[name] == plain[name]

import json

import pytest

from gapline.campaign.store import open_campaign
from gapline.cli.app import run
from gapline.references.snapshot import Snapshot

DIMACS = """Instance: C1
Standardized Time limit: 100 secs
Local Machine Time Limit: 101 secs
Base solution: 1100.000
BKS: 1000.0
Optimal: 1
Competitor: team
PassMark Single Thread Benchmark: 1981
Solution value, local machine time, standardized time
1080.0 10.1 10.000
1020.5 50.5 50.000
Primal Integral: 5.2250000000
"""
HEXALY = """Model:  expressions = 17
Param:  time limit = 10 sec
[objective direction ]:     minimize
[  1 sec,  251193 itr]:           70
[  4 sec,  900000 itr]:           60
1000000 iterations performed in 10 seconds
Feasible solution:
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.out").write_text(DIMACS)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_campaign_and_its_references_are_written(capsys):
    assert run(["import", "logs", "-o", "campaign"]) == 0
    out = capsys.readouterr().out
    assert "read 1 file as dimacs" in out
    assert "candidates count as valid because the solver said so" in out
    assert "gapline applies no scaling of its own" in out
    assert "references: 1 instances, 1 certified, in campaign/references.json" in out
    assert "1 computed again as dimacs:1.1, largest difference" in out
    campaign = open_campaign("campaign")
    assert campaign.time.tolist() == [10.0, 50.0]
    snapshot = Snapshot.load("campaign/references.json")
    assert (snapshot.values["C1"].value, snapshot.values["C1"].certified) == (1000.0, True)


@pytest.mark.usefixtures("here")
def test_json_says_the_same(capsys):
    assert run(["import", "logs", "-o", "campaign", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["diagnostics"]["candidates"] == 2
    assert facts["stated_integrals"]["largest_difference"] < 1e-12
    assert facts["references"]["digest"] == Snapshot.load("campaign/references.json").digest


def test_whole_seconds_print_their_bound(here, capsys):
    (here / "logs" / "a.out").unlink()
    (here / "logs" / "i.log").write_text(HEXALY)
    (here / "logs" / "refs.solu").write_text("=best= i 50\n")
    assert run(["import", "logs", "--arm", "hexaly", "--instance", "i", "-o", "campaign"]) == 0
    # squeezed: 1 → 1/6 → 1/11; its rows stand at 1 s and 4 s, so that a value may be three seconds of ten older
    assert "coarse stamps move a squeezed score by at most 0.273 (hexaly/i/0)" in capsys.readouterr().out
    assert open_campaign("campaign").runs["resolution"].to_list() == [3.0]
    again = ["import", "logs", "--arm", "hexaly", "--instance", "i", "-o", "campaign", "--overwrite", "--json"]
    assert run(again) == 0
    assert json.loads(capsys.readouterr().out)["resolution"]["runs"] == {"hexaly/i/0": pytest.approx(3 / 11)}


@pytest.mark.usefixtures("here")
def test_the_campaign_scores_as_it_is(capsys):
    """The printed integral comes out of `gapline score`, against the references that the log carried."""
    assert run(["import", "logs", "-o", "campaign"]) == 0
    capsys.readouterr()
    assert run(["score", "campaign", "--kernel", "dimacs:1.1", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["arms"][0]["scores"]["dimacs:1.1"] == pytest.approx(0.05225)
    assert scores["validation"] == "solver"


def test_dry_run_prints_every_file_and_writes_nothing(here, capsys):
    (here / "logs" / "broken.out").write_text(DIMACS.replace("C1", "C2").replace("1020.5 50.5", "x 50.5"))
    assert run(["import", "logs", "--dry-run"]) == 0
    said, *lines = capsys.readouterr().out.splitlines()
    assert said == "What would be read: 2 files"
    assert lines[0].split() == ["file", "format", "run", "candidates", "first", "last", "status", "problems"]
    assert lines[2].split() == ["logs/a.out", "dimacs", "team/C1/?", "2", "10", "50", "finished"]
    assert lines[3].split() == ["logs/broken.out", "dimacs", "team/C2/?", "2", "10", "50", "finished", "1"]
    assert "logs/broken.out:11: expected a finite objective, got 'x' (objective not a number)" in lines
    assert not (here / "campaign").exists()


def test_dry_run_shows_why_an_import_would_be_refused(here, capsys):
    (here / "logs" / "notes.txt").write_text("hello\n")
    assert run(["import", "logs", "--dry-run", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert "notes.txt: expected a known format, got 'hello'" in facts["error"]
    assert [len(file["runs"]) for file in facts["files"]] == [1, 0]


def test_an_old_campaign_is_replaced_only_when_asked(here, capsys):
    assert run(["import", "logs", "-o", "campaign"]) == 0
    assert run(["import", "logs", "-o", "campaign"]) == 2
    assert "--overwrite replaces the campaign" in capsys.readouterr().err
    assert run(["import", "logs", "-o", "campaign", "--overwrite", "--no-references"]) == 0
    # The references of the old import are not those of this one.
    assert not (here / "campaign" / "references.json").exists()


@pytest.mark.usefixtures("here")
def test_wrong_use_is_exit_code_2(capsys):
    assert run(["import", "logs"]) == 2
    assert run(["import", "-o", "campaign"]) == 2
    assert run(["import", "logs", "--format", "dimax", "-o", "campaign"]) == 2
    assert "did you mean 'dimacs'" in capsys.readouterr().err


def test_hostile_names_are_printed_harmlessly(here, capsys):
    (here / "logs" / "a.out").write_text(DIMACS.replace("team", "[red]\x1b[31m\x07\u202e</script>"))
    assert run(["import", "logs", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    # The colour is taken out of the log; what else could act on a terminal is written out.
    assert "[red]\\u0007\\u202e</script>/C1/?" in out


def test_formats_are_listed(capsys):
    assert run(["import", "--list-formats", "--json"]) == 0
    formats = json.loads(capsys.readouterr().out)
    assert {"neutral", "dimacs", "hgs", "pyvrp", "hexaly", "timefold", "lkh", "olines"} <= set(formats)


def test_a_readme_among_the_logs_is_left_out_by_only(here, capsys):
    (here / "logs" / "README.md").write_text("what this is\n")
    assert run(["import", "logs", "-o", "c"]) == 1
    capsys.readouterr()
    assert run(["import", "logs", "--only", "*.out", "-o", "c"]) == 0
    assert "left out 1 that --only does not name: logs/README.md" in capsys.readouterr().out


def test_a_table_of_others_is_imported_by_the_command_that_the_error_proposes(here, capsys):
    (here / "mine.csv").write_text("Solver;Problem;Elapsed;Cost\nx;i;2.5;20\n")
    assert run(["import", "mine.csv", "-o", "c"]) == 1
    told = capsys.readouterr().err
    command = told[told.index("gapline import") :].split()
    assert run(command[1:]) == 0
    assert open_campaign("campaign").runs.select("arm", "instance", "seed").rows() == [("x", "i", 0)]


@pytest.mark.usefixtures("here")
def test_a_name_that_fits_no_path_is_exit_code_2(capsys):
    assert run(["import", "logs", "--name", "{instance}.log", "-o", "c"]) == 2
    assert "--name {instance}.log: expected a pattern that fits some path, got logs/a.out" in capsys.readouterr().err


def test_keep_going_leaves_out_bad_files_names_them_and_ends_with_1(here, capsys):
    (here / "logs" / "b.md").write_text("hello\n")
    (here / "logs" / "c.log").write_text("o 1 1.0\n")
    (here / "logs" / "d.out").write_text(DIMACS.replace("C1", "C2").replace("1020.5 50.5", "x 50.5"))
    assert run(["import", "logs", "-o", "c"]) == 1
    assert not (here / "c").exists()
    capsys.readouterr()
    assert run(["import", "logs", "--keep-going", "--memory", "512MiB", "-o", "c"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "left out: 2 files" in lines
    assert "read in part: 1 file" in lines
    assert any(line.startswith("logs/b.md  ") and "expected a known format, got 'hello'" in line for line in lines)
    assert any(line.startswith("logs/c.log ") and "(no arm and no instance)" in line for line in lines)
    campaign = open_campaign("c")
    assert len(campaign) == 2
    assert campaign.diagnostics.problem_count == 3
    assert "left out 2 files that cannot be read: logs/b.md, logs/c.log" in campaign.diagnostics.notes
    assert run(["import", "logs", "--keep-going", "-o", "c", "--overwrite", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert [row["file"] for row in facts["left_out"]] == ["logs/b.md", "logs/c.log"]
    assert [(row["file"], row["problems"]) for row in facts["left_out_inside"]] == [("logs/d.out", 1)]
    assert facts["kept"] == 0


@pytest.mark.usefixtures("here")
def test_a_memory_that_is_none_is_exit_code_2(capsys):
    assert run(["import", "logs", "-o", "c", "--memory", "lots"]) == 2
    assert "--memory: expected a size such as 2GB" in capsys.readouterr().err

"""The campaign of the demo refuses before it runs."""

from gapline.cli.app import run
from gapline.generate import study as new_study
from gapline.generate.study import Panel, write_study


def test_a_directory_with_another_study_is_left_alone(tmp_path, capsys):
    write_study(tmp_path, "cvrp", panels=[Panel(5, 1)])
    assert run(["demo", str(tmp_path)]) == 2
    assert "expected a new directory or an earlier demo, got the study 'cvrp'" in capsys.readouterr().err


def test_a_missing_solver_is_named_before_anything_runs(tmp_path, capsys, monkeypatch):
    from gapline.solvers import catalogue

    lacking = catalogue.Adapter("gapline.solvers.kayros", "no-such-package", catalogue.ADAPTERS["kayros"].options)
    monkeypatch.setitem(catalogue.ADAPTERS, "kayros", lacking)
    monkeypatch.setattr(new_study, "PANELS", (Panel(5, 1),))
    assert run(["demo", str(tmp_path)]) == 3
    shown = capsys.readouterr().err
    assert "no-such-package is not installed" in shown
    assert "gapline[demo]" in shown
    assert not (tmp_path / "references").exists()

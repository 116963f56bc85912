"""The campaign of the documentation: its contracts hold, and its page says what was measured."""

import sys
from pathlib import Path

import pytest

from gapline.model.contract import load_contract
from gapline.run.campaign import run_study

pytest.importorskip("kayros")
ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "campaigns"]:
        del sys.modules[name]


def test_the_contracts_are_whole_and_as_large_as_promised(tmp_path, monkeypatch):
    from campaigns import studies

    saved = []

    class Frozen:
        def save(self, path):
            saved.append(path)

    monkeypatch.setattr(studies, "calibrate", lambda *_: Frozen())
    scale = studies.Scale()
    main = load_contract(studies.write_main(tmp_path, scale), files=True)
    assert saved == [tmp_path / "main" / main.reference.snapshot]
    assert [arm.name for arm in main.arms] == ["kayros-ils", "kayros-aco", "pyvrp-mean", "ortools-mean", "timefold"]
    assert [arm.tier for arm in main.arms] == [1, 1, 2, 2, 1]
    assert (len({i.panel for i in main.instances}), main.seeds, main.time.horizon) == (4, [1, 2, 3], 10.0)
    slices = load_contract(studies.write_slices(tmp_path, tmp_path / "main", scale), files=True)
    assert [arm.options["slices"] for arm in slices.arms] == [1, 5, 24, 96]
    assert [i.name for i in slices.instances] == [i.name for i in main.instances]
    threads = [load_contract(path, files=True) for path in studies.write_threads(tmp_path, scale)]
    assert [contract.time.threads for contract in threads] == [1, 2]
    assert len({contract.arms[0].name for contract in threads}) == 2


def test_arms_can_be_chosen(tmp_path, monkeypatch):
    from campaigns import studies

    monkeypatch.setattr(studies, "calibrate", lambda *_: pytest.fail("references are there"))
    (tmp_path / "main/references").mkdir(parents=True)
    (tmp_path / "main" / studies.SNAPSHOT).write_text("{}")
    scale = studies.Scale(sizes=(10,), instances=1, arms=("timefold", "pyvrp-mean"))
    contract = load_contract(studies.write_main(tmp_path, scale), files=True)
    assert [arm.name for arm in contract.arms] == ["pyvrp-mean", "timefold"]
    assert contract.aggregate.contrasts == []


def test_the_page_has_every_arm_with_date_machine_and_digests(tmp_path):
    """Solvers that are limited by steps take the place of the real arms: the page is made the same way."""
    from campaigns import page, studies

    scale = studies.Scale(horizon=60.0, seeds=(1,), sizes=(10,), instances=1, threads=(1,), arms=("kayros-ils",))
    main = studies.write_main(tmp_path, scale)
    slices = studies.write_slices(tmp_path, main, scale)
    for study in (main, slices):
        contract = study / "study.toml"
        head = contract.read_text().split("\n[[arms]]")[0]
        arm = '\n[[arms]]\nname = "steps"\nsolver = "kayros"\noptions = { iterations = 5 }\n'
        contract.write_text(head + arm)
        assert run_study(study).left == 0
    page.write_page(tmp_path / "page.md", main, slices, [slices])
    text = (tmp_path / "page.md").read_text()
    assert text.count("| steps | 1 |") == 6
    assert text.count("sha256:") >= 4
    assert "machine class: " in text
    assert "1 of 1 runs pinned" not in text
    assert "3 of 3 runs pinned" in text

"""What open runs are read against, as the contract has it."""

from gapline.campaign.scale import Scale
from gapline.contract.study_file import load_contract
from gapline.live.bounds import LiveReading
from gapline.references.snapshot import Snapshot
from live_studies import live_study


def test_references_are_those_of_the_contracts_snapshot_until_another_one_is_used(tmp_path):
    with live_study(tmp_path / "study", kernels=("maxform", "squeezed"), weight="early-log:0.5") as study:
        reading = LiveReading(study.path, load_contract(study.path))
        assert [kernel.name for kernel in reading.kernels] == ["maxform", "squeezed"]
        assert reading.weight.name == "early-log:0.5"
        assert reading.reference("i1", Scale()) == 10.0
        assert reading.reference("unknown", Scale()) is None
        reading.use(Snapshot.from_values({"i1": 9.0}, name="folded"))
        assert reading.reference("i1", Scale()) == 9.0


def test_a_snapshot_that_cannot_be_read_is_a_problem_and_no_error(tmp_path):
    with live_study(tmp_path / "study") as study:
        (study.path / "references" / "known.json").write_text("{}")
        reading = LiveReading(study.path, load_contract(study.path))
        assert reading.problem is not None
        assert reading.reference("i1", Scale()) is None

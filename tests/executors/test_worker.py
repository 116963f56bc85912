"""What a worker needs before it may have a cell."""

from gapline.campaign.store import file_digest
from gapline.contract.layout import CONTRACT_FILE
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.contract.version import VERSION
from gapline.executors.heartbeat import heartbeat_sender
from gapline.process.control import Control
from gapline.run.cell import RunSettings
from gapline.run.placement import WorkerRunner, worker_problems


def test_a_worker_without_the_study_the_version_or_a_solver_says_so(make_study, tmp_path):
    path = make_study({"silent": ["silent"]}).path
    arms = list(load_contract(path).arms)
    digest = file_digest(path / CONTRACT_FILE)
    with heartbeat_sender(path, "r", Control()):
        assert worker_problems(path, "r", digest, VERSION, arms) == []
        (elsewhere,) = worker_problems(tmp_path / "elsewhere", "r", digest, VERSION, arms)
        assert elsewhere.startswith(f"expected the study directory {tmp_path / 'elsewhere'}, shared with the runner")
        # The directory is there under the same name, but it is another machine's.
        assert worker_problems(path, "r", "sha256:0", VERSION, arms)[0].startswith("expected the study directory")
        assert worker_problems(path, "r", digest, "0.0", arms) == [f"expected gapline 0.0, got {VERSION}"]
        lost = arms[0].model_copy(update={"command": ["./nowhere"]})
        assert "got './nowhere'" in worker_problems(path, "r", digest, VERSION, [lost])[0]


def test_a_cell_on_a_worker_without_the_directory_is_a_failure_of_the_machine(make_study):
    path = make_study({"silent": ["silent"]}).path
    contract = load_contract(path)
    (cell, *_) = Plan.of(contract).cells
    result = WorkerRunner(RunSettings.of(path, contract, None), "r")(cell)
    assert result.outcome == "infrastructure"
    assert result.problems == (f"{cell.key}: expected the study directory {path} on the worker, got none",)

"""What is recorded of the host."""

from gapline.executors.core_leases import cores
from gapline.process.machine import busy_seconds, describe_machine, frequency_policy, load_average


def test_the_machine_is_named_with_its_versions():
    facts = describe_machine()
    assert set(facts) == {"host", "processor", "cores", "memory", "system", "python", "gapline"}
    assert all(facts.values())


def test_busy_time_of_cores_only_grows():
    first = busy_seconds(cores())
    assert busy_seconds(cores()) >= first > 0
    assert busy_seconds([]) == 0
    assert load_average() >= 0


def test_the_frequency_policy_is_read_where_there_is_one(tmp_path):
    for cpu, governor in ((0, "performance"), (1, "performance"), (2, "powersave")):
        (tmp_path / f"cpu{cpu}/cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{cpu}/cpufreq/scaling_governor").write_text(f"{governor}\n")
    assert frequency_policy([0, 1], tmp_path) == {"governor": "performance"}
    assert frequency_policy([1, 2], tmp_path) == {"governor": "performance+powersave"}
    (tmp_path / "intel_pstate").mkdir()
    (tmp_path / "intel_pstate/no_turbo").write_text("0\n")
    assert frequency_policy([0], tmp_path) == {"governor": "performance", "boost": "on"}
    (tmp_path / "cpufreq").mkdir()
    (tmp_path / "cpufreq/boost").write_text("0\n")
    assert frequency_policy([9], tmp_path) == {"boost": "off"}
    assert frequency_policy([0], tmp_path / "nowhere") == {}

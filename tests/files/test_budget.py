"""A memory budget is what the user says, or a quarter of what there is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.errors import UsageError
from gapline.files.memory import LEAST, given_memory, limited_memory, memory_budget, memory_limit, parse_memory


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2_000_000_000),
        ("2 GB", 2_000_000_000),
        ("512MiB", 512 << 20),
        ("1.5g", 1_500_000_000),
        ("1GiB", 1 << 30),
        ("1t", 10**12),
        ("20000k", 20_000_000),
        ("16777216", 16 << 20),
        ("20000000B", 20_000_000),
    ],
)
def test_sizes_as_people_write_them(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize(
    "text", ["", "GB", "-2GB", "2XB", "1e9", "2Gi", "99ib", "٢GB", "nan", "2GB 3", "0", "1MB", "0.5"]
)
def test_what_is_no_size_is_refused_with_the_value(text):
    with pytest.raises(UsageError, match="--memory: expected"):
        parse_memory(text)


@given(st.integers(LEAST, 10**12))
def test_bytes_are_taken_as_they_are(size):
    assert parse_memory(str(size)) == memory_budget(size) == memory_budget(str(size)) == size


def test_a_number_below_the_least_is_refused():
    with pytest.raises(UsageError, match="expected at least 16,777,216 bytes, got 5"):
        memory_budget(5)


def test_by_default_it_is_a_quarter_of_what_there_is():
    assert memory_budget(None) == max(LEAST, memory_limit() // 4)


def machine(root, cgroup, **limits):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    for place, text in limits.items():
        path = root / "sys/fs/cgroup" / place.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_smallest_limit_of_the_groups_around_it_holds(tmp_path):
    root = machine(
        tmp_path,
        "0::/user/job\n",
        memory_dot_max="max\n",
        user__memory_dot_max="50000000\n",
        user__job__memory_dot_max="90000000\n",
    )
    assert memory_limit(root=root) == 50_000_000


def test_groups_of_the_first_version_are_read_too(tmp_path):
    cgroup = "12:cpu,cpuacct:/x\n4:memory:/job\n"
    limits = {
        "memory__job__memory_dot_limit_in_bytes": "70000000",
        "memory__memory_dot_limit_in_bytes": str(2**63 - 4096),
    }
    assert memory_limit(root=machine(tmp_path, cgroup, **limits)) == 70_000_000


def test_in_a_container_the_root_of_the_mount_is_the_group(tmp_path):
    assert memory_limit(root=machine(tmp_path, "0::/not/mounted\n", memory_dot_max="60000000\n")) == 60_000_000


def test_without_groups_it_is_the_machine(tmp_path):
    assert memory_limit(root=tmp_path) > LEAST


def test_a_limit_holds_for_all_that_is_done_within_it():
    before = memory_budget()
    with limited_memory("2GB"):
        assert memory_budget() == given_memory() == 2 * 10**9
        with limited_memory(None):
            assert memory_budget() == 2 * 10**9
        with limited_memory(128):
            assert memory_budget() == 128
        assert memory_budget("1GB") == 10**9
    assert memory_budget() == before
    assert given_memory() is None

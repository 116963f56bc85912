import subprocess

import pytest

from gapline.campaign.store import file_digest
from gapline.errors import IntegrityError
from gapline.files.digests import parse_sums, sums_text


def test_sha256sum_takes_the_list_and_we_take_it_back(tmp_path):
    for name in ("b b", "a", "ä"):
        (tmp_path / name).write_text(name)
    digests = {name: file_digest(tmp_path / name) for name in ("b b", "a", "ä")}
    (tmp_path / "sums").write_text(sums_text(digests), encoding="utf-8")
    check = ["sha256sum", "--strict", "-c", "sums"]
    subprocess.run(check, cwd=tmp_path, check=True, capture_output=True)
    assert parse_sums(sums_text(digests), "sums") == digests
    (tmp_path / "a").write_text("b")
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 1


@pytest.mark.parametrize("line", ["", "0" * 64, "0" * 63 + "  a", "0" * 64 + " *a", "F" * 64 + "  a"])
def test_another_line_is_refused(line):
    with pytest.raises(IntegrityError, match="sums:2: expected a digest and a name"):
        parse_sums("0" * 64 + "  x\n" + line + "\n", "sums")


def test_a_name_twice_is_refused():
    line = "0" * 64 + "  x\n"
    with pytest.raises(IntegrityError, match="twice"):
        parse_sums(line * 2, "sums")

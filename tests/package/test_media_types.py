"""What kind of file each member is: by its name, and of an unknown one by its first bytes."""

import pytest

from gapline.package.crate import media_type


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.json", b"", "application/json"),
        ("a.JSONL", b"", "application/jsonl"),
        ("figures/a.svg", b"", "image/svg+xml"),
        ("study.mps.gz", b"", "application/gzip"),
        ("a.vrp", b"NAME : a", "text/plain"),
        ("a", b"", "text/plain"),
        ("solver", b"\x7fELF\0", "application/octet-stream"),
        ("a.dat", b"text with a \0 in it", "application/octet-stream"),
        ("a.dat", "ü".encode("latin-1") * 9, "application/octet-stream"),
        ("a.dat", b"x" * 9000 + b"\xff", "text/plain"),
    ],
)
def test_kinds(tmp_path, name, content, kind):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert media_type(name, path) == kind


@pytest.mark.parametrize("shift", range(8))
def test_a_character_that_the_look_cuts_is_text(tmp_path, shift):
    path = tmp_path / "file"
    path.write_bytes(b"x" * shift + "𝄞ü€".encode() * 2000)
    assert media_type("a.dat", path) == "text/plain"

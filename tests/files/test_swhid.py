import hashlib
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.files.digests import directory_identifier
from profiles import examples

NAMES = st.lists(st.sampled_from(["a", "a.b", "a0", "b", "ab", "é", "a b"]), min_size=1, max_size=3).map("/".join)


@settings(max_examples=examples(25), deadline=None)
@given(files=st.dictionaries(NAMES, st.tuples(st.binary(max_size=20), st.booleans()), min_size=1, max_size=8))
def test_git_gives_the_same_hash(files):
    kept = {name: file for name, file in files.items() if not any(other.startswith(f"{name}/") for other in files)}
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, (content, executable) in kept.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o755 if executable else 0o644)
        git = ["git", "-c", "core.autocrlf=false", "-C", scratch]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "-A", "-f"], check=True)
        tree = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
    blobs = {name: b"blob %d\0%b" % (len(content), content) for name, (content, _) in kept.items()}
    ours = {name: (hashlib.sha1(blobs[name]).digest(), bit) for name, (_, bit) in kept.items()}
    assert directory_identifier(ours) == f"swh:1:dir:{tree}"

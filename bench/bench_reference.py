"""Freezing a family of 1,000 instances against `git cat-file --batch` alone over the same blobs, in one process.

More than half of it is the digest of each problem: the instance is parsed, and written again without what nobody reads.
"""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

INSTANCES = 1000
ROUNDS = 11
LIMIT = 6.0


def run() -> list[tuple[str, float, float | None]]:
    from gapline.references.freeze import freeze_snapshot

    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "store"
        _write_family(repository)
        blobs = _blobs(repository)
        plain, ours = [], []
        source = f"mamut:{repository}@main"
        # Once before the clock, so that neither side pays for imports and cold files.
        assert len(freeze_snapshot(source, name="warm").values) == INSTANCES
        _cat_file(repository, blobs)
        for _ in range(ROUNDS):
            plain.append(_timed(lambda: _cat_file(repository, blobs)))
            ours.append(_timed(lambda: freeze_snapshot(source, name="bench").digest))
        # The best round of each side: the machine may be busy in any other.
        ratio = min(ours) / min(plain)
    return [(f"freeze {INSTANCES} instances / git cat-file --batch over the same blobs", ratio, LIMIT)]


def _timed(call: object) -> float:
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


def _cat_file(repository: Path, blobs: bytes) -> None:
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    done = subprocess.run(command, input=blobs, stdout=subprocess.PIPE, check=True)
    assert len(done.stdout) > len(blobs)


def _blobs(repository: Path) -> bytes:
    """Return the ids of the solutions and instances, which are the blobs that freezing reads."""
    command = ["git", "-C", str(repository), "ls-tree", "-r", "main"]
    lines = subprocess.run(command, capture_output=True, check=True).stdout.splitlines()
    assert len(lines) == 2 * INSTANCES
    return b"".join(line.split()[2] + b"\n" for line in lines)


def _write_family(repository: Path) -> None:
    """Write solutions and instances of 100 customers with coordinates, demands and windows, as such a family has."""
    for number in range(INSTANCES):
        size = (20, 50, 100)[number % 3]
        folder = repository / "TDVRPTW" / "Family" / f"n={size}"
        folder.mkdir(parents=True, exist_ok=True)
        customers = range(size + 1)
        instance = {
            "instance_name": f"I-{number // 3}",
            "num_customers": size,
            "coordinates": [[(number * 7919 + c * 104729) % 1000 / 10, c * 1.5] for c in customers],
            "demands": [c % 9 for c in customers],
            "service_times": [10.0] * (size + 1),
            "time_windows": [[c * 3.0, c * 3.0 + 120.0] for c in customers],
            "td": {"atf_path": f"I-{number // 3}.atf.json.gz", "atf_sha256": f"{number:064x}"},
        }
        proof = {"proven": True, "prover": "exact", "certificate": "bound met", "date": "2026-01-02"}
        solution = {
            "instance_name": f"I-{number // 3}",
            "objective_function": "Duration",
            "cost": 1000.0 + number / 7,
            "routes": [list(range(start, min(start + 8, size + 1))) for start in range(1, size + 1, 8)],
            "metadata": {"authors": "A. Author", "date": "2026-01-01"}
            | ({"optimality": proof} if number % 4 == 0 else {}),
        }
        (folder / f"I-{number // 3}.vrp.json").write_text(json.dumps(instance))
        (folder / f"I-{number // 3}.bks.Duration.json").write_text(json.dumps(solution))
    identity = {
        f"GIT_{who}_{what}": "bench@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "family"], ["gc", "-q"]):
        subprocess.run(["git", "-C", str(repository), *arguments], check=True, env=os.environ | identity)


if __name__ == "__main__":
    print(run())

"""What verifying a package costs beside reading its files; the report that is written again has a bench of its own.

python -m bench verify
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import msgspec

from gapline.campaign.store import file_digest, read_manifest, save_campaign
from gapline.contract.layout import CAMPAIGN, CONTRACT_FILE, DOCUMENT, SCHEMA, SUMS, slug
from gapline.contract.tables import RunKey
from gapline.files.archives import folder_files
from gapline.files.digests import sums_text
from gapline.journal.campaign import read_study
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.read import read_journal
from gapline.journal.records import Ending, Order, order_text
from gapline.journal.verdicts import Judge, StoredVerdict, write_verdicts
from gapline.package.verify import verify

CONTRACT = """
seeds = {seeds}
[study]
name = "large"
[objective]
checker = "cvrp"
[time]
horizon = 3600
[[instances]]
path = "i.vrp"
[[arms]]
name = "a"
solver = "command"
command = ["a"]
"""
FEW, MANY, CANDIDATES, STOPS = 10, 40, 2000, 100


def write_package(folder: Path, runs: int) -> Path:
    """Lay out a package of runs whose candidates have solutions and verdicts, without results."""
    folder.mkdir()
    (folder / CONTRACT_FILE).write_text(CONTRACT.format(seeds=list(range(1, runs + 1))))
    (folder / "i.vrp").write_text("an instance\n")
    digest = file_digest(folder / "i.vrp")
    for seed in range(1, runs + 1):
        _write_run(folder, seed, digest)
    save_campaign(read_study(folder), folder / CAMPAIGN)
    document = {
        "schema": SCHEMA,
        "contract": file_digest(folder / CONTRACT_FILE),
        "register": None,
        "campaign": read_manifest(folder / CAMPAIGN)["digest"],
        "instances": {"i": {"path": "i.vrp", "digest": digest}},
    }
    (folder / DOCUMENT).write_text(json.dumps(document))
    names = {name: file_digest(path) for name, path in folder_files(folder).items() if isinstance(path, Path)}
    (folder / SUMS).write_text(sums_text(names))
    return folder


def _write_run(study: Path, seed: int, digest: str) -> None:
    key = RunKey("a", "i", seed)
    order = Order(
        arm=key.arm,
        instance=key.instance,
        seed=seed,
        panel="p",
        horizon=3600.0,
        instance_path="i.vrp",
        carried={"validation": "checker", "instance_digest": digest},
    )
    attempt = study / "journal" / slug(key) / "attempt-001"
    attempt.mkdir(parents=True)
    (attempt / ORDER_FILE).write_bytes(order_text(order))
    ending = Ending(cause="exit", started="2026-08-01T12:00:00+00:00", elapsed=3600.0, exit_code=0, events=CANDIDATES)
    route = msgspec.json.encode({"routes": [list(range(1, STOPS + 1))]})
    said = [
        b'"t":%d.5,"say":{"objective":%d,"solution":%b}' % (place, 9999 - place, route) for place in range(CANDIDATES)
    ]
    writer = JournalWriter(attempt / EVENTS_FILE)
    writer.append([b'"start":' + msgspec.json.encode(order), *said, b'"end":' + msgspec.json.encode(ending)])
    writer.close()
    journal = read_journal(attempt)
    verdicts = [StoredVerdict(event.sequence, valid=True, objective=event.objective) for event in journal.events.bare()]
    write_verdicts(
        journal, Judge("cvrp", "1", "cvrp"), checked="2026-08-01", candidates=journal.asked, verdicts=verdicts
    )


def read_all(folder: Path) -> None:
    """Read every file, and let go of it."""
    for path in folder_files(folder).values():
        assert isinstance(path, Path)
        path.read_bytes()


def verify_all(folder: Path) -> None:
    """Verify a package in which nothing differs."""
    found = verify(folder)
    assert found.passed, found.first


def cost(work: Callable[[Path], object], folder: Path, *, rounds: int = 5) -> float:
    """Return the best processor time of several rounds: whoever else uses the machine does not count."""
    best = float("inf")
    for _ in range(rounds):
        start = process_time()
        work(folder)
        best = min(best, process_time() - start)
    return best


def run() -> list[tuple[str, float, float | None]]:
    """Measure, and return (what, ratio, limit)."""
    with tempfile.TemporaryDirectory() as scratch:
        few, many = (write_package(Path(scratch) / str(runs), runs) for runs in (FEW, MANY))
        verify_all(few)
        verifying, reading, less = cost(verify_all, many), cost(read_all, many), cost(verify_all, few)
        parsing = cost(read_study, many)
        return [
            # Set to what was reached: bytes come from memory at gigabytes a second, lines are parsed one by one.
            ("verify: 80,000 candidates with solutions, without report / reading the bytes of its files",
             verifying / reading, 250.0),
            ("verify: the same / reading its journals and verdicts into a campaign", verifying / parsing, 1.5),
            ("verify: 40 runs / 10 runs, over the ratio of their sizes", verifying / less / (MANY / FEW), 1.3),
        ]  # fmt: skip

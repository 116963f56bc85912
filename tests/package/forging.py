"""What somebody does who changes a package and hides it: checksums, digests and lists are made again."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gapline.campaign.store import file_digest, read_manifest, save_campaign, write_manifest
from gapline.journal.campaign import read_study
from gapline.journal.line import seal, unseal
from gapline.package.checks.journals import rename_source
from gapline.report.write import write_report
from gapline.study import open_study
from staged_packages import FORMATS, write_document, write_sums

Edit = Callable[[dict], None]


def attempt_of(folder: Path) -> Path:
    """Return the attempt that tests change: one that found something better after its first candidate."""
    return next(iter(sorted(folder.glob("journal/many_*_1_*/attempt-001"))))


def reseal(path: Path, edit: Edit, *, which: Callable[[dict], bool]) -> None:
    """Edit the first line of a journal or of verdicts that is meant, and chain all lines anew."""
    bodies, checksum = [], 0
    for line in path.read_bytes().splitlines():
        body, checksum = unseal(line, checksum)
        bodies.append(json.loads(body))
    edit(next(body for body in bodies if which(body)))
    lines, checksum = [], 0
    for body in bodies:
        text = json.dumps(body, separators=(",", ":")).encode()
        line, checksum = seal(text[:-1], checksum)
        lines.append(line)
    path.write_bytes(b"".join(lines))
    if path.name == "events.jsonl":
        # Verdicts name the last checksum of their journal.
        for verdicts in path.parent.glob("verdicts-*.jsonl"):
            reseal(verdicts, lambda head: head.update(journal=f"{checksum:08x}"), which=lambda body: "checker" in body)


def is_candidate(body: dict) -> bool:
    return "objective" in body.get("say", {})


def rebuild_campaign(folder: Path) -> None:
    """Write `campaign/` as the journals are now, under the name that it had."""
    stated = read_manifest(folder / "campaign")
    campaign = read_study(folder)
    diagnostics = rename_source(campaign.diagnostics, folder, stated)
    save_campaign(replace(campaign, diagnostics=diagnostics), folder / "campaign", overwrite=True)


def rewrite_results(folder: Path) -> None:
    """Write `results/` as the campaign is now."""
    write_report(open_study(str(folder)), folder / "results", formats=FORMATS)


def reseal_campaign(folder: Path) -> None:
    """Make the digests of `campaign/` again."""
    campaign = folder / "campaign"
    manifest = read_manifest(campaign)
    manifest.pop("seal")
    manifest["files"] = {name: file_digest(campaign / name) for name in manifest["files"]}
    write_manifest(campaign, manifest)


def relist_results(folder: Path, **changes: object) -> None:
    """Make the digests in the list of results again."""
    path = folder / "results" / "results.json"
    document = json.loads(path.read_text(encoding="utf-8")) | changes
    document["files"] = {name: file_digest(path.parent / name) for name in document["files"]}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def reseal_register(folder: Path, edit: Edit) -> None:
    """Edit the last line of the register and make its digest again."""
    path = folder / "journal" / "register.jsonl"
    *before, last = path.read_text().splitlines()
    body = json.loads(last)
    del body["digest"]
    edit(body)
    text = json.dumps(body, separators=(",", ":"))[:-1]
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.write_text("".join(f"{line}\n" for line in [*before, f'{text},"digest":"sha256:{digest}"}}']))


def replace_number(path: Path, change: Callable[[str], str]) -> str:
    """Change the first number with decimals in a text; return what it was."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r"(?<![\w.])[0-9]+\.[0-9]{3,}(?!\w)", text)
    assert found is not None, path
    path.write_text(text[: found.start()] + change(found[0]) + text[found.end() :], encoding="utf-8")
    return found[0]


def hide(folder: Path, **changes: object) -> Path:
    """Make `package.json` and the sums again."""
    write_document(folder, **changes)
    write_sums(folder)
    return folder

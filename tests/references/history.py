"""Git histories of MAMUT-like stores, written by the tests: dates and identities are fixed, so commit ids are too."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

from gapline.references.freeze import freeze_snapshot

IDENTITY = {
    "GIT_AUTHOR_NAME": "keeper",
    "GIT_AUTHOR_EMAIL": "keeper@example.org",
    "GIT_COMMITTER_NAME": "keeper",
    "GIT_COMMITTER_EMAIL": "keeper@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


def git(folder, *arguments, **environment):
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env=os.environ | IDENTITY | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


class History:
    """A work tree whose commits are dated by hand; the author's date is a year off, so that taking it shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main")
        # Thousands of loose objects, each synced to disk, would cost more than everything that is tested.
        git(folder, "config", "core.fsync", "none")

    def put(self, path, content):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")

    def bks(self, base, cost, *, objective="Duration", proven=None, authors="A. Author", routes=((1, 2), (3,))):
        metadata = {"authors": authors, "date": "2026-01-01"}
        if proven is not None:
            metadata["optimality"] = {
                "proven": True,
                "prover": "exact",
                "certificate": "bound met",
                "date": "2026-01-02",
                "proven_optimum": proven,
            }
        document = {
            "instance_name": base.rpartition("/")[2],
            "objective_function": objective,
            "cost": cost,
            "routes": [list(route) for route in routes],
            "metadata": metadata,
        }
        self.put(f"{base}.bks.{objective}.json", document)

    def commit(self, day, message="change", tag=None):
        moment = f"2026-{day}T12:00:00+02:00"
        git(self.folder, "add", "-A")
        git(
            self.folder, "commit", "-q", "--allow-empty", "-m", message,
            GIT_AUTHOR_DATE="2020-01-01T00:00:00Z", GIT_COMMITTER_DATE=moment,
        )  # fmt: skip
        if tag:
            git(self.folder, "tag", "-a", tag, "-m", tag, GIT_COMMITTER_DATE=moment)
        return git(self.folder, "rev-parse", "HEAD")


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def at(store, commit, **options):
    folder, commits = store
    revision = commits.get(commit, commit)
    return freeze_snapshot(f"mamut:{folder}@{revision}", name=commit, objective="Duration", **options)


def values(snapshot):
    return {instance: entry.value for instance, entry in snapshot.values.items()}

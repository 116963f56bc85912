"""Where things lie in a study directory: every name of a file or folder that more than one room knows, once."""

from pathlib import Path

from gapline.errors import TraceError, listing

CONTRACT_FILE = "study.toml"
INSTANCES = "instances"
REFERENCES = "references"
JOURNALS = "journal"
REGISTER = "register.jsonl"
# What was read of the journals, and which of them the campaign was made of: both can be lost without loss.
INDEX = "index.jsonl"
BUILT = "campaign.json"
# The options of the last call of the runner.
OPTIONS_FILE = "options.json"
CALIBRATIONS = "calibrations.jsonl"
CAMPAIGN = "campaign"
MANIFEST = "manifest.json"
RESULTS = "results"
# What a study that runs a package again found of its conclusions.
REPLICATION = "replication.json"
# What an import leaves beside its campaign.
CARRIED_REFERENCES = "references.json"


def is_study(path: str | Path) -> bool:
    """Say whether a directory holds a contract."""
    return (Path(path) / CONTRACT_FILE).is_file()


def campaign_directory(path: Path) -> Path:
    """Find the campaign directory that a campaign or study directory stands for."""
    for place in (path, path / CAMPAIGN):
        if (place / MANIFEST).is_file():
            return place
    if is_study(path):
        raise TraceError(f"{path}: the study has no campaign yet", hint=f"gapline run {path}")
    inside = listing(sorted(entry.name for entry in path.iterdir()), most=5) or "nothing"
    raise TraceError(
        f"{path}: expected a campaign directory ({MANIFEST}) or a study directory ({CONTRACT_FILE}), got {inside}",
        hint="`gapline import` reads folders of logs",
    )

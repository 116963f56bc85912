"""Where a file comes from: version, campaign, references."""

from gapline.model.version import VERSION
from gapline.study import Study


def heading(study: Study) -> list[str]:
    """Return what every file says of where it comes from."""
    return [
        f"gapline {VERSION}; campaign {study.campaign_digest}",
        *(f"package {package.name}: {package.sha256}, {package.swhid}" for package in study.packages),
        *(f"reference {e.snapshot.name} ({e.policy}): {e.snapshot.digest}" for e in study.references),
    ]

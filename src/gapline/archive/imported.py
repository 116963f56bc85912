"""The campaign of a study that was imported: packed as it is, but for what it says of machines."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl

from gapline.archive.attempts import Surveyed
from gapline.archive.scrub import Scrubber
from gapline.model.campaign import Campaign
from gapline.model.layout import CAMPAIGN, MANIFEST
from gapline.model.store import is_campaign_file, open_campaign, save_campaign
from gapline.model.tables import CELL

_MANIFEST, _RUNS = f"{CAMPAIGN}/{MANIFEST}", f"{CAMPAIGN}/runs.parquet"


def survey_imported(study: Path, surveyed: Surveyed) -> Surveyed:
    """Add the hosts and names that a campaign states; one of journals says nothing that they do not."""
    if surveyed.attempts:
        return surveyed
    runs = open_campaign(study / CAMPAIGN).runs
    hosts = runs.sort(CELL)["host"].drop_nulls().cast(pl.String).to_list() if "host" in runs.columns else []
    names = {str(name) for column in ("arm", "panel", "instance") for name in runs[column].unique()}
    return replace(surveyed, hosts=tuple(dict.fromkeys(hosts)), names=surveyed.names | names)


def stage_campaign(study: Path, folder: Path, scrub: Scrubber | None) -> Campaign:
    """Write the campaign of a study into a folder, verified, and return it; as it is where nothing is taken out."""
    campaign = open_campaign(study / CAMPAIGN)
    clean = campaign if scrub is None else scrubbed_campaign(campaign, scrub)
    if clean is campaign:
        for file in campaign_files(study):
            target = folder / file.relative_to(study)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    else:
        save_campaign(clean, folder / CAMPAIGN)
    return open_campaign(folder / CAMPAIGN)


def campaign_files(study: Path) -> list[Path]:
    """Return the files of the campaign of a study, links in their place included, whatever else lies there."""
    place = study / CAMPAIGN
    found = (Path(folder, name) for folder, _, names in os.walk(place) for name in names)
    return sorted(file for file in found if is_campaign_file(file.relative_to(place).as_posix()))


def scrubbed_campaign(campaign: Campaign, scrub: Scrubber) -> Campaign:
    """Return a campaign without the machine in its texts; the same one where there is nothing to take out."""
    diagnostics = campaign.diagnostics.retold(lambda text: scrub.text(text, _MANIFEST))
    facts = {name: scrub.text(text, _MANIFEST) for name, text in campaign.facts.items()}
    reasons = tuple(scrub.text(text, _MANIFEST) for text in campaign.reasons)
    texts = [name for name, kind in campaign.runs.schema.items() if kind == pl.String and name not in CELL]
    columns = [_scrubbed_column(campaign.runs[name], scrub) for name in texts]
    if not scrub.list_taken():
        return campaign
    return replace(
        campaign, runs=campaign.runs.with_columns(columns), facts=facts, reasons=reasons, diagnostics=diagnostics
    )


def _scrubbed_column(column: pl.Series, scrub: Scrubber) -> pl.Series:
    # Each text once, however many runs have it.
    each = {
        text: scrub.host(text, _RUNS) if column.name == "host" else scrub.text(text, _RUNS)
        for text in column.unique(maintain_order=True).drop_nulls().to_list()
    }
    changed = {old: new for old, new in each.items() if old != new}
    return column.replace(changed) if changed else column

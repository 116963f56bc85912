"""Merge campaigns with disjoint runs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from gapline.campaign.campaign import Campaign
from gapline.campaign.columns import PartedColumn
from gapline.campaign.join import join_campaigns, without_superseded
from gapline.campaign.partitions import Part, PartsWritten, part_folders, save_parts
from gapline.campaign.remote import is_url
from gapline.campaign.scale import instance_senses
from gapline.campaign.store import open_campaign
from gapline.contract.argument_checks import expect, several
from gapline.contract.fact_origins import FactOrigin
from gapline.contract.layout import JOURNALS, campaign_directory, is_study
from gapline.contract.tables import RUN_KEY
from gapline.traces.direction import fill_senses
from gapline.traces.package_source import study_folder

# Up to this many candidates are copied into plain arrays; larger merged campaigns keep their parts.
GATHERED = 4_000_000


def merge_campaigns(campaigns: Sequence[Campaign], *, in_memory: int = GATHERED) -> Campaign:
    """Merge campaigns with disjoint runs; duplicate runs and conflicting facts are refused and listed.

    Up to `in_memory` candidates are copied into plain columns; beyond that, the columns are not copied.
    """
    parts = [expect(one, Campaign, "merge") for one in several(campaigns)]
    return parts[0] if len(parts) == 1 else gather_parts(join_campaigns(parts), in_memory=in_memory)


def gather_parts(campaign: Campaign, *, in_memory: int = GATHERED) -> Campaign:
    """Return a campaign with plain columns instead of parts, if it has at most `in_memory` candidates."""
    in_parts = isinstance(campaign.time, PartedColumn)
    return campaign.compact() if in_parts and campaign.candidates <= in_memory else campaign


def parts_of(paths: Iterable[str | Path], read: Callable[[str | Path], Campaign]) -> list[Part]:
    """Open sources as parts: campaign directories with their folder, consecutive traces merged into one part.

    Parameters
    ----------
    read
        Reads a source that is not a directory.
    """
    parts: list[Part] = []
    for is_directory, group in groupby(paths, lambda path: Path(path).is_dir()):
        if is_directory:
            for path in map(Path, group):
                campaign = journal_campaign(path)
                found = _opened(campaign_directory(path)) if campaign is None else [Part(campaign)]
                # A sense that only the contract states would be lost in the merge; minimised is the default.
                if "max" in contract_senses([path]).values():
                    found = [Part(with_contract_senses(part.campaign, path)) for part in found]
                parts += found
        else:
            parts.append(Part(merge_campaigns([read(path) for path in group])))
    settled = without_superseded([part.campaign for part in parts])
    return [part if part.campaign is one else Part(one) for part, one in zip(parts, settled, strict=True)]


def journal_campaign(path: Path) -> Campaign | None:
    """Return the campaign of the complete runs in a study's journals if they are ahead of `campaign/`, else None."""
    if not is_study(path) or not (path / JOURNALS).is_dir():
        return None
    from gapline.journal.rebuild import current_campaign

    return current_campaign(path)


def contract_senses(sources: Iterable[str | Path]) -> dict[str, str]:
    """Return the senses that the contracts of the studies among `sources` state, without the default `min`."""
    from gapline.contract.study_file import load_contract

    folders = [folder for source in sources if not is_url(source) and (folder := study_folder(source)) is not None]
    return {name: sense for folder in folders for name, sense in load_contract(folder).stated_senses.items()}


def with_contract_senses(campaign: Campaign, source: Any) -> Campaign:
    """Write the senses that only a study's contract states to the runs of its campaign."""
    stated = contract_senses([source]) if isinstance(source, str | Path) else {}
    if not stated:
        return campaign
    silent = [name for name, sense in instance_senses(campaign).items() if sense is None and name in stated]
    return fill_senses(campaign, {name: stated[name] for name in silent}, FactOrigin.CONTRACT)


def _opened(directory: Path) -> list[Part]:
    folders = part_folders(directory)
    if folders == [directory]:
        return [Part(open_campaign(directory), directory)]
    # Open the whole first, which verifies its parts.
    open_campaign(directory)
    return [Part(open_campaign(folder, verify=False), folder) for folder in folders]


def write_parts(parts: Sequence[Part], kept: Campaign, directory: Path) -> PartsWritten:
    """Write the kept runs of all parts; a part that keeps all its runs is linked, not copied."""
    return save_parts([_keeping(part, kept) for part in parts], directory)


def _keeping(part: Part, kept: Campaign) -> Part:
    """Return a part with its kept runs and interrupted cells; a part without any still has its diagnostics."""
    campaign = part.campaign
    still_begun = set(kept.interrupted)
    runs = campaign.runs.join(kept.runs.select(RUN_KEY), on=RUN_KEY, how="semi", maintain_order="left")
    begun = tuple(key for key in campaign.interrupted if key in still_begun)
    if runs.height == len(campaign) and begun == campaign.interrupted:
        return part
    return Part(replace(campaign, runs=runs, interrupted=begun))

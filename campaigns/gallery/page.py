"""A page of the gallery: question, contract, three pictures and what one learns, all from what was measured."""

import datetime
import shutil
from pathlib import Path

import gapline as gl
from campaigns.gallery.exhibit import Exhibit
from gapline.journal.fairness import summarise_fairness
from gapline.process.machine import describe_machine
from gapline.report.analysis_tables import analysis_table
from gapline.report.tables.means import score_table
from gapline.report.write import write_report
from gapline.report.writers.markdown import to_markdown

# A picture is looked at in a browser and kept in git.
LARGEST = 300_000


def write_exhibit(exhibit: Exhibit, source: Path, docs: Path) -> Path:
    """Write the report of the campaign, copy its three pictures and write the page; return where."""
    study = gl.open_study(source, **exhibit.choices)
    folder = source if source.is_dir() else source.parent
    results = write_report(study, folder / "results", formats=("svg",), log_time=exhibit.log_time)
    pictures = docs / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    blocks = []
    for name, caption in exhibit.pictures.items():
        picture = pictures / f"{exhibit.name}-{name}.svg"
        shutil.copyfile(results / "figures" / f"{name}.svg", picture)
        if picture.stat().st_size > LARGEST:
            raise SystemExit(f"{picture}: expected at most {LARGEST:,} bytes, got {picture.stat().st_size:,}")
        blocks.append(f"{caption}\n\n![{caption}](pictures/{picture.name})")
    page = docs / f"{exhibit.name}.md"
    page.write_text(page_text(exhibit, study, folder, blocks), encoding="utf-8")
    return page


def page_text(exhibit: Exhibit, study: gl.Study, folder: Path, pictures: list[str]) -> str:
    """Return the page as Markdown."""
    machine = describe_machine()
    today = datetime.datetime.now(datetime.UTC).date()
    learned = "\n".join(f"- {sentence}" for sentence in exhibit.learned(study))
    return f"""# {exhibit.title}

{exhibit.question}

Run, scored and written by `python -m campaigns.gallery {exhibit.name}` (or `make campaign`) on {today}. Times depend on
the machine: {machine["processor"]}, {machine["cores"]} cores, {machine["memory"]}. Every sentence below that states a
number was written from the results.

## The contract

{exhibit.contract(folder)}

## What came out

{came_out(study)}

## Three pictures

{(chr(10) * 2).join(pictures)}

## What one learns

{learned}

## How it was measured

{measured(study)}
"""


def came_out(study: gl.Study) -> str:
    """Return the scores and what was left out, as a report shows them."""
    scores = score_table(study.summary, intervals=study.intervals, no_intervals=study.no_intervals)
    return "\n".join(map(to_markdown, [scores, analysis_table(gl.analyse(study), "health")])).rstrip()


def measured(study: gl.Study) -> str:
    """Say how fairly the runs were measured, where their journals know it, and by which digests they are known."""
    rows = list(study.campaign.runs.iter_rows(named=True))
    # Runs of a recording are pinned by nobody, and nobody looks at what else their cores do.
    watched = any(row.get("cpus") for row in rows)
    known = summarise_fairness(rows).lines() if watched else []
    if not watched:
        least = min(row["cpu_share"] for row in rows)
        known.append(
            f"{len(rows)} runs, one after the other in one process that nobody watched; each had at least {least:.0%} "
            "of a core"
        )
    known.append(f"references `{study.snapshot.digest}`, campaign `{study.campaign_digest}`")
    return "\n".join(f"- {line}" for line in known)

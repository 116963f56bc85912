"""`gapline score`: traces in, exact scores out."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("score")
@options.sources
@options.references
@options.acceptance
@click.option("--kernel", "kernels", multiple=True, help="squeezed, maxform, berthold, dimacs:THETA, raw (repeatable).")
@click.option("--weight", default=None, help="uniform, early-log:TMIN, end-log:TCUT, steps:0=1,10=0.5.")
@click.option("--goal", "goals", multiple=True, type=float, help="Raw gap goal, such as 0.01 (repeatable).")
@click.option("--weighting", default=None, help="panel, instance or run: which units count alike.")
@click.option("--statistic", default="mean", show_default=True, help="mean, median, quantile:Q, trimmed:SHARE.")
@click.option("--by", multiple=True, help="Columns that make the groups (repeatable; default: arm).")
@click.option("--per-run", is_flag=True, help="Also print every run.")
@options.as_json
def command(
    sources: tuple[str, ...],
    kernels: tuple[str, ...],
    weight: str | None,
    goals: tuple[float, ...],
    weighting: str | None,
    statistic: str,
    by: tuple[str, ...],
    per_run: bool,
    as_json: bool,
    **choices: Any,
) -> int:
    """Score traces, campaigns or studies against references.

    Example: gapline score traces.csv --references refs.csv --horizon 30 --kernel squeezed --kernel dimacs:1.1
    """
    import json

    from gapline.cli import sources as reading
    from gapline.cli.study_defaults import study_defaults
    from gapline.model.tables import RunKey
    from gapline.model.text import printable
    from gapline.reference.alarm import find_alarms, negative_notes
    from gapline.report import printing
    from gapline.report.documents import score_document
    from gapline.scoring.scores import DEFAULT_GOALS, score_grid
    from gapline.summary.means import summarise

    declared = study_defaults(sources)
    campaign = reading.read_sources(sources, **{name: choices[name] for name in ("arm", "panel", "instance")})
    accepted = {name: choices[name] for name in ("horizon", "transform", "validation", "allow_unchecked")}
    envelopes = reading.accept(campaign, declared, **accepted)
    chosen = reading.choose_references(
        envelopes, sources, declared, **{name: choices[name] for name in ("references", "snapshots", "policy")}
    )
    alarms = find_alarms([choice.snapshot for choice in chosen if choice.policy != "analysis"], envelopes)
    documents = []
    readings = score_grid(
        envelopes,
        [choice.snapshot for choice in chosen],
        kernels=kernels or declared.kernels or ("squeezed",),
        weights=[weight or declared.weight],
        goals=goals or declared.goals or DEFAULT_GOALS,
        policies=[choice.policy for choice in chosen],
    )
    for scores in readings:
        summary = summarise(scores, by=by or ("arm",), weighting=weighting or declared.weighting, statistic=statistic)
        column = scores.frame[scores.kernels[0]]
        keys = [str(RunKey(*row)) for row in scores.frame.select("arm", "instance", "seed").iter_rows()]
        below = [(key, value) for key, value in zip(keys, column, strict=True) if value is not None and value < 0]
        diagnostics = negative_notes(below)
        if as_json:
            document = score_document(scores, summary, per_run=per_run)
            document["notes"] += [*campaign.diagnostics.notes, *diagnostics]
            documents.append(document)
            continue
        if per_run:
            printing.print_runs(scores)
        printing.print_scores(scores, summary)
        for line in printing.note_lines([*summary.notes, *campaign.diagnostics.notes, *diagnostics]):
            click.echo(line)
    if as_json:
        whole: dict[str, Any] = documents[0] if len(documents) == 1 else {"readings": documents}
        whole["alarms"] = [alarm.document() for alarm in alarms]
        whole["unreadable"] = {
            "count": campaign.diagnostics.problem_count,
            "problems": list(campaign.diagnostics.problems),
        }
        click.echo(json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False))
    else:
        if campaign.diagnostics.problem_count:
            click.echo(printing.unread_line(campaign.diagnostics.problems, campaign.diagnostics.problem_count))
        for alarm in alarms:
            click.echo(f"ALARM {printable(alarm)}")
    return 1 if alarms else 0

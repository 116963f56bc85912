"""`gapline demo`: a real campaign of about a minute, or the paper's three-run example."""

import rich_click as click

from gapline.terminal import say, say_words

# (time, objective) of each run against a reference of 10 over 30 seconds.
RUNS = {
    "run 1": [],
    "run 2": [(5, 30), (7, 29), (11, 22), (14, 18), (19, 15), (24, 14), (27, 13)],
    "run 3": [(0, 14), (2, 12), (3, 11), (5, 10), (8, 9), (15, 8), (18, 7), (23, 6), (26, 5)],
}
KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw")


@click.command("demo")
@click.argument("directory", default="demo", type=click.Path(file_okay=False))
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Runs at a time; as many as there are cores for.")
@click.option("--worked-example", is_flag=True, help="Score the paper's three-run example instead: no solver needed.")
def command(directory: str, jobs: int | None, worked_example: bool) -> int:
    """Run a campaign of four solvers on six generated instances, check every candidate, score and plot.

    About a minute on two cores. A second call goes on where the first stopped.

    Example: gapline demo
    """
    if worked_example:
        _score_worked_example()
        return 0
    from pathlib import Path

    import gapline as gl
    from gapline.cli import demo_campaign
    from gapline.model.layout import RESULTS
    from gapline.model.plan import Plan
    from gapline.report.curves import study_curves
    from gapline.report.printing import note_lines, print_scores
    from gapline.report.table import frame_table
    from gapline.report.writers.terminal import print_table
    from gapline.run.campaign import run_study
    from gapline.run.progress import progress_for_terminal

    folder = Path(directory)
    contract = demo_campaign.prepare(folder, say_words)
    runs = len(Plan.of(contract).cells)
    say_words(f"{runs} runs of {contract.time.horizon:g} s: {', '.join(arm.name for arm in contract.arms)}")
    report = run_study(folder, jobs=jobs, progress=progress_for_terminal())
    if report.left or report.campaign is None:
        say(f"{report.done} of {report.planned} runs done\ngo on with: gapline demo {directory}")
        return 1
    noisy = sum(result.noisy for result in report.results)
    if noisy:
        say_words(f"warning: {noisy} runs shared their cores with other work: the scores below are worse for it")
    study = gl.open_study(folder, kernels=demo_campaign.KERNELS)
    caption = "Health: what was captured, and what the checker let through"
    print_table(frame_table("health", caption, demo_campaign.delivered(study.envelopes)))
    say()
    print_scores(study.summary)
    for line in note_lines(study.notes()):
        say_words(line)
    say()
    study_curves(study, by=["arm"]).print()
    say()
    say("writing the report …")
    gl.write_report(gl.open_study(folder), folder / RESULTS, formats=("svg", "png"))
    for line in demo_campaign.closing_lines(folder, study.snapshot):
        # What is indented is to be copied as it is.
        (say if line.startswith("  ") else say_words)(line)
    return 0


def _score_worked_example() -> None:
    import gapline as gl
    from gapline.report.curves import CurvePair
    from gapline.report.printing import note_lines, print_scores

    campaign = gl.Campaign.from_runs(
        [
            {"arm": arm, "instance": "worked", "seed": 1, "horizon": 30.0, "trace": [(*step, True) for step in trace]}
            for arm, trace in RUNS.items()
        ]
    )
    snapshot = gl.Snapshot.from_values({"worked": 10.0}, name="worked example", source="the paper")
    envelopes = gl.build_envelopes(campaign)
    scores = gl.score(envelopes, snapshot, kernels=KERNELS)
    summary = gl.summarise(scores)
    print_scores(summary)
    for line in note_lines(summary.notes):
        say_words(line)
    say()
    CurvePair(gl.mean_curve(envelopes, snapshot), gl.attainment_curve(envelopes, snapshot)).print()
    say()
    say_words(
        "run 1 found nothing and scores 1; run 2 finds its values slowly; run 3 ends below its reference, so its score "
        "is negative"
    )
    say("next: gapline score YOUR_TRACES.csv --references YOUR_REFS.csv --horizon SECONDS")

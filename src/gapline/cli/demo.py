"""`gapline demo`: the paper's three-run example, scored and drawn."""

import rich_click as click

# (time, objective) of each run against a reference of 10 over 30 seconds.
RUNS = {
    "run 1": [],
    "run 2": [(5, 30), (7, 29), (11, 22), (14, 18), (19, 15), (24, 14), (27, 13)],
    "run 3": [(0, 14), (2, 12), (3, 11), (5, 10), (8, 9), (15, 8), (18, 7), (23, 6), (26, 5)],
}
KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw")


@click.command("demo")
def command() -> None:
    """Score the paper's worked example and plot its curves.

    Example: gapline demo
    """
    import gapline as gl
    from gapline.report.curves import CurvePair, print_curves
    from gapline.report.score_table import note_lines, print_scores

    campaign = gl.Campaign.from_runs(
        [
            {"arm": arm, "instance": "worked", "seed": 1, "horizon": 30.0, "trace": [(*step, True) for step in trace]}
            for arm, trace in RUNS.items()
        ]
    )
    snapshot = gl.Snapshot.from_values({"worked": 10.0}, name="worked example", source="the paper")
    envelopes = gl.build_envelopes(campaign)
    summary = gl.summarise(gl.score(envelopes, snapshot, kernels=KERNELS))
    print_scores(summary)
    for line in note_lines(summary.notes):
        click.echo(line)
    click.echo()
    print_curves(CurvePair(gl.mean_curve(envelopes, snapshot), gl.attainment_curve(envelopes, snapshot)))
    click.echo(
        "\nrun 1 found nothing and scores 1; run 2 is late; run 3 ends below its reference, so its score is negative"
    )
    click.echo("next: gapline score YOUR_TRACES.csv --references YOUR_REFS.csv --horizon SECONDS")

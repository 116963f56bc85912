"""`gapline doctor`: what this environment has, and what is missing."""

import rich_click as click

from gapline.cli import options, tables
from gapline.terminal import say


@click.command("doctor")
@click.argument("study", required=False, type=click.Path())
@click.option("--calibrate", is_flag=True, help="Time a fixed work load here; with STUDY, record it for --time-scale.")
@tables.options
@options.as_json
def command(study: str | None, calibrate: bool, outputs: tuple[str, ...], all_columns: bool, as_json: bool) -> int:
    """Say what this environment has: versions, extras, threads; and what STUDY lacks to run here.

    Every arm and the checker of a study are looked at: packages, programs, licences, options; no code of the study
    runs. The exit code is 3 when something is missing. With --calibrate this machine is timed on a fixed work load
    (some seconds), so that times of several machines can be set against each other; leave the machine alone meanwhile.

    Example: gapline doctor my-study
    """
    from gapline.model.environment import describe_environment

    facts: dict[str, object] = dict(describe_environment())
    lacking: list[str] = []
    if study is not None:
        from gapline.run.setup import study_lacks

        arms, lacking = study_lacks(study)
        facts |= {"study": study, "arms": arms, "lacking": lacking}
    if calibrate:
        from gapline.run.calibrate import calibrate as time_work
        from gapline.run.calibrate import calibrate_study, calibration_facts

        facts |= calibration_facts(time_work() if study is None else calibrate_study(study))
    if as_json:
        options.print_json(facts)
    else:
        from gapline.report.table import text_table

        options.print_lines("missing: ", lacking)
        rows = [(name, str(value)) for name, value in facts.items() if not isinstance(value, list)]
        table = text_table("environment", "What is here", ["what", "which"], rows, text=2, notes=())
        tables.show([table], outputs=outputs, all_columns=all_columns, document=lambda: facts)
        if study is not None and not lacking:
            say(f"next: gapline run {study}")
    return 3 if lacking else 0

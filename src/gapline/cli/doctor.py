"""`gapline doctor`: what this environment has, and what is missing."""

import rich_click as click


@click.command("doctor")
@click.argument("study", required=False, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(study: str | None, as_json: bool) -> int:
    """Say what this environment has: versions, extras, threads; and what STUDY lacks to run here.

    Every arm and the checker of a study are looked at: packages, programs, licences, options. The exit code is 3
    when something is missing.

    Example: gapline doctor my-study
    """
    import json

    from gapline.model.environment import describe_environment
    from gapline.model.text import printable

    facts: dict[str, object] = dict(describe_environment())
    lacking: list[str] = []
    if study is not None:
        from gapline.run.setup import study_lacks

        arms, lacking = study_lacks(study)
        facts |= {"study": study, "arms": arms, "lacking": lacking}
    if as_json:
        click.echo(json.dumps(facts, indent=1))
    else:
        for name, value in facts.items():
            if not isinstance(value, list):
                click.echo(f"{name:<22} {value}")
        for line in lacking:
            click.echo(f"missing: {printable(line)}")
        if study is not None and not lacking:
            click.echo(f"next: gapline run {study}")
    return 3 if lacking else 0

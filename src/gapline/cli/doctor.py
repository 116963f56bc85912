"""`gapline doctor`: what this environment has, and what is missing."""

import rich_click as click


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Say what this environment has: versions, extras, threads.

    Example: gapline doctor
    """
    import json

    from gapline.model.environment import describe_environment

    facts = describe_environment()
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    for name, value in facts.items():
        click.echo(f"{name:<22} {value}")

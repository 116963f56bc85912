"""`gapline init`: a study that runs as it is."""

import rich_click as click

from gapline.cli import options
from gapline.terminal import say


@click.command("init")
@click.argument("directory", type=click.Path(file_okay=False))
@click.option("--problem", type=click.Choice(["tdvrptw", "vrptw", "cvrp", "mip"]), default="tdvrptw", show_default=True)
@click.option("--name", default="", help="Name of the study and its instances; the problem when left out.")
@options.as_json
def command(directory: str, problem: str, name: str, as_json: bool) -> None:
    """Write a commented study.toml and generated instances of two panels.

    Example: gapline init my-study --problem cvrp
    """
    from gapline.generate.study import write_study
    from gapline.model.contract import load_contract
    from gapline.model.plan import Plan
    from gapline.solvers import arms_lack

    path = write_study(directory, problem, name=name)
    contract = load_contract(path, files=True)
    runs = len(Plan.of(contract).cells)
    lacking = arms_lack(contract.arms)
    if as_json:
        options.print_json({"contract": str(path), "runs": runs, "lacking": lacking})
        return
    say(f"{path}: {len(contract.arms)} arms, {len(contract.instances)} instances, {len(contract.seeds)} seeds")
    say(f"{runs} runs of {contract.time.horizon:g} s each")
    options.print_lines("missing: ", lacking)
    say(f"next: gapline run {directory}")

"""`gapline generate`: instances from a name, the same on every machine."""

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.terminal import say_words


@click.command("generate", cls=Command)
@click.argument("problem", type=click.Choice(["tdvrptw", "vrptw", "cvrp", "mip"]))
@click.option("--name", default="demo", show_default=True, help="Everything about the instances follows from it.")
@click.option(
    "--n", "customers", type=click.IntRange(1, 2000), default=25, show_default=True, help="Customers, or variables."
)
@click.option("--count", type=click.IntRange(1), default=1, show_default=True, help="How many instances.")
@click.option("-o", "--output", default="instances", show_default=True, type=click.Path(file_okay=False))
@options.as_json
def command(problem: str, *, name: str, customers: int, count: int, output: str, as_json: bool) -> None:
    """Write instances of a problem, with their digests.

    tdvrptw: MAMUT files with time-dependent travel times. vrptw: Solomon files. cvrp: VRPLIB files. mip: MPS files, as
    many set covers as knapsacks.

    Example: gapline generate tdvrptw --name demo --n 25 --count 3 -o instances/
    """
    from gapline.campaign.store import file_digest
    from gapline.generate import write_instances

    paths = write_instances(problem, output, name=name, customers=customers, count=count)
    digests = {str(path): file_digest(path) for path in paths}
    if as_json:
        options.print_json([{"path": path, "digest": digest} for path, digest in digests.items()])
        return
    for path, digest in digests.items():
        say_words(f"{path}  {digest}")

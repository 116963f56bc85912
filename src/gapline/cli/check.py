"""`gapline check`: re-evaluate the captured candidates of a study."""

import rich_click as click


@click.command("check")
@click.argument("study", type=click.Path(exists=True, file_okay=False))
@click.option("--again", is_flag=True, help="Judge anew what this version of the checker has judged before.")
@click.option("--checker", help="Another checker: tdvrptw, vrptw, cvrp, mip, command:PROGRAM, python:MODULE:FUNCTION.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(study: str, again: bool, checker: str | None, as_json: bool) -> int:
    """Check every captured candidate against the original problem and store the verdicts.

    A candidate on which the checker fails stays unchecked, and the next call asks again. Verdicts of two checkers, or
    of two versions of one, are kept apart.

    Example: gapline check my-study --again
    """
    import json

    from gapline.model.text import printable
    from gapline.run.check_run import check_study

    results = check_study(study, again=again, checker=checker)
    arms = sorted({result.key.arm for result in results})
    counts = {
        arm: {
            name: sum(getattr(result, name) for result in results if result.key.arm == arm)
            for name in ("candidates", "valid", "invalid", "unchecked")
        }
        for arm in arms
    }
    unchecked = sum(result.unchecked for result in results)
    problems = [problem for result in results for problem in result.problems]
    if as_json:
        fresh = sum(result.fresh for result in results)
        document = {"runs": len(results), "fresh": fresh, "arms": counts, "problems": problems}
        click.echo(json.dumps(document, indent=1))
        return 1 if unchecked else 0
    width = max([3, *(len(printable(arm)) for arm in arms)])
    click.echo(f"{'arm':<{width}}  candidates   valid  invalid  unchecked")
    for arm, count in counts.items():
        numbers = "{candidates:>10}  {valid:>6}  {invalid:>7}  {unchecked:>9}".format(**count)
        click.echo(f"{printable(arm):<{width}}  {numbers}")
    for problem in problems:
        click.echo(f"problem: {printable(problem)}", err=True)
    click.echo(f"{sum(result.fresh for result in results)} of {len(results)} runs judged now, the others before")
    if unchecked:
        click.echo(
            f"{unchecked} candidates are unchecked: the study is incomplete until gapline check {study} reaches them"
        )
    return 1 if unchecked else 0

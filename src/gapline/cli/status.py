"""`gapline status`: how far a study is."""

import rich_click as click

from gapline.cli import options
from gapline.terminal import say

# Instances that a terminal lists one by one.
_SHOWN = 40


@click.command("status")
@click.argument("study", type=click.Path(exists=True, file_okay=False))
@click.option("--plan", is_flag=True, help="Show what the contract asks for: the design, every instance, every arm.")
@options.as_json
def command(study: str, plan: bool, as_json: bool) -> None:
    """Say which runs of a study are done, running, interrupted, missing or failed, and how to go on.

    Example: gapline status my-study --plan
    """
    if plan:
        show_plan(study, as_json=as_json)
        return
    from gapline.journal.attempts import superseded_words
    from gapline.journal.strays import stray_note
    from gapline.run.campaign import resume_command
    from gapline.run.resume import CellState, study_status

    status = study_status(study)
    go_on = resume_command(status.study) if status.left else None
    shown = [state for state in CellState if state not in (CellState.UNCHECKED, CellState.NOISY)]
    counts = {state.value: status.cells[state] for state in shown}
    fairness = status.fairness
    if as_json:
        answer = {
            "study": status.name,
            "planned": status.planned,
            **counts,
            "failed": len(status.failed),
            "left": status.left,
            "superseded": status.superseded,
            "superseded_because": dict(status.superseded_because),
            "changed": status.changed,
            "left_behind": status.left_behind,
            "over_cap": status.over_cap,
            "statuses": dict(status.statuses),
            "failures": [key._asdict() | {"cause": cause} for key, cause in status.failed],
            "seconds_left": status.seconds_left,
            "fairness": fairness.document(),
            "warnings": status.warnings,
            "problems": status.problems,
            "strays": status.strays,
            "resume": go_on,
        }
        options.print_json(answer)
        return
    say(f"{status.name}: {status.planned} runs planned")
    ended = ", ".join(f"{status} {count}" for status, count in sorted(status.statuses.items()))
    for name, count in counts.items():
        say(f"{name:<12} {count:>6}" + (f"  ({ended})" if name == "done" and ended else ""))
    say(f"{'failed':<12} {len(status.failed):>6}")
    options.print_lines("  ", (f"{key}: {cause}" for key, cause in status.failed))
    if status.superseded:
        say(f"{superseded_words(status.superseded_because)}; all are kept")
    options.print_lines("changed after it was written, quarantined: ", status.changed)
    if status.left_behind:
        say(f"processes that outlived the clearing of their run: {status.left_behind:,}")
    if status.over_cap:
        say(f"events over the cap of a journal, which are not in it: {status.over_cap:,}")
    options.print_lines("measured: ", fairness.lines())
    if fairness.disturbed:
        say(f"run them again with: {resume_command(status.study, None, '--rerun-noisy')}")
    options.print_lines("warning: the solver changed: ", status.warnings)
    options.print_lines("problem: ", status.problems)
    if status.strays:
        say(f"note: {stray_note(status.strays)}")
    if go_on:
        say(f"{status.seconds_left:g} s of solving left; go on with: {go_on}")


def show_plan(study: str, *, as_json: bool) -> None:
    """Show what a contract expands to, whether or not anything was run."""
    from collections import Counter

    import polars as pl

    from gapline.model.contract import load_contract
    from gapline.model.design import evaluation_design, panel_design
    from gapline.model.plan import Plan
    from gapline.report.table import frame_table
    from gapline.report.tables.design import design_table
    from gapline.report.writers.terminal import print_table

    contract = load_contract(study)
    plan = Plan.of(contract)
    design = evaluation_design(contract, plan)
    by_instance = Counter(cell.instance.name for cell in plan.cells)
    by_arm = Counter(cell.arm.name for cell in plan.cells)
    if as_json:
        options.print_json(
            {
                "study": contract.study.name,
                "planned": len(plan.cells),
                "digest": plan.digest,
                "design": design.to_dicts(),
                "instances": [
                    {"name": one.name, "path": one.path, "panel": one.panel, "size": one.size}
                    | {"runs": by_instance[one.name]}
                    for one in contract.instances
                ],
                "arms": [
                    {"name": arm.name, "tier": arm.tier, "steps": dict(arm.steps), "runs": by_arm[arm.name]}
                    for arm in contract.arms
                ],
            }
        )
        return
    print_table(design_table(design))
    print_table(frame_table("panels", "Panels", panel_design(plan), text=("panel", "instances", "sizes", "seeds")))
    if len(contract.instances) <= _SHOWN:
        rows = [{"instance": one.name, "panel": one.panel, "path": one.path} for one in contract.instances]
        print_table(frame_table("instances", "Instances", pl.DataFrame(rows), text=("instance", "panel", "path")))
    else:
        say(f"each of the {len(contract.instances):,} instances: gapline status {study} --plan --json")
    hours = sum(cell.horizon for cell in plan.cells) / 3600
    say(f"{len(plan.cells):,} runs, {hours:,.1f} hours of solving; plan {plan.digest}")

"""`gapline status`: how far a study is."""

import shlex

import rich_click as click

from gapline.cli import options, output
from gapline.cli.command import Command
from gapline.terminal import say, say_words

# Instances that a terminal lists one by one.
_SHOWN = 40


@click.command("status", cls=Command)
@options.study_directory
@click.option("--plan", is_flag=True, help="Show what the contract asks for: the design, every instance, every arm.")
@output.options
def command(study: str, plan: bool, out: output.Output) -> None:
    """Say which runs of a study are done, running, interrupted, missing or failed, and how to go on.

    Example: gapline status my-study --plan
    """
    if plan:
        show_plan(study, out=out)
        return
    from gapline.contract.reading import waiting_words
    from gapline.contract.tables import model_note
    from gapline.journal.attempts import superseded_words
    from gapline.journal.plan_coverage import CellState
    from gapline.journal.unknown_files import stray_note
    from gapline.report.table import Column, word_table
    from gapline.run.campaign import resume_command
    from gapline.run.resume import study_status
    from gapline.text import printable

    status = study_status(study)
    go_on = resume_command(status.study) if status.left else None
    counts = {state.value: status.cells[state] for state in CellState if state is not CellState.NOISY}
    fairness = status.fairness
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
        "models": status.models,
        "warnings": status.warnings,
        "notes": status.notes,
        "problems": status.problems,
        "strays": status.strays,
        "resume": go_on,
    }
    if out.as_json:
        options.print_json(answer)
        return
    waiting = counts["unchecked"]
    wait = f", {waiting_words(waiting)} (gapline check {shlex.quote(study)})" if waiting else ""
    done = f"{counts['done']:,} of {status.planned:,} planned runs done{wait}"
    say_words(f"{printable(status.name)}: {done}, {status.left:,} left")
    ended = ", ".join(f"{name} {count}" for name, count in sorted(status.statuses.items()))
    shown = (one for one in counts.items() if one[0] != "unchecked" or waiting)
    rows = [(name, f"{count:,}", ended if name == "done" else "") for name, count in shown]
    rows.append(("failed", f"{len(status.failed):,}", ""))
    columns = (Column("state", text=True), Column("runs", spare=0), Column("how they ended", text=True))
    table = word_table("status", "Runs by state", columns, rows)
    say()
    out.show([table], lambda: answer)
    say()
    options.print_lines("  ", (f"{key}: {cause}" for key, cause in status.failed))
    if status.superseded:
        say_words(f"{superseded_words(status.superseded_because)}; all are kept")
    options.print_lines("changed after it was written, quarantined: ", status.changed)
    if status.left_behind:
        say_words(f"processes that outlived the clearing of their run: {status.left_behind:,}")
    if status.over_cap:
        say_words(f"events over the cap of a journal, which are not in it: {status.over_cap:,}")
    options.print_lines("measured: ", fairness.lines())
    if fairness.disturbed:
        say(f"run them again with: {resume_command(status.study, None, '--rerun-noisy')}")
    options.print_lines("note: ", [*status.notes, *map(model_note, status.models, status.models.values())])
    options.print_lines("warning: the solver changed: ", status.warnings)
    options.print_lines("problem: ", status.problems)
    if status.strays:
        say_words(f"note: {stray_note(status.strays)}")
    if go_on:
        say(f"{status.seconds_left:g} s of solving left; go on with: {go_on}")


def show_plan(study: str, *, out: output.Output) -> None:
    """Show what a contract expands to, whether or not anything was run."""
    from collections import Counter

    import polars as pl

    from gapline.contract.plan import Plan, evaluation_design, panel_design
    from gapline.contract.study_file import load_contract
    from gapline.contract.tables import model_note
    from gapline.report.table import frame_table
    from gapline.report.tables.design import design_table
    from gapline.solvers import simplified_arms

    contract = load_contract(study)
    plan, models = Plan.of(contract), simplified_arms(contract)
    design = evaluation_design(contract, plan)
    by_instance = Counter(cell.instance.name for cell in plan.cells)
    by_arm = Counter(cell.arm.name for cell in plan.cells)
    answer = {
        "study": contract.study.name,
        "planned": len(plan.cells),
        "digest": plan.digest,
        "design": design.to_dicts(),
        "instances": [
            {"name": one.name, "path": one.path, "panel": one.panel, "size": one.size} | {"runs": by_instance[one.name]}
            for one in contract.instances
        ],
        "arms": [
            {
                "name": arm.name,
                "tier": arm.tier,
                "model": models.get(arm.name),
                "steps": dict(arm.steps),
                "runs": by_arm[arm.name],
            }
            for arm in contract.arms
        ],
    }
    if out.as_json:
        options.print_json(answer)
        return
    seconds = sum(cell.horizon for cell in plan.cells)
    total = f"{seconds / 3600:,.1f} hours" if seconds >= 3600 else f"{seconds:g} s"
    say_words(f"{len(plan.cells):,} runs, {total} of solving")
    say_words(f"plan {plan.digest}")
    options.print_lines("note: ", (model_note(arm, model) for arm, model in models.items()))
    say()
    found = [
        design_table(design),
        frame_table("panels", "Panels", panel_design(plan), text=("panel", "instances", "sizes", "seeds")),
    ]
    if len(contract.instances) <= _SHOWN or out.files:
        rows = [{"instance": one.name, "panel": one.panel, "path": one.path} for one in contract.instances]
        found.append(frame_table("instances", "Instances", pl.DataFrame(rows), text=("instance", "panel", "path")))
    if any(output.lower().endswith(".csv") for output in out.files):
        # Of three tables the one that has every instance is what a file of rows is for.
        found = found[-1:]
    out.show(found, lambda: answer)
    if len(contract.instances) > _SHOWN and not out.files:
        say(f"each of the {len(contract.instances):,} instances: gapline status {study} --plan --json")

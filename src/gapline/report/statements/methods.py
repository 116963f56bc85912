"""The methods paragraph, clause by clause: facts that neither contract nor data state are "not declared"."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from gapline.contract.fact_origins import CHANGED, LATE_PLAN, FactOrigin, find_origins
from gapline.contract.plan import Plan
from gapline.contract.version import VERSION
from gapline.errors import listing
from gapline.journal.fairness import who_kept
from gapline.references.policy import NO_DATE, Policy
from gapline.report.facts import Statements, StudyFacts, recorded
from gapline.report.numbers import goal_words, sentence
from gapline.report.statements.remarks import unknown_ends
from gapline.report.writers.latex_text import comment, escape, number_cell
from gapline.report.writers.markdown import plain
from gapline.scoring.kernels import KernelCode, parse_kernel
from gapline.study import Study
from gapline.text import counted, error_bound

NOT_DECLARED = "not declared"
_FORMULAS = {
    KernelCode.SQUEEZED: "the squeezed gap (z − z*) / (z + z*)",
    KernelCode.MAXFORM: "the signed max-form (z − z*) / max(z, z*)",
    KernelCode.BERTHOLD: "Berthold's absolute gap |z − z*| / max(|z|, |z*|), 1 at a change of sign",
    KernelCode.RAW: "the raw gap (z − z*) / z*",
}


class Clause(NamedTuple):
    """One statement of the reporting contract; `declared` is false if its facts were not stated."""

    topic: str
    text: str
    declared: bool


def methods_clauses(facts: StudyFacts, /) -> list[Clause]:
    """Return every clause of the reporting contract, in the order of the paper's section 6.1."""
    study = facts.study
    timing, coverage, beaten = _timing(study), study.coverage, study.scores[0].beaten
    plan = "" if coverage.planned is not None else f"; how many were planned is {NOT_DECLARED}"
    texts = {
        "objective": _objective(study),
        "transform": _transform(facts),
        "validation": _validation(facts),
        "arms and solvers": _solvers(facts),
        "instances": f"{counted(facts.instances, 'instance')} in {counted(facts.panels, 'panel')}; "
        + (f"the digest of their files: {NOT_DECLARED}." if facts.instance_set is None
           else f"digest over their files {facts.instance_set}."),
        "clock": timing["clock"],
        "charged work": timing["charged work"],
        "horizon": _horizon(facts),
        **{topic: timing[topic] for topic in ("granularity", "threads", "machine")},
        "limits": _limits(study),
        "disturbed measurements": _sentences([] if study.fairness is None else study.fairness.disturbed_lines()),
        "changes of the plan": _sentences([text for text in study.remarks if text.startswith((CHANGED, LATE_PLAN))]),
        "time scale": _time_scale(study),
        "reference": _reference(study),
        "beaten references": "" if beaten is None else f"{beaten}.",
        "integrity alarms": _alarms(study),
        "kernel": _kernel(study),
        "time weight": _weight(study),
        "statistics": _statistics(study),
        "coverage": f"The numbers rest on {coverage}{plan}.",
        "failures": _failures(facts),
        "aggregation": _aggregation(facts),
        "goals": f"Attainment is reported for raw gaps of {listing(map(goal_words, study.goals), most=8)}; a run that "
        "never attains a goal counts as 0.",
        "uncertainty": _uncertainty(study),
        "contrasts": _contrasts(facts),
        "provenance": f"Computed by gapline {VERSION} from the campaign {study.campaign_digest}.",
        "package": _packages(study),
    }  # fmt: skip
    return [Clause(topic, text, NOT_DECLARED not in text) for topic, text in texts.items() if text]


def methods_markdown(said: Statements, /) -> str:
    """Return the paragraph in Markdown, followed by the headline of the report."""
    clauses = methods_clauses(said.facts)
    text = " ".join(plain(clause.text) for clause in clauses)
    missing = [clause.topic for clause in clauses if not clause.declared]
    more = f"\n*Not declared: {', '.join(missing)}. Say it in study.toml or here.*\n" if missing else ""
    return f"## Methods\n\n{text}\n{more}\n## Result\n\n{plain(said.headline.sentences)}\n"


def methods_latex(said: Statements, /) -> str:
    """Return the paragraph in LaTeX, followed by the headline of the report."""
    clauses = methods_clauses(said.facts)
    lines = "\n".join(escape(clause.text) for clause in clauses)
    head = [f"gapline {VERSION}", *(f"{c.topic}: {NOT_DECLARED}" for c in clauses if not c.declared)]
    result = f"\\paragraph{{Result.}}\n{number_cell(said.headline.sentences)}\n"
    # Names and digests are long words: allow loose lines, so that none is too wide.
    return f"{comment(head)}\\begingroup\\sloppy\n\\paragraph{{Methods.}}\n{lines}\n\n{result}\\par\\endgroup\n"


def _sentences(lines: Sequence[str]) -> str:
    return " ".join(map(sentence, lines))


_AS_STATED = {
    FactOrigin.JOURNAL: "as recorded with the runs",
    FactOrigin.LOG: "as the logs state",
    FactOrigin.FILE: "as stated in the file",
    FactOrigin.CONTRACT: "as the contract states",
    FactOrigin.OPTION: "given by an option",
    FactOrigin.NOT_STATED: "else not stated",
}


def _as_stated(*origins: FactOrigin) -> str:
    return listing(_AS_STATED[origin] for origin in origins)


def _timing(study: Study) -> dict[str, str]:
    """Return texts on the timing: as recorded with the runs, as stated in the contract, or not declared."""
    texts = {
        "clock": f"The clock: {NOT_DECLARED}.",
        "charged work": f"The work charged to the solver: {NOT_DECLARED}.",
        "granularity": f"The granularity of the stamps: {NOT_DECLARED}.",
        "threads": f"The thread allocation: {NOT_DECLARED}.",
        "machine": f"The machine class: {NOT_DECLARED}.",
    }
    names = ("clock", "charged", "granularity", "threads", "machine_class", "machine")
    contract, register, runs = study.contract, study.register, study.envelopes.runs
    if contract is not None:
        edited = register is not None and register.edited
        how = "as the contract states" + (" now; it was changed after the first run" if edited else "")
        time = contract.time
        declared = {
            "clock": [str(time.clock)],
            "charged": [time.charged],
            "granularity": [time.granularity],
            "threads": [str(number) for number in sorted({cell.threads for cell in Plan.of(contract).cells})],
            "machine_class": [time.machine] if time.machine else [],
            "machine": [],
        }
        texts |= _timing_texts(declared, dict.fromkeys(names, how))
    origins = find_origins(runs)
    how = _as_stated(FactOrigin.JOURNAL if "attempt" in runs.columns else FactOrigin.FILE)
    found = {name: recorded(runs, name) for name in names}
    stated = {name: _as_stated(*origins[name]) for name in ("clock", "threads", "machine")}
    if not found["granularity"] and (steps := recorded(runs, "resolution")):
        texts["granularity"] = f"A stamp may be off by up to {max(map(float, steps)):g} s."
    return texts | _timing_texts(found, dict.fromkeys(names, how) | stated)


def _timing_texts(said: Mapping[str, Sequence[str]], how: Mapping[str, str]) -> dict[str, str]:
    """Return texts on the timing facts of runs or a contract; facts that are not stated have no text."""
    texts = {}
    if said["clock"]:
        texts["clock"] = f"Time is {listing(map(_clock_words, said['clock']))}, {how['clock']}."
    if said["charged"]:
        texts["charged work"] = f"The clock charges ({how['charged']}): {listing(said['charged'])}."
    if said["granularity"]:
        texts["granularity"] = f"The granularity of the stamps ({how['granularity']}): {listing(said['granularity'])}."
    if threads := said["threads"]:
        one = counted(int(threads[0]), "thread") if threads[0].isdecimal() else threads[0]
        given = f"Each run was given {one}" if len(threads) == 1 else f"Runs were given {listing(threads)} threads"
        texts["threads"] = f"{given}, {how['threads']}."
    machines = listing(said["machine"], most=3)
    if said["machine_class"]:
        found = f"; the runner found {machines}" if machines else ""
        texts["machine"] = f"Machine class ({how['machine_class']}): {listing(said['machine_class'])}{found}."
    elif machines:
        texts["machine"] = f"Machine, {how['machine']}: {machines}."
    return texts


def _clock_words(name: str) -> str:
    return {"wall": "elapsed wall-clock time", "cpu": "CPU time"}.get(name, name)


def _objective(study: Study) -> str:
    """State the objective and the direction in which it is better."""
    contract, runs = study.contract, study.envelopes.runs
    words = {"min": "minimised", "max": "maximised"}
    if contract is not None and "sense" not in study.given and contract.stated_senses:
        return f"The objective is {contract.objective.name}, {words[contract.objective.sense]}."
    subject = f"The objective: {NOT_DECLARED}" if contract is None else f"The objective is {contract.objective.name}"
    senses, origins = recorded(runs, "sense"), find_origins(runs, given=study.given)["sense"]
    shown = listing(words.get(sense, sense) for sense in senses)
    if not senses or origins == (FactOrigin.NOT_STATED,):
        return f"{subject}; its direction is not stated, and it is taken as {shown or words['min']}."
    return f"{subject}; it is {shown}, {_as_stated(*origins)}."


def _transform(facts: StudyFacts) -> str:
    scale = facts.study.envelopes.scale
    if str(scale) == "none":
        return "Objectives are scored as they are, without a transform."
    text = f"Objectives, bounds and references are scored under the transform {scale}."
    if maximised := sum(one.maximises for one in scale.by_instance.values()):
        text += f" {counted(maximised, 'instance')} of {len(scale.by_instance)} maximised."
    if "best_primary" in facts.study.envelopes.runs.columns:
        text += " K and C, the two parts of the objective, stand beside every best value."
    # The condition on M is checked on the observed solutions and reported with either outcome.
    return text + "".join(f" Observed: {note}." for note in facts.hierarchy)


def _validation(facts: StudyFacts) -> str:
    """State who validated the candidates: a checker if one is named, else the source or the solver."""
    only = "only valid ones enter the best-so-far envelope"
    who, contract = facts.study.envelopes.validation, facts.study.contract
    named = facts.checker or (contract.objective.checker if contract is not None else None)
    mixed = "" if who in ("checker", "declared") else f" ({who})"
    if who == "solver":
        return f"Candidates count as valid because the solver said so; nobody checked them, and {only}."
    if facts.checker is not None and who == "checker":
        return (
            f"Every candidate was checked against the original problem and its objective recomputed by the checker "
            f"{facts.checker}; {only}."
        )
    if named is not None and who != "declared":
        return (
            f"The source states which candidates are valid{mixed}, and the contract names the checker {named}; {only}."
        )
    return f"The source declares which candidates are valid{mixed}; {only}; a checker is {NOT_DECLARED}."


def _solvers(facts: StudyFacts) -> str:
    stated = any(solver.names or solver.versions for solver in facts.solvers)
    arms = listing(map(str, facts.solvers) if stated else (solver.arm for solver in facts.solvers), most=12)
    text = f"{counted(facts.arms, 'arm')}: {arms}" + ("." if stated else f"; solvers and versions: {NOT_DECLARED}.")
    if facts.descriptive:
        text += f" Descriptive (tier 2), neither ranked nor tested: {listing(facts.descriptive, most=12)}."
    text += "".join(f" {one.arm} solves a simplified model: {one.model}." for one in facts.solvers if one.model)
    if facts.changed_versions:
        text += f" The version changed between runs of {listing(solver.arm for solver in facts.changed_versions)}."
    return text


def _limits(study: Study) -> str:
    """State who enforced the limits of supervised runs; for other runs this is unknown."""
    kept = sorted({who_kept(limits) for limits in recorded(study.envelopes.runs, "limits")})
    return f"Limits on cores, memory and processes were {' or '.join(kept)}." if kept else ""


def _horizon(facts: StudyFacts) -> str:
    scored, told = (listing((f"{h:g} s" for h in found), most=5) for found in (facts.horizons, facts.announced))
    unknown = f"what the solvers were told is {NOT_DECLARED}"
    if facts.horizon_source is None:
        return f"Runs are scored over a horizon of {scored}, given by an option; {unknown}."
    if facts.study.reading.time_scale is not None:
        return f"Runs are scored over {scored} of the reference machine; the horizon stated was {told} of each machine."
    if facts.horizon_source in (FactOrigin.JOURNAL, FactOrigin.CONTRACT):
        same = f"The horizon is {scored}; it was announced to the solvers, and it is the one scored."
        other = f"Runs are scored over {scored}; the horizon announced to the solvers was {told}."
        return same if told == scored else other
    how = _as_stated(*find_origins(facts.study.envelopes.runs, given=["horizon"])["horizon"])
    if facts.horizon_source == FactOrigin.OPTION:
        other = "" if told == scored else f"; scored are {scored}"
        return f"The horizon of the runs is {told}, {how}{other}; {unknown}."
    same = f"The horizon is {scored}, {how}, and it is the one scored."
    return same if told == scored else f"Runs are scored over {scored}; the horizon of the runs is {told}, {how}."


def _time_scale(study: Study) -> str:
    scale = study.reading.time_scale
    if scale is None:
        return ""
    return (
        f"Times are those of a reference machine: stamps and budgets of each run were multiplied by the factor of its "
        f"host before scoring ({scale}). What the solvers were told is in seconds of their own machine."
    )


def _reference(study: Study) -> str:
    words = {
        Policy.FROZEN: "a snapshot that was registered before the first run",
        Policy.LATE: "a snapshot that was registered after the runs began",
        Policy.GIVEN: "given with the scoring",
        Policy.RETROSPECTIVE: "a snapshot of values known after the runs, not from this campaign",
        Policy.ANALYSIS: "the analysis-time reference, the best of the prior values and of these runs",
    }
    parts = []
    for entry in study.references:
        snapshot, policy = entry.snapshot, Policy(entry.policy)
        store = snapshot.store.name + (f" {snapshot.store.version}" if snapshot.store.version else "")
        # A frozen reference needs no date, and that of a fold follows from its runs; any other date is stated by the
        # snapshot alone.
        known = "" if policy in (Policy.FROZEN, Policy.ANALYSIS) else f"; {NO_DATE}"
        if snapshot.as_of:
            known = f"; values known {snapshot.as_of}"
            known += "" if policy == Policy.ANALYSIS else ", as the snapshot states"
        parts.append(f"{snapshot.name} ({words[policy]}; store {store}{known}; {snapshot.digest})")
    more = f" The same runs are also read against {'; '.join(parts[1:])}." if len(parts) > 1 else ""
    # The tolerance decides which runs beat a reference: a reader needs it to repeat the count.
    equal = f" A reference counts as beaten only by more than a relative {study.tolerance:g}."
    return f"Gaps are measured against {parts[0]}.{more}{equal}"


def _alarms(study: Study) -> str:
    if not study.alarms:
        return ""
    shown = listing(map(str, study.alarms), most=3)
    return f"{counted(len(study.alarms), 'integrity alarm')}, so that no arm is called better than another: {shown}."


def _kernel(study: Study) -> str:
    kernel = parse_kernel(study.kernels[0])
    digest = dict(study.reading.code).get(kernel.name)
    formula = _FORMULAS.get(kernel.code, f"the kernel {kernel.name}" + (f" (source {digest})" if digest else ""))
    if kernel.code is KernelCode.DIMACS:
        formula = f"the DIMACS gap z/z* − 1 with acceptance threshold {kernel.parameter:g}"
    before = "which does not exist before the first valid incumbent"
    if kernel.before is not None:
        before = f"with the value {kernel.before:g} before the first valid incumbent"
    others = f" Other kernels shown: {', '.join(study.kernels[1:])}." if len(study.kernels) > 1 else ""
    return f"The gap is {formula}, {before}; a score is its mean over the horizon, and smaller is better.{others}"


def _weight(study: Study) -> str:
    if study.weight == "uniform":
        return "Every moment of the horizon counts alike."
    error, digest = study.reading.weight_error, dict(study.reading.code).get(study.weight)
    # A function is defined by its source, and its integral is computed by sampling: both belong to the method.
    how = "" if error is None else f" ({digest}), integrated numerically to {error_bound(error)} of its whole"
    return f"Moments of the horizon count by the weight {study.weight}{how}."


def _statistics(study: Study) -> str:
    digests = dict(study.reading.code)
    shown = listing(f"{name} ({digests[name]})" for name in study.statistics)
    return f"Numbers of our own per run, averaged as the scores are: {shown}." if shown else ""


def _failures(facts: StudyFacts) -> str:
    coverage, lost = facts.study.coverage, facts.study.campaign.diagnostics.problem_count
    unreadable = f"; reading the sources met {counted(lost, 'problem')}" if lost else ""
    before = parse_kernel(facts.study.kernels[0]).before
    worst = "has no score" if before is None else f"scores {before:g}"
    ended = []
    if coverage.runs > coverage.unknown:
        ended.append(
            f"{counted(coverage.failed, 'run')} crashed, were killed or were lost; a run that stopped after valid "
            f"candidates ({facts.held:,} of these) holds its last valid incumbent to the horizon."
        )
    ended += unknown_ends(coverage.unknown)
    return (
        f"Of {counted(coverage.runs, 'run')} with {counted(facts.captured, 'captured candidate')}, "
        f"{counted(facts.rejected, 'candidate')} {'was' if facts.rejected == 1 else 'were'} rejected as invalid and "
        f"{facts.late:,} came after the horizon; "
        f"they stay out of the envelope and are counted{unreadable}. {' '.join([*ended, *_set_aside(facts.study)])} "
        f"{counted(coverage.empty, 'run')} without any valid candidate: such a run {worst} and stays in every "
        "denominator; means of final gaps are over the other runs."
    )


def _set_aside(study: Study) -> list[str]:
    """List what the journals hold besides the runs that count, each with its name and number."""
    runs, known = study.envelopes.runs, study.campaign.diagnostics
    said = []
    if others := int((runs["attempts"].fill_null(1) - 1).sum()) if "attempts" in runs.columns else 0:
        each = ", ".join(f"{number:,} {why}" for why, number in sorted(known.superseded.items()))
        # The reasons are those of the whole campaign: with a filter they would not add up.
        why = f" ({each})" if sum(known.superseded.values()) == others else ""
        said.append(
            f"Beside the attempt that counts, the first whole and undisturbed one of a run, {others:,} further were "
            f"made{why}; they are kept and not counted."
        )
    if known.left_behind:
        said.append(f"Processes that outlived the clearing of their run: {known.left_behind:,}.")
    if known.over_cap:
        said.append(f"Events over the cap of a journal, which are in no run: {known.over_cap:,}.")
    return said


def _aggregation(facts: StudyFacts) -> str:
    study = facts.study
    orders = {
        "panel": "over seeds within an instance, then instances within a panel, then panels, each counting alike",
        "instance": "over seeds within an instance, then over instances, each counting alike",
        "run": "over runs, each counting alike",
    }
    seeds = study.envelopes.runs.group_by("arm", "instance").len()["len"]
    low, high = cast(int, seeds.min()), cast(int, seeds.max())
    per = counted(low, "run") if low == high else f"{low} to {high} runs"
    # In an unbalanced table, means are over different runs, so the paragraph must say so.
    more = [*study.summary.balance.notes(), str(study.instance_set)]
    return (
        f"Arithmetic means are taken {orders[study.weighting]}: {counted(facts.arms, 'arm')}, "
        f"{counted(facts.instances, 'instance')} in {counted(facts.panels, 'panel')}, {per} per arm and "
        f"instance.{''.join(f' {sentence(text)}' for text in more if text)}"
    )


def _uncertainty(study: Study) -> str:
    if study.intervals is None:
        return f"No intervals are given: {study.no_intervals or NOT_DECLARED}."
    spans, degrees = study.intervals, "degrees of freedom are Satterthwaite's"
    tests = "" if study.why_unranked is not None else " and p-values"
    further = {
        "t": f"{degrees}; ",
        "skew-t": f"{degrees}, and the interval holds that of Hall's transformation of t, which takes out skewness; ",
    }
    return (
        f"{spans.level:.0%} intervals{tests} are by {spans.how}; {further.get(spans.method, '')}seeds stay "
        "attached to their instance, and differences are paired by instance."
    )


def _contrasts(facts: StudyFacts) -> str:
    study = facts.study
    if study.contrasts is None or study.why_unranked is not None:
        why = "" if study.why_unranked is None else f": {study.why_unranked}"
        return f"No contrasts are tested{why}."
    # A descriptive arm is never tested, so that its contrasts are not counted in Holm's family.
    pairs = study.contrasts.frame.filter("declared").select("a", "b").rows()
    compared = [(a, b) for a, b in pairs if a in facts.compared and b in facts.compared]
    late = study.register is not None and study.register.has_contrasts(compared)
    return contrast_sentence(compared, study.registered, late=late)


def contrast_sentence(pairs: Sequence[tuple[str, str]], registered: bool | None, *, late: bool = False) -> str:
    """State which contrasts were named, and whether this is known to precede the runs.

    `late` means that all of them were registered, but not all before the first run.

    >>> contrast_sentence([("a", "b")], None)
    '1 contrast named, Holm-adjusted together: a against b; all other differences are exploratory.'
    >>> contrast_sentence([("a", "b")], False).split(":")[0]
    '1 contrast named after the runs, Holm-adjusted together'
    >>> contrast_sentence([("a", "b")], False, late=True).split(",")[0]
    '1 contrast registered after the runs began'
    """
    if not pairs:
        return f"Contrasts: {NOT_DECLARED}; all differences are exploratory."
    named = listing((f"{a} against {b}" for a, b in pairs), most=8)
    # Whether contrasts were declared beforehand can only be proven by the register of the plan.
    after = "registered after the runs began" if late else "named after the runs"
    when = {True: "declared beforehand", False: after, None: "named"}[registered]
    words = f"{counted(len(pairs), 'contrast')} {when}, Holm-adjusted together"
    return f"{words}: {named}; all other differences are exploratory."


def _packages(study: Study) -> str:
    """Name the packages of a study by their digests, which identify the bytes; a directory has no digest."""
    shown = [f"{package.name} ({package.sha256}, {package.swhid})" for package in study.packages]
    which = "replication package" if len(shown) == 1 else "replication packages"
    return f"The runs, references and verdicts are those of the {which} {listing(shown)}." if shown else ""

"""The methods paragraph, clause by clause: what neither contract nor data says is "not declared", never guessed."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from gapline.contract.fact_origins import CHANGED, LATE_PLAN, FactOrigin, find_origins
from gapline.contract.plan import Plan
from gapline.contract.reading import Coverage
from gapline.contract.version import VERSION
from gapline.errors import listing
from gapline.journal.fairness import who_kept
from gapline.references.policy import NO_DATE, Policy
from gapline.report.facts import StudyFacts, recorded
from gapline.report.headline import Headline
from gapline.report.numbers import goal_words
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
    """One statement of the reporting contract; `declared` is false where nobody said."""

    topic: str
    text: str
    declared: bool = True


def methods_clauses(study: Study, facts: StudyFacts, /) -> list[Clause]:
    """Return every clause of the reporting contract, in the order of the paper's section 6.1."""
    stated = _stated(study)
    return [
        stated["objective"],
        _transform(facts),
        _validation(facts),
        _solvers(facts),
        _instances(facts),
        stated["clock"],
        stated["charged work"],
        _horizon(facts),
        *(stated[topic] for topic in ("granularity", "threads", "machine")),
        *_limits(study),
        *_disturbed(study),
        *_changes(study),
        *_time_scale(study),
        _reference(study),
        *_beaten(study),
        *_alarms(study),
        _kernel(study),
        _weight(study),
        *_statistics(study),
        _coverage(study.coverage),
        _failures(study, facts),
        _aggregation(study, facts),
        _goals(study),
        _uncertainty(study),
        _contrasts(study, facts),
        Clause("provenance", f"Computed by gapline {VERSION} from the campaign {study.campaign_digest}."),
        *_packages(study),
    ]


def _packages(study: Study) -> list[Clause]:
    """Name the packages that a study was read from, by which anybody gets the same bytes; a directory has no name."""
    shown = [f"{package.name} ({package.sha256}, {package.swhid})" for package in study.packages]
    which = "replication package" if len(shown) == 1 else "replication packages"
    return (
        [Clause("package", f"The runs, references and verdicts are those of the {which} {listing(shown)}.")]
        if shown
        else []
    )


def methods_markdown(study: Study, facts: StudyFacts, headline: Headline, /) -> str:
    """Return the paragraph in Markdown, and below it the one sentence that the report is headed with."""
    clauses = methods_clauses(study, facts)
    text = " ".join(plain(clause.text) for clause in clauses)
    return f"## Methods\n\n{text}\n{_missing(clauses)}\n## Result\n\n{plain(headline.sentences)}\n"


def methods_latex(study: Study, facts: StudyFacts, headline: Headline, /) -> str:
    """Return the paragraph in LaTeX, and below it the one sentence that the report is headed with."""
    clauses = methods_clauses(study, facts)
    lines = "\n".join(escape(clause.text) for clause in clauses)
    head = [f"gapline {VERSION}", *(f"{c.topic}: {NOT_DECLARED}" for c in clauses if not c.declared)]
    result = f"\\paragraph{{Result.}}\n{number_cell(headline.sentences)}\n"
    # Names and digests are long words: loose lines rather than lines that stick out.
    return f"{comment(head)}\\begingroup\\sloppy\n\\paragraph{{Methods.}}\n{lines}\n\n{result}\\par\\endgroup\n"


def _missing(clauses: list[Clause]) -> str:
    missing = [clause.topic for clause in clauses if not clause.declared]
    return f"\n*Not declared: {', '.join(missing)}. Say it in study.toml or here.*\n" if missing else ""


_AS_STATED = {
    FactOrigin.JOURNAL: "as recorded with the runs",
    FactOrigin.LOG: "as the logs state",
    FactOrigin.FILE: "as stated in the file",
    FactOrigin.CONTRACT: "as the contract states",
    FactOrigin.OPTION: "given by an option",
    FactOrigin.NOT_STATED: "else not stated",
}
_SUBJECTS = {
    "objective": "The objective",
    "clock": "The clock",
    "charged work": "The work charged to the solver",
    "granularity": "The granularity of the stamps",
    "threads": "The thread allocation",
    "machine": "The machine class",
}


def _stated(study: Study) -> dict[str, Clause]:
    """Say what was recorded with the runs, else what the contract states, else that nobody said it."""
    texts = _declared(study) | {topic: text for topic, text in _recorded(study).items() if text}
    clauses = {}
    for topic, subject in _SUBJECTS.items():
        text = texts.get(topic)
        clauses[topic] = Clause(topic, text or f"{subject}: {NOT_DECLARED}.", declared=bool(text))
    return clauses | {"objective": _objective(study)}


def _recorded(study: Study) -> dict[str, str]:
    """Return what the runs themselves say of the timing; nothing where they say nothing."""
    runs, origins = study.envelopes.runs, find_origins(study.envelopes.runs)
    clocks, charged, words, steps, threads, classes, machines = (
        recorded(runs, name)
        for name in ("clock", "charged", "granularity", "resolution", "threads", "machine_class", "machine")
    )
    by_runner = "attempt" in runs.columns
    how = _AS_STATED[FactOrigin.JOURNAL if by_runner else FactOrigin.FILE]
    found = f"the runner found {listing(machines, most=3)}" if machines else ""
    texts = {
        "clock": clocks and f"Time is {listing(map(_clock_words, clocks))}, {_as_stated(origins['clock'])}.",
        "charged work": charged and f"The clock charges ({how}): {listing(charged)}.",
        "granularity": words and f"The granularity of the stamps ({how}): {listing(words)}.",
        "threads": threads and f"{_thread_words(threads)}, {_as_stated(origins['threads'])}.",
        "machine": machines and f"Machine, {_as_stated(origins['machine'])}: {listing(machines, most=3)}.",
    }
    if classes:
        texts["machine"] = f"Machine class ({how}): {listing(classes)}{f'; {found}' if found else ''}."
    if steps and not words:
        texts["granularity"] = f"A stamp may be off by up to {max(map(float, steps)):g} s."
    return {topic: str(text) for topic, text in texts.items() if text}


def _declared(study: Study) -> dict[str, str]:
    """Return what the contract states of the timing, and where it was edited since the runs."""
    contract, register = study.contract, study.register
    if contract is None:
        return {}
    edited = register is not None and register.edited
    how = "as the contract states now; it was changed after the first run" if edited else "as the contract states"
    given = tuple(str(threads) for threads in sorted({cell.threads for cell in Plan.of(contract).cells}))
    texts = {
        "clock": f"Time is {_clock_words(contract.time.clock)}, {how}.",
        "charged work": f"The clock charges ({how}): {contract.time.charged}.",
        "granularity": f"The granularity of the stamps ({how}): {contract.time.granularity}.",
        "threads": f"{_thread_words(given)}, {how}.",
        "machine": f"Machine class ({how}): {contract.time.machine}.",
    }
    return {topic: text for topic, text in texts.items() if topic != "machine" or contract.time.machine}


def _as_stated(origins: Sequence[FactOrigin]) -> str:
    return listing(_AS_STATED[origin] for origin in origins)


def _thread_words(threads: Sequence[str]) -> str:
    if len(threads) == 1:
        return f"Each run was given {counted(int(threads[0]), 'thread') if threads[0].isdecimal() else threads[0]}"
    return f"Runs were given {listing(threads)} threads"


def _objective(study: Study) -> Clause:
    """Say what the objective is, and in which direction it is better."""
    contract, runs = study.contract, study.envelopes.runs
    words = {"min": "minimised", "max": "maximised"}
    if contract is not None and "sense" not in study.given and contract.stated_senses:
        return Clause("objective", f"The objective is {contract.objective.name}, {words[contract.objective.sense]}.")
    subject = f"The objective: {NOT_DECLARED}" if contract is None else f"The objective is {contract.objective.name}"
    senses, origins = recorded(runs, "sense"), find_origins(runs, given=study.given)["sense"]
    if not senses or origins == (FactOrigin.NOT_STATED,):
        assumed = listing(words.get(sense, sense) for sense in senses) or words["min"]
        text = f"{subject}; its direction is not stated, and it is taken as {assumed}."
    else:
        shown = listing(words.get(sense, sense) for sense in senses)
        text = f"{subject}; it is {shown}, {_as_stated(origins)}."
    return Clause("objective", text, declared=contract is not None)


def _limits(study: Study) -> list[Clause]:
    """Say who kept the limits of runs that gapline supervised; of others nobody knows."""
    kept = sorted({who_kept(limits) for limits in recorded(study.envelopes.runs, "limits")})
    return [Clause("limits", f"Limits on cores, memory and processes were {' or '.join(kept)}.")] if kept else []


def _disturbed(study: Study) -> list[Clause]:
    """Say how many measurements were disturbed; of runs that gapline did not supervise nothing is known."""
    lines = [] if study.fairness is None else study.fairness.disturbed_lines()
    return [Clause("disturbed measurements", _sentences(lines))] if lines else []


def _changes(study: Study) -> list[Clause]:
    """Say what the contract declares otherwise than when the first run was started, and a plan that came too late."""
    told = [remark for remark in study.remarks if remark.startswith((CHANGED, LATE_PLAN))]
    return [Clause("changes of the plan", _sentences(told))] if told else []


def _beaten(study: Study) -> list[Clause]:
    beaten = study.scores[0].beaten
    return [Clause("beaten references", f"{beaten}.")] if beaten is not None else []


def _alarms(study: Study) -> list[Clause]:
    if not study.alarms:
        return []
    shown = listing(map(str, study.alarms), most=3)
    text = f"{counted(len(study.alarms), 'integrity alarm')}, so that no arm is called better than another: {shown}."
    return [Clause("integrity alarms", text)]


def _sentences(lines: Sequence[str]) -> str:
    return " ".join(f"{line[:1].upper()}{line[1:]}." for line in lines)


def _clock_words(name: str) -> str:
    return {"wall": "elapsed wall-clock time", "cpu": "CPU time"}.get(name, name)


def _transform(facts: StudyFacts) -> Clause:
    scale = facts.study.envelopes.scale
    transform = str(scale)
    if transform == "none":
        return Clause("transform", "Objectives are scored as they are, without a transform.")
    text = f"Objectives, bounds and references are scored under the transform {transform}."
    if maximised := sum(one.maximises for one in scale.by_instance.values()):
        text += f" {counted(maximised, 'instance')} of {len(scale.by_instance)} maximised."
    if "best_primary" in facts.study.envelopes.runs.columns:
        text += " K and C, the two parts of the objective, stand beside every best value."
    # The condition on M is checked on the observed solutions, whichever way it comes out.
    text += "".join(f" Observed: {note}." for note in facts.hierarchy)
    return Clause("transform", text)


def _validation(facts: StudyFacts) -> Clause:
    """Say whose word it is: a checker only where one is named, else that of the source or of the solver."""
    only = "only valid ones enter the best-so-far envelope"
    who, contract = facts.study.envelopes.validation, facts.study.contract
    named = facts.checker or (contract.objective.checker if contract is not None else None)
    mixed = "" if who in ("checker", "declared") else f" ({who})"
    text = f"The source declares which candidates are valid{mixed}; {only}; a checker is {NOT_DECLARED}."
    known = True
    if who == "solver":
        text = f"Candidates count as valid because the solver said so; nobody checked them, and {only}."
    elif facts.checker is not None and who == "checker":
        text = (
            f"Every candidate was checked against the original problem and its objective recomputed by the checker "
            f"{facts.checker}; {only}."
        )
    elif named is not None and who != "declared":
        text = (
            f"The source states which candidates are valid{mixed}, and the contract names the checker {named}; {only}."
        )
    else:
        known = False
    return Clause("validation", text, known)


def _solvers(facts: StudyFacts) -> Clause:
    stated = any(solver.names or solver.versions for solver in facts.solvers)
    arms = listing(map(str, facts.solvers) if stated else (solver.arm for solver in facts.solvers), most=12)
    text = f"{counted(facts.arms, 'arm')}: {arms}"
    text += "." if stated else f"; solvers and versions: {NOT_DECLARED}."
    if facts.descriptive:
        text += f" Descriptive (tier 2), neither ranked nor tested: {listing(facts.descriptive, most=12)}."
    text += "".join(f" {one.arm} solves a simplified model: {one.model}." for one in facts.solvers if one.model)
    if facts.changed_versions:
        text += f" The version changed between runs of {listing(solver.arm for solver in facts.changed_versions)}."
    return Clause("arms and solvers", text, declared=stated)


def _instances(facts: StudyFacts) -> Clause:
    text = f"{counted(facts.instances, 'instance')} in {counted(facts.panels, 'panel')}"
    if facts.instance_set is None:
        return Clause("instances", f"{text}; the digest of their files: {NOT_DECLARED}.", declared=False)
    return Clause("instances", f"{text}; digest over their files {facts.instance_set}.")


def _horizon(facts: StudyFacts) -> Clause:
    scored = _seconds(facts.horizons)
    if facts.horizon_source is None:
        text = f"Runs are scored over a horizon of {scored}, given by an option; {_NOT_TOLD}."
        return Clause("horizon", text, declared=False)
    told = _seconds(facts.announced)
    if facts.study.reading.time_scale is not None:
        text = f"Runs are scored over {scored} of the reference machine; the horizon stated was {told} of each machine."
        return Clause("horizon", text)
    if facts.horizon_source in (FactOrigin.JOURNAL, FactOrigin.CONTRACT):
        same = f"The horizon is {scored}; it was announced to the solvers, and it is the one scored."
        other = f"Runs are scored over {scored}; the horizon announced to the solvers was {told}."
        return Clause("horizon", same if told == scored else other)
    how = _as_stated(find_origins(facts.study.envelopes.runs, given=["horizon"])["horizon"])
    if facts.horizon_source == FactOrigin.OPTION:
        text = f"The horizon of the runs is {told}, {how}" + ("" if told == scored else f"; scored are {scored}")
        return Clause("horizon", f"{text}; {_NOT_TOLD}.", declared=False)
    same = f"The horizon is {scored}, {how}, and it is the one scored."
    other = f"Runs are scored over {scored}; the horizon of the runs is {told}, {how}."
    return Clause("horizon", same if told == scored else other)


_NOT_TOLD = f"what the solvers were told is {NOT_DECLARED}"


def _time_scale(study: Study) -> list[Clause]:
    scale = study.reading.time_scale
    if scale is None:
        return []
    text = (
        f"Times are those of a reference machine: stamps and budgets of each run were multiplied by the factor of its "
        f"host before scoring ({scale}). What the solvers were told is in seconds of their own machine."
    )
    return [Clause("time scale", text)]


def _statistics(study: Study) -> list[Clause]:
    if not study.statistics:
        return []
    digests = dict(study.reading.code)
    shown = listing(f"{name} ({digests[name]})" for name in study.statistics)
    return [Clause("statistics", f"Numbers of our own per run, averaged as the scores are: {shown}.")]


def _seconds(horizons: Sequence[float]) -> str:
    return listing((f"{h:g} s" for h in horizons), most=5)


def _reference(study: Study) -> Clause:
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
        date = f"values known {snapshot.as_of}" if snapshot.as_of else NO_DATE
        # That of a fold follows from its runs; any other date is the snapshot's word.
        date += ", as the snapshot states" if snapshot.as_of and policy != Policy.ANALYSIS else ""
        # What was registered in time needs no date, and that of a fold follows from its runs.
        needs_none = policy in (Policy.FROZEN, Policy.ANALYSIS) and not snapshot.as_of
        known = "" if needs_none else f"; {date}"
        parts.append(f"{snapshot.name} ({words[policy]}; store {store}{known}; {snapshot.digest})")
    more = f" The same runs are also read against {'; '.join(parts[1:])}." if len(parts) > 1 else ""
    # The tolerance decides who beats a reference: a reader needs it to repeat the count.
    equal = f" A reference counts as beaten only by more than a relative {study.tolerance:g}."
    return Clause("reference", f"Gaps are measured against {parts[0]}.{more}{equal}")


def _kernel(study: Study) -> Clause:
    kernel = parse_kernel(study.kernels[0])
    digest = dict(study.reading.code).get(kernel.name)
    formula = _FORMULAS.get(kernel.code, f"the kernel {kernel.name}" + (f" (source {digest})" if digest else ""))
    if kernel.code is KernelCode.DIMACS:
        formula = f"the DIMACS gap z/z* − 1 with acceptance threshold {kernel.parameter:g}"
    before = (
        f"with the value {kernel.before:g} before the first valid incumbent"
        if kernel.before is not None
        else "which does not exist before the first valid incumbent"
    )
    others = f" Other kernels shown: {', '.join(study.kernels[1:])}." if len(study.kernels) > 1 else ""
    return Clause(
        "kernel",
        f"The gap is {formula}, {before}; a score is its mean over the horizon, and smaller is better.{others}",
    )


def _weight(study: Study) -> Clause:
    if study.weight == "uniform":
        return Clause("time weight", "Every moment of the horizon counts alike.")
    error, digests = study.reading.weight_error, dict(study.reading.code)
    # A function is what its source says, and its integral is found by sampling: both belong to the method.
    digest = digests.get(study.weight)
    how = "" if error is None else f" ({digest}), integrated numerically to {error_bound(error)} of its whole"
    return Clause("time weight", f"Moments of the horizon count by the weight {study.weight}{how}.")


def _coverage(coverage: Coverage) -> Clause:
    """Say how much of what was planned the numbers rest on; without a plan nobody can say."""
    if coverage.planned is None:
        text = f"The numbers rest on {coverage}; how many were planned is {NOT_DECLARED}."
        return Clause("coverage", text, declared=False)
    return Clause("coverage", f"The numbers rest on {coverage}.")


def _failures(study: Study, facts: StudyFacts) -> Clause:
    coverage, lost = study.coverage, study.campaign.diagnostics.problem_count
    unreadable = f"; reading the sources met {counted(lost, 'problem')}" if lost else ""
    aside = _set_aside(study)
    kernel = parse_kernel(study.kernels[0])
    worst = f"scores {kernel.before:g}" if kernel.before is not None else "has no score"
    ended = []
    if coverage.runs > coverage.unknown:
        ended.append(
            f"{counted(coverage.failed, 'run')} crashed, were killed or were lost; a run that stopped after valid "
            f"candidates ({facts.held:,} of these) holds its last valid incumbent to the horizon."
        )
    if coverage.unknown:
        ended.append(f"Of {counted(coverage.unknown, 'run')} the source does not say how they ended.")
    return Clause(
        "failures",
        f"Of {counted(coverage.runs, 'run')} with {counted(facts.captured, 'captured candidate')}, "
        f"{counted(facts.rejected, 'candidate')} {'was' if facts.rejected == 1 else 'were'} rejected as invalid and "
        f"{facts.late:,} came after the horizon; "
        f"they stay out of the envelope and are counted{unreadable}. {' '.join([*ended, *aside])} "
        f"{counted(coverage.empty, 'run')} without any valid candidate: such a run {worst} and stays in every "
        "denominator; means of final gaps are over the other runs.",
    )


def _set_aside(study: Study) -> list[str]:
    """Say what the journals hold that is no part of a run, each thing under its own name."""
    runs, known = study.envelopes.runs, study.campaign.diagnostics
    said = []
    others = int((runs["attempts"].fill_null(1) - 1).sum()) if "attempts" in runs.columns else 0
    if others:
        each = ", ".join(f"{number:,} {why}" for why, number in sorted(known.superseded.items()))
        # The reasons are those of the whole campaign: under a filter they would not add up.
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


def _aggregation(study: Study, facts: StudyFacts) -> Clause:
    orders = {
        "panel": "over seeds within an instance, then instances within a panel, then panels, each counting alike",
        "instance": "over seeds within an instance, then over instances, each counting alike",
        "run": "over runs, each counting alike",
    }
    seeds = study.envelopes.runs.group_by("arm", "instance").len()["len"]
    low, high = cast(int, seeds.min()), cast(int, seeds.max())
    per = counted(low, "run") if low == high else f"{low} to {high} runs"
    # An unbalanced table changes what the means are over, so the paragraph says so itself.
    balance = study.summary.balance
    ranked = str(study.instance_set)
    more = [*balance.notes(), *([ranked] if ranked else [])]
    gaps = "".join(f" {text[:1].upper()}{text[1:]}." for text in more)
    return Clause(
        "aggregation",
        f"Arithmetic means are taken {orders[study.weighting]}: {counted(facts.arms, 'arm')}, "
        f"{counted(facts.instances, 'instance')} in {counted(facts.panels, 'panel')}, {per} per arm and "
        f"instance.{gaps}",
    )


def _goals(study: Study) -> Clause:
    goals = listing(map(goal_words, study.goals), most=8)
    return Clause(
        "goals", f"Attainment is reported for raw gaps of {goals}; a run that never attains a goal counts as 0."
    )


_T = "degrees of freedom are Satterthwaite's"
_FURTHER = {
    "t": f"{_T}; ",
    "skew-t": f"{_T}, and the interval holds that of Hall's transformation of t, which takes out skewness; ",
}


def _uncertainty(study: Study) -> Clause:
    if study.intervals is None:
        return Clause("uncertainty", f"No intervals are given: {study.no_intervals or NOT_DECLARED}.")
    spans = study.intervals
    tests = "" if study.why_unranked is not None else " and p-values"
    return Clause(
        "uncertainty",
        f"{spans.level:.0%} intervals{tests} are by {spans.how}; {_FURTHER.get(spans.method, '')}seeds stay "
        "attached to their instance, and differences are paired by instance.",
    )


def _contrasts(study: Study, facts: StudyFacts) -> Clause:
    if study.contrasts is None or study.why_unranked is not None:
        why = "" if study.why_unranked is None else f": {study.why_unranked}"
        return Clause("contrasts", f"No contrasts are tested{why}.")
    # A descriptive arm is never tested, so that a contrast with one is not counted in Holm's family.
    pairs = study.contrasts.frame.filter("declared").select("a", "b").rows()
    compared = [(a, b) for a, b in pairs if a in facts.compared and b in facts.compared]
    late = study.register is not None and study.register.has_contrasts(compared)
    return contrast_clause(compared, study.registered, late=late)


def contrast_clause(pairs: Sequence[tuple[str, str]], registered: bool | None, *, late: bool = False) -> Clause:
    """Say which contrasts were named, and whether anybody knows that it was before the runs.

    `late` where all of them were registered, but not all of them before the first run.

    >>> contrast_clause([("a", "b")], None).text
    '1 contrast named, Holm-adjusted together: a against b; all other differences are exploratory.'
    >>> contrast_clause([("a", "b")], False).text.split(":")[0]
    '1 contrast named after the runs, Holm-adjusted together'
    >>> contrast_clause([("a", "b")], False, late=True).text.split(",")[0]
    '1 contrast registered after the runs began'
    """
    if not pairs:
        return Clause("contrasts", f"Contrasts: {NOT_DECLARED}; all differences are exploratory.", declared=False)
    named = listing((f"{a} against {b}" for a, b in pairs), most=8)
    # Declared beforehand is a claim about time: only the register of the plan can bear it out.
    after = "registered after the runs began" if late else "named after the runs"
    when = {True: "declared beforehand", False: after, None: "named"}[registered]
    return Clause(
        "contrasts",
        f"{counted(len(pairs), 'contrast')} {when}, Holm-adjusted together: {named}; all other differences are "
        "exploratory.",
    )

"""A replication as text: the verdict in one sentence, and the texts around the tables."""

from typing import Any

import msgspec

from gapline.errors import listing
from gapline.report.numbers import signed
from gapline.report.table import Table
from gapline.report.tables.replication import conclusion_table, condition_table, shift_table
from gapline.report.writers.markdown import plain, to_markdown
from gapline.report.writers.terminal import print_table
from gapline.study import Study
from gapline.study.replication import DISTURBED, Agreement, Conclusion, RankAgreement, Replicated
from gapline.terminal import say, say_words
from gapline.text import counted


def shown_replication(study: Study, /) -> Replicated | None:
    """Return the result of a study's replication, if it is of exactly the runs that the study has now."""
    found = study.replication
    return found if found is not None and found.campaign == study.campaign_digest else None


def replication_tables(found: Replicated, /) -> list[Table]:
    """Return the tables of a replication."""
    return [conclusion_table(found), shift_table(found), condition_table(found)]


def verdict_sentence(found: Replicated, /) -> str:
    """State in one sentence whether the conclusions hold, and which arms have significantly moved."""
    moved = listing(f"{one.arm} ({one.verdict} by {signed(one.shift).lstrip('+−')})" for one in found.moved)
    # A reader who learns of a shift must also learn what may have caused it.
    end = f"; shown to have moved: {moved}{_disturbed(found)}" if moved else ""
    short = found.planned - found.runs
    lacking = f"; {short:,} of {found.planned:,} runs are not compared" if short > 0 else ""
    return f"{_held(found)}{end}{lacking}."


def _disturbed(found: Replicated) -> str:
    row = next((one for one in found.conditions if one.what == DISTURBED), None)
    if row is None or (row.old.startswith("0 ") and row.new.startswith("0 ")):
        return ""
    return f", with {row.old} runs disturbed by other work there and {row.new} here"


def _held(found: Replicated) -> str:
    """State what became of the significant differences of the original: these are the conclusions."""
    if against := found.contradicted:
        pairs = listing(
            f"{_pair(one)} ({signed(one.old.difference)} there, {signed(one.new.difference)} here)" for one in against
        )
        of = f"{len(against)} of {counted(len(found.conclusions), 'difference')}"
        return f"Contradicted: {of} {_are(len(against))} the other way round: {pairs}"
    tested = [one for one in found.conclusions if one.agreement is not Agreement.NOT_TESTED]
    if not tested:
        return "Nothing was tested: no pair of arms has an interval there and here"
    told = [one for one in tested if one.old.told_apart]
    if not told:
        same = sum(one.agreement is Agreement.SAME_SIGN for one in tested)
        return (
            f"There was no conclusion to hold: of {counted(len(tested), 'difference')} none was told apart there, "
            f"and {same} of them {'has' if same == 1 else 'have'} the same sign here"
        )
    kinds = {
        Agreement.AGREES: "told apart here too, the same way round",
        Agreement.SAME_SIGN: "of the same sign here and not told apart",
        Agreement.OTHER_SIGN: "of the other sign here and not told apart",
    }
    counts = {words: sum(one.agreement is kind for one in told) for kind, words in kinds.items()}
    said = ", ".join(f"{number} {_are(number)} {words}" for words, number in counts.items() if number)
    whole = counts[kinds[Agreement.AGREES]] == len(told)
    rest = len(found.conclusions) - len(tested)
    untested = f", {rest} not tested" if rest else ""
    lead = "The conclusions hold" if whole else "No conclusion is contradicted"
    return f"{lead}: of {counted(len(told), 'difference')} told apart there, {said}{untested}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _pair(one: Conclusion) -> str:
    return f"{one.a} − {one.b}"


def rank_sentence(ranks: RankAgreement, /) -> str:
    """State how similar the orders of the arms are, with the counts behind it.

    >>> rank_sentence(RankAgreement(arms=3, tau=1 / 3, concordant=2, discordant=1))
    'Order of 3 arms by mean score: Kendall tau-b 0.333 (2 pairs in the same order, 1 in the other, no ties).'
    """
    tied = ranks.tied_old + ranks.tied_new + ranks.tied_both
    ties = (
        f"{tied} tied: {ranks.tied_old} there, {ranks.tied_new} here, {ranks.tied_both} in both" if tied else "no ties"
    )
    tau = "does not exist" if ranks.tau is None else f"{ranks.tau:.3f}"
    pairs = f"{counted(ranks.concordant, 'pair')} in the same order, {ranks.discordant} in the other, {ties}"
    return f"Order of {counted(ranks.arms, 'arm')} by mean score: Kendall tau-b {tau} ({pairs})."


def origin_sentence(found: Replicated, /) -> str:
    """State what was run again, of which package, and how many runs are compared."""
    counts = (
        f"{found.runs:,} of {found.planned:,} planned runs are compared "
        f"({found.lacking_old:,} lack there, {found.lacking_new:,} here)"
    )
    if found.origin is None:
        return f"{counts}."
    words = found.origin.part.words()
    which = f", {words}" if words else ""
    return f"{found.origin.name} ({found.origin.sha256}, {found.origin.swhid}) run again{which}: {counts}."


def remark_lines(found: Replicated, /) -> list[str]:
    """Return the lines below the tables: origin, horizons, notes and alarms."""
    lines = [origin_sentence(found), f"Both are {found.horizons}."]
    return [*lines, *(f"note: {note}" for note in found.notes), *(f"ALARM {alarm}" for alarm in found.alarms)]


def replication_document(found: Replicated, /) -> dict[str, Any]:
    """Return the replication for JSON, the verdict sentence first."""
    return {"verdict": verdict_sentence(found), "contradicted": len(found.contradicted), **msgspec.to_builtins(found)}


def print_replication(found: Replicated, /) -> None:
    """Print the verdict, the tables, and the lines below them."""
    say_words(verdict_sentence(found))
    say_words(rank_sentence(found.ranks))
    say()
    for table in (conclusion_table(found), shift_table(found), condition_table(found, alike=False)):
        print_table(table)
        say()
    for line in remark_lines(found):
        say_words(line)


def replication_markdown(found: Replicated, /) -> str:
    """Return all of it in Markdown, the verdict first."""
    parts = ["### Replication\n", f"**{plain(verdict_sentence(found))}**\n", f"{plain(rank_sentence(found.ranks))}\n"]
    parts += [to_markdown(table) for table in replication_tables(found)]
    parts.append("\n".join(f"- {plain(line)}" for line in remark_lines(found)) + "\n")
    return "\n".join(parts)

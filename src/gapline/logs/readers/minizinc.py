"""MiniZinc's output with `--output-time`: solutions between separators, or the JSON stream (`--json-stream`)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from gapline.contract.tables import Proof, RunStatus
from gapline.errors import TraceError
from gapline.logs.events import EventList
from gapline.logs.lines import parse_number
from gapline.logs.loose_json import as_float, json_lines
from gapline.logs.reader import Found, FoundRun, LogFile, Reader

SEPARATOR = "----------"
# The first output of a run with statistics; MiniZinc's IDE ends a run with its duration.
_FIRST = "% Generated FlatZinc statistics"
_COMMENTS = ("%", "Finished in ")
# The texts between ===== and the stream's statuses that mean a finished run.
_FINISHED = ("", "UNSATISFIABLE", "UNBOUNDED", "UNSATorUNBOUNDED", "ALL_SOLUTIONS", "OPTIMAL_SOLUTION")
_STATUSES = dict.fromkeys((*_FINISHED, "UNSAT_OR_UNBOUNDED"), RunStatus.FINISHED) | {"ERROR": RunStatus.CRASHED}
_PROVEN = {"": Proof.OPTIMAL, "OPTIMAL_SOLUTION": Proof.OPTIMAL, "UNSATISFIABLE": Proof.INFEASIBLE}
_END = re.compile(r"=====(|UNSATISFIABLE|UNBOUNDED|UNSATorUNBOUNDED|UNKNOWN|ERROR)=====")
_ELAPSED = re.compile(r"% time elapsed: (\S{1,40}) ?s")
_STATISTIC = re.compile(r"%%%mzn-stat: ?(\w{1,60}) ?= ?(.{0,200})")
_OBJECTIVE = re.compile(
    r"\s{0,20}(?:% ?)?(_objective|objective|obj)\s{0,20}[=:]\s{0,20}([^\s;]{1,400})\s{0,20};?\s{0,20}"
)
# JSON on several lines, or on one.
_JSON_LINE = re.compile(
    r'[\s{]{0,20}"(_objective|objective|obj)"\s{0,20}:\s{0,20}([^\s}]{1,400}?)\s{0,20},?[\s}]{0,20}'
)
_JSON_INSIDE = re.compile(r'"(_objective)"\s{0,20}:\s{0,20}([^\s,}]{1,400})\s{0,20}[,}]')
# `_objective` is MiniZinc's own (--output-objective); the others are variables with a common name.
_RANK = {"_objective": 0, "objective": 1, "obj": 2}
UNVALUED_NOTE = "MiniZinc printed solutions without an objective: run it with --output-objective and --output-mode json"
_STREAM = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:solution|statistics|status|time|comment|checker|warning|error|trace)"')
_TEXT_SIGNS = re.compile(
    rb"^(?:% time elapsed: |%%%mzn-stat|=====(?:UNKNOWN|UNSATISFIABLE|UNBOUNDED|ERROR)=====)", re.M
)
_BOTH_ENDS = (re.compile(rb"^----------\r?$", re.M), re.compile(rb"^==========\r?$", re.M))


@dataclass(slots=True)
class _Solution:
    where: str
    time: str | float | None
    objective: str | float | None


@dataclass(slots=True)
class _Search:
    """One run of MiniZinc while it is read, with the facts for the next solution."""

    solutions: list[_Solution] = field(default_factory=list)
    status: RunStatus | None = None
    proof: Proof | None = None
    timed_out: bool = False
    statistics: dict[str, str | float] = field(default_factory=dict)
    resolution: float = 0.0
    objective: tuple[int, str] | None = None
    stated: str | float | None = None
    stats_follow: bool = False
    time: str | None = None
    has_text: bool = False
    ended_at: float | None = None

    @property
    def is_closed(self) -> bool:
        return self.status is not None

    def note_statistic(self, name: str, value: str | float) -> None:
        """Record a statistic; an objective belongs to the next solution, or to the last one if that has none yet.

        Statistics are repeated: the last ones before a solution belong to it, or the first ones after it if the solver
        prints them there.
        """
        self.statistics[name] = value
        if name != "objective" or self.is_closed:
            return
        last = self.solutions[-1] if self.solutions else None
        if last is not None and last.objective is None and not self.has_text:
            self.stats_follow, last.objective = True, value
        elif not self.stats_follow:
            self.stated = value


def _looks_like(_path: str, head: bytes) -> bool:
    if _STREAM.match(head) or _TEXT_SIGNS.search(head):
        return True
    return all(sign.search(head) for sign in _BOTH_ENDS)


def _read(log: LogFile) -> Found:
    found = Found()
    is_stream = _STREAM.match(log.head[: 64 * 1024]) is not None
    searches = list(_split_by_clock(_read_stream(log, found) if is_stream else _read_text(log, found)))
    if not searches:
        raise TraceError(
            f"{log.path}: expected MiniZinc's output, got no solution, no status and no statistics",
            hint="run minizinc with --output-time --output-objective, or with --json-stream",
        )
    for search in searches:
        found.runs.append(_finish(search, found, log, is_last=search is searches[-1], is_stream=is_stream))
    return found.numbered()


def _split_by_clock(searches: Iterable[_Search]) -> Iterator[_Search]:
    """Yield the searches, split where the clock restarts at 0: a search at its limit may print no end."""
    for search in searches:
        first, latest = 0, 0.0
        for place, solution in enumerate(search.solutions):
            time = parse_number(solution.time) if isinstance(solution.time, str) else solution.time
            if time is not None and time < latest:
                yield _Search(search.solutions[first:place], timed_out=search.timed_out, resolution=search.resolution)
                first = place
            latest = latest if time is None else time
        yield replace(search, solutions=search.solutions[first:]) if first else search


def _read_text(log: LogFile, found: Found) -> list[_Search]:
    searches: list[_Search] = []
    search = _Search()
    lines = log.lines()
    for number, line in lines:
        text = line.rstrip()
        if number == lines.torn_at and _STATISTIC.match(text):
            found.refuse_torn(f"{log.path}:{number}", text)
            break
        is_comment = text.startswith(_COMMENTS) and not text.startswith(_FIRST)
        if (search.is_closed and text and not is_comment) or (search.solutions and text.startswith(_FIRST)):
            # Comments after the end belong to the run that ended; anything else begins the next run.
            search = _Search()
        if not text:
            continue
        if search not in searches[-1:]:
            searches.append(search)
        _read_text_line(search, text, f"{log.path}:{number}")
    return [one for one in searches if one.solutions or one.is_closed or one.statistics or one.timed_out]


def _read_text_line(search: _Search, text: str, where: str) -> None:
    if text == SEPARATOR:
        objective = search.objective[1] if search.objective else search.stated
        search.solutions.append(_Solution(where, search.time, objective))
        search.objective, search.stated, search.time, search.has_text = None, None, None, False
    elif end := _END.fullmatch(text):
        search.status, search.proof = _STATUSES.get(end[1], RunStatus.UNKNOWN), _PROVEN.get(end[1])
        search.has_text = False
    elif elapsed := _ELAPSED.match(text):
        search.resolution = max(search.resolution, _unit(elapsed[1]))
        last = search.solutions[-1] if search.solutions else None
        if search.is_closed:
            search.ended_at = parse_number(elapsed[1])
        elif last is not None and last.time is None and not search.has_text:
            # Some versions print the time below the separator instead of above it.
            last.time = elapsed[1]
        else:
            search.time = elapsed[1]
    elif statistic := _STATISTIC.match(text):
        search.note_statistic(statistic[1], statistic[2].strip().strip('"'))
    elif text.startswith("% Time limit exceeded"):
        search.timed_out = True
    else:
        search.has_text = search.has_text or not text.startswith(_COMMENTS)
        _note_objective(search, text)


def _note_objective(search: _Search, text: str) -> None:
    found = _OBJECTIVE.fullmatch(text)
    if found is None and '"' in text:
        found = _JSON_LINE.fullmatch(text) or _JSON_INSIDE.search(text)
    if found and (search.objective is None or _RANK[found[1]] < search.objective[0]):
        search.objective = (_RANK[found[1]], found[2])


def _unit(text: str) -> float:
    return 0.0 if parse_number(text) is None else 10.0 ** -len(text.partition(".")[2])


def _read_stream(log: LogFile, found: Found) -> list[_Search]:
    searches: list[_Search] = []
    search = _Search(resolution=0.001)
    for where, line, message, is_last in json_lines(log):
        kind = message.get("type") if message else None
        if message is None or not isinstance(kind, str):
            found.refuse(where, "a JSON object with a type", line)
            search.has_text = search.has_text or is_last
            continue
        if search.is_closed and kind in ("solution", "status"):
            search = _Search(resolution=0.001)
        if search not in searches[-1:]:
            searches.append(search)
        _read_message(search, kind, message, where)
    return searches


def _read_message(search: _Search, kind: str, message: dict[str, object], where: str) -> None:
    time = as_float(message.get("time"))
    # The stream counts milliseconds, the text seconds.
    seconds = None if time is None else time / 1000
    if kind == "solution":
        objective = _stream_objective(message.get("output"))
        if objective is None:
            # A model with its own output item may print anything; the solver's statistics have the value.
            objective = search.stated
        search.solutions.append(_Solution(where, seconds, objective))
        search.stated = None
    elif kind == "status":
        said = str(message.get("status"))
        search.status, search.proof = _STATUSES.get(said, RunStatus.UNKNOWN), _PROVEN.get(said)
        search.ended_at = seconds
    elif kind == "statistics":
        statistics = message.get("statistics")
        for name, value in statistics.items() if isinstance(statistics, dict) else ():
            if isinstance(value, str | float):
                search.note_statistic(name, value)
    elif kind == "error":
        search.status = RunStatus.CRASHED
    elif kind in ("comment", "warning") and "Time limit exceeded" in str(message)[:400]:
        search.timed_out = True


def _stream_objective(output: object) -> str | float | None:
    """Return the objective of a solution message from its sections, which are objects or texts of any name.

    MiniZinc's own `_objective` has precedence in any section; some versions print JSON as a text.
    """
    if not isinstance(output, dict):
        return None
    block = _Search()
    best: tuple[int, str | float] | None = None
    # `_objective` may also be next to the sections.
    for section in (output, *output.values()):
        for name, rank in _RANK.items() if isinstance(section, dict) else ():
            value = section.get(name)
            if isinstance(value, str | float) and (best is None or rank < best[0]):
                best = rank, value
        for line in section[:100_000].splitlines() if isinstance(section, str) else ():
            if len(line) < 1000:
                _note_objective(block, line)
    options = [one for one in (best, block.objective) if one is not None]
    return min(options, key=lambda one: one[0])[1] if options else None


def _finish(search: _Search, found: Found, log: LogFile, *, is_last: bool, is_stream: bool) -> FoundRun:
    events = EventList(found.problems)
    for solution in search.solutions:
        events.add(solution.time, solution.objective, where=solution.where)
    stated = search.statistics.get("objectiveBound")
    bound = parse_number(stated) if isinstance(stated, str) else as_float(stated)
    end = search.ended_at
    if bound is not None and end is not None and end >= 0:
        events.add_bound(end, bound)
    torn = is_last and (log.cut or (search.has_text and not search.is_closed))
    if torn:
        status = RunStatus.KILLED
    elif search.timed_out and search.status in (None, RunStatus.UNKNOWN):
        status = RunStatus.TIME_LIMIT
    elif search.status is not None:
        status = search.status
    else:
        # A stream states how it ended; a text that stops after a solution may have reached its limit.
        status = RunStatus.KILLED if is_stream else RunStatus.UNKNOWN
    missing = sum(solution.objective is None for solution in search.solutions)
    if missing and search.statistics.get("method") != "satisfy" and UNVALUED_NOTE not in found.notes:
        found.notes.append(UNVALUED_NOTE)
    resolution, guessed = search.resolution or None, "method" not in search.statistics
    sense = _sense(search, found)
    carried = {"claim": proof.value} if status is RunStatus.FINISHED and (proof := _proof(search)) else {}
    return FoundRun(
        **events.columns(),
        status=status,
        clock="wall",
        resolution=resolution,
        sense=sense,
        guessed=guessed,
        carried=carried,
    )


def _proof(search: _Search) -> Proof | None:
    """Return what the end of a search proves; without an objective, there is no optimum to prove."""
    has_objective = any(solution.objective is not None for solution in search.solutions)
    if search.proof is Proof.OPTIMAL and (search.statistics.get("method") == "satisfy" or not has_objective):
        return None
    return search.proof


def _sense(search: _Search, found: Found) -> str | None:
    method = search.statistics.get("method")
    if method in ("minimize", "maximize"):
        return "max" if method == "maximize" else "min"
    shown_values = (one.objective for one in search.solutions)
    numbers = (parse_number(value) if isinstance(value, str) else value for value in shown_values)
    values = [number for number in numbers if number is not None]
    if len(values) > 1 and values[0] != values[-1]:
        sense = "max" if values[-1] > values[0] else "min"
        found.notes.append(f"MiniZinc output without statistics states no sense: read as {sense} from its solutions")
        return sense
    return None


READER = Reader("minizinc", "MiniZinc output (text with times, or JSON stream)", _looks_like, _read)

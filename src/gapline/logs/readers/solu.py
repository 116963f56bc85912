"""Reference values in a `.solu` file: `=opt= name value`, `=best= name value`, `=inf= name`, `=unkn= name`."""

import re

from gapline.errors import TraceError
from gapline.logs.lines import parse_number
from gapline.logs.reader import Found, LogFile, Reader, SourceReference
from gapline.text import model_name

_LINE = re.compile(r"=(opt|best|inf|unkn|unbd|feas|bestdual|cert)=\s+(\S+)(?:\s+(\S+))?", re.ASCII)
_LINE_BYTES = re.compile(rb"\s*(?:#[^\n]*\n\s*)*=(?:opt|best|inf|unkn|unbd|feas|bestdual|cert)=\s")


def _read(log: LogFile) -> Found:
    found = Found()
    for number, text in log.lines():
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        match = _LINE.match(text.strip())
        where = f"{log.path}:{number}"
        if match is None:
            found.refuse(where, "`=opt= name value`", text)
            continue
        kind, name, text_value = match[1], model_name(match[2]), match[3]
        # Infeasible, unknown and dual bounds are not values to score against.
        if kind not in ("opt", "best"):
            continue
        value = parse_number(text_value or "")
        if value is None:
            found.refuse(where, f"a value after {name}", text_value or "")
        else:
            found.references.append(SourceReference(name, value, kind == "opt", f"={kind}= of a .solu file"))
    if not found.references and found.problems:
        raise TraceError(f"{log.path}: expected lines such as `=opt= name value`, got none that can be used")
    return found


READER = Reader("solu", "reference values (.solu)", lambda _path, head: _LINE_BYTES.match(head) is not None, _read)

"""Text that LaTeX typesets as it stands, and macros named from arm and statistic."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gapline.report.terminal import shown

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # In braces, so that two of them do not join into another quote; by number, since babel may take the double one.
    '"': r"\symbol{34}",
    "'": "{'}",
    "`": "{`}",
    # Brackets in braces: `\\[` and `\item[` would read them as an argument.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "†": r"\textdagger{}",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "Λ": r"$\Lambda$",
    "Γ": r"$\Gamma$",
    "ϱ": r"$\varrho$",
    "θ": r"$\theta$",
    "Δ": r"$\Delta$",
    "“": "``",
    "”": "''",
}
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
# A digest is one long word: it may be broken after every eighth letter.
_DIGEST = re.compile("[0-9a-f]{64}")
# Latin letters that the T1 fonts have.
_LATIN = frozenset(map(chr, range(0xC0, 0x180))) - frozenset("ĦħĸĿŀŉŦŧſ")


class Macro(NamedTuple):
    """A statistic under the name that a paper calls it by."""

    owner: str
    statistic: str
    value: str


def escape(text: object) -> str:
    r"""Return text that compiles under pdflatex and reads as it stands; a letter it cannot set is named by its number.

    >>> print(escape("a_b & 50% of {x}\\"), escape("中"))
    a\_b \& 50\% of \{x\}\textbackslash{} {[}U+4E2D{]}
    """
    escaped = "".join(_escape_letter(letter) for letter in shown(text))
    return _DIGEST.sub(lambda found: "\\allowbreak{}".join(re.findall(".{1,8}", found[0])), escaped)


def _escape_letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if ord(letter) < 0x7F or letter in _LATIN:
        return letter
    return f"{{[}}U+{ord(letter):04X}{{]}}"


def number_cell(text: str) -> str:
    """Return a formatted number for LaTeX, with a minus sign instead of a hyphen.

    >>> number_cell("-0.105"), number_cell("1.2 %")
    ('$-$0.105', '1.2 \\\\%')
    """
    return "$-$" + escape(text[1:]) if text.startswith("-") else escape(text)


def comment(lines: Iterable[str]) -> str:
    """Return lines as LaTeX comments; nothing in them can end one."""
    return "".join(f"% {' '.join(shown(line).split())}\n" for line in lines)


def macro_words(name: str) -> str:
    """Return a name in letters alone, each word capitalised, digits spelled out; empty where nothing is left.

    >>> macro_words("hgs-2012 v1.1"), macro_words("équipe_a"), macro_words("解")
    ('HgsTwoZeroOneTwoVOneOne', 'EquipeA', '')
    """
    plain = unicodedata.normalize("NFKD", name)
    spelled = "".join(f" {_DIGITS[int(c)]} " if c in "0123456789" else c for c in plain if not unicodedata.combining(c))
    return "".join(word[0].upper() + word[1:] for word in re.findall(r"[A-Za-z]+", spelled))


def macro_names(owners: Sequence[str]) -> dict[str, str]:
    """Give every owner its own letters; those that would share them get some of their hash, the same on any day.

    >>> macro_names(["kayros", "a-1", "a1"])["kayros"]
    'Kayros'
    >>> len({*macro_names(["kayros", "a-1", "a1"]).values()})
    3
    """
    words = {owner: macro_words(owner) for owner in owners}
    shared = Counter(words.values())
    return {owner: word if word and shared[word] == 1 else word + _letters(owner) for owner, word in words.items()}


def _letters(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return "X" + "".join(chr(ord("a") + byte % 26) for byte in digest[:6])


def macro_file(macros: Sequence[Macro], head: Iterable[str]) -> str:
    r"""Write `\newcommand{\ArmStatistic}{value}` lines, in the order given.

    >>> print(macro_file([Macro("hgs-2", "score", "-0.1")], []).strip())
    \newcommand{\HgsTwoScore}{$-$0.1}
    """
    names = macro_names(list(dict.fromkeys(macro.owner for macro in macros)))
    lines, used = [], set()
    for macro in macros:
        name = names[macro.owner] + macro_words(macro.statistic)
        if name in used:
            name += _letters(macro.owner + macro.statistic)
        used.add(name)
        lines.append(f"\\newcommand{{\\{name}}}{{{number_cell(macro.value)}}}\n")
    return comment(head) + "".join(lines)

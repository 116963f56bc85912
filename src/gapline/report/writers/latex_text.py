"""Text for LaTeX: escaped text, numbers as math, macros named after arm and statistic."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gapline.text import printable


def _greek(letter: str) -> str:
    name = unicodedata.name(letter).rpartition(" ")[2].lower().replace("lamda", "lambda")
    return name.capitalize() if letter.isupper() else name


# Replacements for characters that LaTeX interprets, or that text fonts lack; the page uses them for its tables too.
SPECIAL = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    **{letter: f"\\{letter}" for letter in "{}$&#%_"},
    # In braces, so that two of them do not join into another quote; by number, since babel may redefine the double one.
    '"': r"\symbol{34}", "'": "{'}", "`": "{`}",
    # Brackets in braces: `\\[` and `\item[` would read them as an argument.
    "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "–": "--", "—": "---", "…": r"\dots{}", "†": r"\textdagger{}", "“": "``", "”": "''",
    **{sign: f"$\\{name}$" for sign, name in zip(
        "×·≤≥≠≈±∞→←∈√∑",
        ("times", "cdot", "le", "ge", "ne", "approx", "pm", "infty", "to", "leftarrow", "in", "surd", "sum"),
        strict=True,
    )},
    # The Greek letters without a Latin lookalike, named by Unicode as in TeX.
    **{letter: f"$\\{_greek(letter)}$" for letter in "ΓΔΘΛΞΠΣΦΨΩαβγδζηθικλμνξπρστχψω"},
    "ϱ": r"$\varrho$", "ε": r"$\varepsilon$", "φ": r"$\varphi$", "ϑ": r"$\vartheta$", "µ": r"$\mu$",
    **{letter: f"$^{{{plain}}}$" for letter, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)},
    **{letter: f"$_{{{plain}}}$" for letter, plain in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)},
}  # fmt: skip
# A word longer than a line may be broken: after marks, and after twelve letters without one.
_LONG, _PIECE = re.compile(r"\S{25,}"), re.compile(r"[^\s_/.:,;=-]{1,12}[_/.:,;=-]*|[_/.:,;=-]+|\s+")
BREAK = "\\allowbreak{}"
# In a column of numbers, signs and powers of ten are math.
_SIGN, _POWER = re.compile(r"(?<![\w)])-(?=[\d.])"), re.compile(r"(-?[\d.]+)e([+-]\d+)")
# Most cells of a long table contain nothing to escape.
_PLAIN = re.compile("[A-Za-z0-9 .,:;()+/=?!-]*")
# Latin letters in the T1 fonts.
_LATIN = frozenset(map(chr, range(0xC0, 0x180))) - frozenset("ĦħĸĿŀŉŦŧſ")


def escape(text: object) -> str:
    r"""Return text that compiles under pdflatex and reads the same; a character without a glyph is named by its number.

    >>> print(escape("a_b & 50% of {x}\\"), escape("中"))
    a\_b \& 50\% of \{x\}\textbackslash{} {[}U+4E2D{]}
    """
    shown = printable(text)
    if _LONG.search(shown):
        return "".join(map(_escape_word, re.split(r"(\s+)", shown)))
    return _escaped(shown)


def _escape_word(word: str) -> str:
    return BREAK.join(map(_escaped, _PIECE.findall(word))) if _LONG.fullmatch(word) else _escaped(word)


def _escaped(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else "".join(map(_escape_letter, text))


def _escape_letter(letter: str) -> str:
    if letter in SPECIAL:
        return SPECIAL[letter]
    if ord(letter) < 0x7F or letter in _LATIN:
        return letter
    return f"{{[}}U+{ord(letter):04X}{{]}}"


def number_cell(text: str) -> str:
    r"""Return a formatted number for LaTeX: signs and powers of ten are math.

    >>> print(number_cell("-0.105"), number_cell("[-0.1, 1.2 %]"), number_cell("1.50e-09"))
    $-$0.105 {[}$-$0.1, 1.2 \%{]} $1.50\times10^{-9}$
    """
    if power := _POWER.fullmatch(text):
        times = "" if power[1] == "1" else f"{power[1]}\\times"
        return f"${times}10^{{{int(power[2])}}}$"
    # In text a hyphen is shorter than a minus sign, and columns of numbers would not be aligned.
    return escape(_SIGN.sub("−", text))


def comment(lines: Iterable[str]) -> str:
    """Return lines as LaTeX comments; nothing in them can end the comment."""
    return "".join(f"% {' '.join(printable(line).split())}\n" for line in lines)


_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


class Macro(NamedTuple):
    """A statistic with its name in a paper."""

    owner: str
    statistic: str
    value: str


def macro_words(name: str) -> str:
    """Return a name in letters only, each word capitalised, digits spelled out; empty if nothing is left.

    >>> macro_words("hgs-2012 v1.1"), macro_words("équipe_a"), macro_words("解")
    ('HgsTwoZeroOneTwoVOneOne', 'EquipeA', '')
    """
    # A TeX macro contains only letters: remove accents, spell digits.
    plain = unicodedata.normalize("NFKD", name)
    spelled = "".join(f" {_DIGITS[int(c)]} " if c in "0123456789" else c for c in plain if not unicodedata.combining(c))
    return "".join(word[0].upper() + word[1:] for word in re.findall(r"[A-Za-z]+", spelled))


def macro_names(owners: Sequence[str]) -> dict[str, str]:
    """Return distinct letters for every owner; colliding ones get some letters of their hash, which never changes.

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
    # From the name alone, so that a macro keeps its name when other arms are added or removed.
    return "X" + "".join(chr(ord("a") + byte % 26) for byte in digest[:6])


def caption_name(kind: str, name: str) -> str:
    """Return the macro of a caption, by the kind and the name of its figure or table.

    >>> caption_name("table", "neighbour-pairs")
    'CaptionTableNeighbourPairs'
    """
    return macro_words(f"caption {kind} {name}")


def caption_macros(kind: str, captions: Mapping[str, str]) -> str:
    r"""Write the captions of tables or figures as macros, which a paper may define first.

    >>> print(caption_macros("figure", {"health": "50 % empty"}).strip())
    \providecommand{\CaptionFigureHealth}{50 \% empty}
    """
    return "".join(
        f"\\providecommand{{\\{caption_name(kind, name)}}}{{{escape(text)}}}\n" for name, text in captions.items()
    )


def macro_file(macros: Sequence[Macro], head: Iterable[str]) -> str:
    r"""Write `\newcommand{\ArmStatistic}{value}` lines, in the order given.

    >>> print(macro_file([Macro("hgs-2", "score", "-0.1")], []).strip())
    \newcommand{\HgsTwoScore}{$-$0.1}
    """
    names = macro_names(list(dict.fromkeys(macro.owner for macro in macros)))
    lines, used = [], set()
    for macro in macros:
        name = names[macro.owner] + macro_words(macro.statistic)
        # \newcommand refuses a second definition, and the paper would not compile.
        if name in used:
            name += _letters(macro.owner + macro.statistic)
        used.add(name)
        lines.append(f"\\newcommand{{\\{name}}}{{{number_cell(macro.value)}}}\n")
    return comment(head) + "".join(lines)

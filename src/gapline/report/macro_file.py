"""Macros named from arm and statistic, so that a paper can call every number by its name."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gapline.report.writers.latex_text import comment, escape, number_cell

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


class Macro(NamedTuple):
    """A statistic under the name that a paper calls it by."""

    owner: str
    statistic: str
    value: str


def macro_words(name: str) -> str:
    """Return a name in letters alone, each word capitalised, digits spelled out; empty where nothing is left.

    >>> macro_words("hgs-2012 v1.1"), macro_words("équipe_a"), macro_words("解")
    ('HgsTwoZeroOneTwoVOneOne', 'EquipeA', '')
    """
    # A TeX macro has letters alone: accents are taken off, digits spelled.
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
    # From the name alone, so that a macro keeps its name when other arms come or go.
    return "X" + "".join(chr(ord("a") + byte % 26) for byte in digest[:6])


def caption_name(kind: str, name: str) -> str:
    """Return the macro of a caption, by the kind and the name of what it is of.

    >>> caption_name("table", "neighbour-pairs")
    'CaptionTableNeighbourPairs'
    """
    return macro_words(f"caption {kind} {name}")


def caption_macros(kind: str, captions: Mapping[str, str]) -> str:
    r"""Write the captions of tables or figures as macros, which a paper may have defined before.

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

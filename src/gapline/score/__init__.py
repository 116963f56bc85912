"""Envelopes and references turned into scores, companions and curves.

`gapline.score` is this folder and also the function: `gl.score(…)` calls `gapline.score.scores.score`.
"""

import sys
from types import ModuleType
from typing import Any


class _ScoreModule(ModuleType):
    """Importing any module below `gapline.score` binds this folder to that name, so the folder itself is callable."""

    def __call__(self, *arguments: Any, **choices: Any) -> Any:
        from gapline.score.scores import score

        return score(*arguments, **choices)


sys.modules[__name__].__class__ = _ScoreModule

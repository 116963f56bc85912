"""A checker in a process of its own, which alone it can take down: `python -m gapline.run.check_cell CHECKER INSTANCE`.

It says who it is, then answers one JSON line per candidate.
"""

import os
import sys
import traceback

import msgspec


class Question(msgspec.Struct):
    """A candidate's solution, by the sequence number of its event."""

    seq: int
    solution: msgspec.Raw


class Answer(msgspec.Struct, omit_defaults=True):
    """A verdict, or the failure of the checker."""

    seq: int
    valid: bool | None = None
    objective: float | None = None
    reason: str | None = None
    failure: str | None = None


class Identity(msgspec.Struct, omit_defaults=True):
    """Who checks; or why nobody can."""

    name: str = ""
    version: str = ""
    failure: str | None = None
    exit_code: int = 1


def main(name: str, instance: str) -> None:
    """Answer until the questions end."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    # From here on a `print` of the checker, or of a C library below it, cannot get between the answers.
    os.dup2(2, 1)
    from gapline.check import CheckerFailure, load_checker
    from gapline.errors import GaplineError
    from gapline.run.process.tree import die_with_parent

    # A checker that hangs would not see that its questions have ended.
    die_with_parent()
    try:
        checker = load_checker(name)
        identity = Identity(checker.name, checker.version)
    except GaplineError as error:
        answers.write(msgspec.json.encode(Identity(failure=str(error), exit_code=error.exit_code)) + b"\n")
        return
    answers.write(msgspec.json.encode(identity) + b"\n")
    decode = msgspec.json.Decoder(Question).decode
    for line in sys.stdin.buffer:
        question = decode(line)
        try:
            verdict = checker.check(instance, msgspec.json.decode(question.solution))
            answer = Answer(question.seq, verdict.valid, verdict.objective, verdict.reason or None)
        except CheckerFailure as error:
            # With what its program said: our standard error is kept by whoever asks.
            traceback.print_exc()
            answer = Answer(question.seq, failure=str(error))
        # A checker is somebody's code: whatever it raises is its failure on this candidate, not ours.
        except Exception as error:
            traceback.print_exc()
            answer = Answer(question.seq, failure=f"{type(error).__name__}: {error}")
        answers.write(msgspec.json.encode(answer) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

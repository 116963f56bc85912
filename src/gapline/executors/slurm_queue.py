"""The state of our jobs in SLURM, from `squeue`, which works with and without accounting."""

import contextlib
import os
import subprocess
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

# Interval between two queries: short while jobs change state, up to ASK_AT_LEAST when nothing changes.
ASK_EVERY = 1.0
ASK_AT_LEAST = 30.0
ANSWER_WITHIN = 60.0
# No longer in the queue: SLURM forgets a job some minutes after its end.
FORGOTTEN = "forgotten"
CANCELLED = "CANCELLED"
_RUNNING = frozenset({"RUNNING", "COMPLETING", "CONFIGURING", "STAGE_OUT", "SIGNALING", "STOPPED", "SUSPENDED"})
_ENDED = frozenset(
    {
        FORGOTTEN,
        CANCELLED,
        "BOOT_FAIL",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    }
)


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job as SLURM names it, and why it waits."""

    name: str
    reason: str = ""

    @property
    def is_running(self) -> bool:
        """Whether the job has a node."""
        return self.name in _RUNNING

    @property
    def has_ended(self) -> bool:
        """Whether the job can produce no more results; a requeued job has not ended."""
        return self.name in _ENDED


class Standing(NamedTuple):
    """The number of our jobs that run and that wait in the queue."""

    running: int
    waiting: int

    def __str__(self) -> str:
        return f"{self.running or 'nothing'} {'runs' if not self.running else 'running'}, {self.waiting} waiting"


class SlurmQueue:
    """The states of this user's jobs as of the last answer; they are kept if SLURM does not answer."""

    def __init__(self) -> None:
        self._states: dict[str, JobState] = {}
        self._asked = self._changed = float("-inf")
        self.silence: str | None = None

    def look(self, *, now: bool = False) -> None:
        """Query SLURM again if it is time, or `now`."""
        clock = time.monotonic()
        pause = min(ASK_AT_LEAST, max(ASK_EVERY, (self._asked - self._changed) / 10))
        if not now and clock - self._asked < pause:
            return
        states = self._ask()
        self._asked = time.monotonic()
        if states is not None and states != self._states:
            self._states, self._changed = states, self._asked

    def expect_change(self) -> None:
        """Query often again, because jobs were submitted or cancelled."""
        self._changed = time.monotonic()

    def state(self, job: str) -> JobState:
        """Return the state of a job; before the first answer all jobs are forgotten."""
        return self._states.get(job, JobState(FORGOTTEN))

    def cancel(self, jobs: Collection[str], *, waiting_only: bool = False) -> None:
        """Cancel jobs; with `waiting_only`, SLURM itself spares those that have begun in the meantime."""
        chosen = ["--state=PENDING"] if waiting_only else []
        names = list(jobs)
        for first in range(0, len(names), 500):
            _run(["scancel", "--quiet", *chosen, *names[first : first + 500]])
        self.expect_change()

    def wait_until_gone(self, jobs: Collection[str], *, patience: float) -> None:
        """Wait until cancelled jobs have ended, but not for ever: a job on a dead node may never end."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            self.look(now=True)
            if all(self.state(job).has_ended for job in jobs):
                return
            # Polled: SLURM sends no notification when a job ends.
            time.sleep(0.2)

    def _ask(self) -> dict[str, JobState] | None:
        command = ["squeue", "--noheader", "--array", "--states=all", f"--user={os.getuid()}", "--format=%i|%T|%r"]
        done = _run(command)
        self.silence = None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no answer"])[-1]
        if done.returncode != 0:
            return None
        states = {}
        for line in done.stdout.splitlines():
            with contextlib.suppress(ValueError):
                job, name, reason = line.split("|", 2)
                states[job] = JobState(name, "" if reason == "None" else reason)
        return states


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    # The user's own settings for squeue must not change the output that we parse.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SCANCEL_"))}
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=ANSWER_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", f"{command[0]}: {error}")

"""The supervisor of one run: `python -m gapline.process.supervise ATTEMPT_DIRECTORY`.

It starts the solver that `run.json` names, stamps every line of its output with the host's monotonic clock on receipt,
enforces the limits, and leaves no process behind. Its standard input is a pipe from the runner: when it closes or has a
byte, the run ends. Its standard output is the ending, as one JSON line. It imports only the standard library and
msgspec, so that it starts fast and has little that can break.
"""

import contextlib
import datetime
import fcntl
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

import msgspec

from gapline.journal.records import WHOLE_CAUSES, Ending, Order, read_order
from gapline.process import cgroup, tree
from gapline.process.machine import busy_seconds, load_average
from gapline.process.recorder import Recorder

PIPE_SIZE = 1 << 20
CONTROL = 0
WATCH_EVERY = 0.1
# An hour of alarms: their delay shows how late stamps are.
LATENESS_KEPT = 36_000
DRAIN = 4 * PIPE_SIZE
# Where the system allows it, the supervisor raises its priority, so that stamps do not wait for other processes; its
# solver keeps the priority of the runner.
PRIORITY = -10
# Signals that end a run from outside.
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SIGNAL_WITHIN = 0.1


class Supervisor:
    """Supervise one run from start to end; `run` returns its ending."""

    def __init__(self, directory: Path, order: Order) -> None:
        self._order = order
        self._directory = directory
        self._group: cgroup.Group | None = None
        self._unpinned = 0
        self._shared_before = tree.shared_memory()
        self._shared_memory = 0
        self._asleep, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._stop_cause: str | None = None
        self._over_memory = False
        self._peak_memory = 0
        self._stalled = 0.0
        self._stops = 0
        self._lateness: deque[float] = deque(maxlen=LATENESS_KEPT)
        self._done = threading.Event()
        self._poll = select.poll()
        # Raises if the journal cannot be created: then there is no attempt.
        self._recorder = Recorder(directory, order.caps, msgspec.json.encode(order), self._wake)

    def run(self) -> Ending:
        """Run the solver to its end and return its ending."""
        order = self._order
        for number in STOPS:
            signal.signal(number, lambda *_: self._stop("interrupted"))
        # Arrives when we continue after being stopped: output from that time has late stamps.
        signal.signal(signal.SIGCONT, self._went_on)
        priority = _go_first()
        name = cgroup.group_name(self._directory)
        self._group = cgroup.make_group(name, cpus=order.cpus, memory=order.memory)
        out, out_end = _pipe()
        err, err_end = _pipe()
        busy = busy_seconds(order.cpus)
        # The clocks are read last before the solver starts: our own preparations are not charged to it.
        self._started = datetime.datetime.now(datetime.UTC).isoformat()
        self._zero = time.monotonic_ns()
        try:
            solver = subprocess.Popen(
                order.argv,
                stdin=subprocess.DEVNULL,
                stdout=out_end,
                stderr=err_end,
                cwd=order.directory,
                env=os.environ | {"PYTHONUNBUFFERED": "1"} | order.environment,
                start_new_session=True,
                preexec_fn=lambda: _prepare_solver(order.cpus, priority, self._group),  # noqa: PLW1509  we are still single-threaded
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._recorder.start()
            return self._end("start", error=f"{order.argv[0]}: {error}")
        finally:
            # Close our copies, otherwise the end of the solver's output would never be seen.
            os.close(out_end)
            os.close(err_end)
        if self._group is not None and not self._group.has(solver.pid):
            # The kernel refused: limits that it does not keep must not be reported as kept.
            self._group.remove()
            self._group = None
        self._recorder.start()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        status, cause = self._follow(solver.pid, out, err)
        elapsed = self._now()
        self._done.set()
        in_group = [] if self._group is None else self._group.processes()
        stragglers = len({*tree.descendants(os.getpid()), *in_group} - {solver.pid})
        leftover, dead = tree.clear_tree()
        if self._group is not None:
            # Includes processes that another process adopted: they can leave the tree, but not their group.
            leftover += self._group.end(reap=True)
        status = dead.get(solver.pid) if status is None else status
        code = None if status is None else os.waitstatus_to_exitcode(status)
        solver.returncode = code if code is not None else -signal.SIGKILL
        # After the tree is cleared: the last output of dead processes is still in the pipes.
        self._drain(out, err)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_time = used.ru_utime + used.ru_stime
        peak = max(self._peak_memory, used.ru_maxrss * 1024)
        if self._group is not None:
            if self._group.ran_out_of_memory() and cause in WHOLE_CAUSES:
                cause = "memory"
            # Includes files on tmpfs that no process has mapped.
            peak = self._group.peak_memory() or peak
            self._group.remove()
        return self._end(
            cause,
            elapsed=elapsed,
            exit_code=code if code is not None and code >= 0 else None,
            signal=_signal_name(-code) if code is not None and code < 0 else None,
            cpu_time=round(cpu_time, 6),
            peak_memory=peak,
            foreign_share=self._foreign_share(busy, cpu_time, elapsed),
            stragglers=stragglers,
            leftover=leftover,
        )

    def _follow(self, solver: int, out: int, err: int) -> tuple[int | None, str]:
        """Read, stamp and watch the clock until the solver ends or must end; return its status and the cause."""
        order, poll = self._order, self._poll
        # A handle that becomes readable when the solver ends: no signal handler, no race with a reused process id.
        handle = os.pidfd_open(solver)
        for file in (out, err, CONTROL, self._asleep, handle):
            poll.register(file, select.POLLIN)
        streams = {out, err}
        term_at = order.horizon + order.grace
        kill_at = term_at + order.kill_after
        told = paused = False
        try:
            while (cause := self._must_end(kill_at)) is None:
                now = self._now()
                if now >= term_at and not told:
                    told = True
                    alive = tree.descendants(os.getpid())
                    # A stopped process sees SIGTERM only after SIGCONT.
                    tree.signal_all(alive, signal.SIGTERM)
                    tree.signal_all(alive, signal.SIGCONT)
                if (self._recorder.backlog > order.caps.backlog) != paused:
                    paused = not paused
                    for file in streams:
                        # Not a mask of 0: a hang-up would still be reported, over and over.
                        poll.unregister(file) if paused else poll.register(file, select.POLLIN)
                wait = (kill_at if told else term_at) - now
                ready = [file for file, _ in poll.poll(min(wait, 0.01 if paused else 60.0) * 1000 + 0.5)]
                for file in streams.intersection(ready):
                    if not self._receive(file, is_output=file == out):
                        streams = streams - {file}
                        poll.unregister(file)
                # After reading, so that its last output is recorded before its end.
                if handle in ready:
                    _, status = os.waitpid(solver, 0)
                    return status, self._cause_of_end(status, told=told)
                if CONTROL in ready:
                    self._stop("interrupted" if _read(CONTROL, 1) else "runner lost")
                if self._asleep in ready:
                    _read(self._asleep, 4096)
                self._stalled += self._now() - now if paused else 0.0
            return None, cause
        finally:
            os.close(handle)

    def _cause_of_end(self, status: int, *, told: bool) -> str:
        """Return why a solver ended: a signal that also reached us is not an end of its own."""
        if not told and os.WIFSIGNALED(status) and os.WTERMSIG(status) in STOPS:
            # If a whole job is ended (by a batch system or a shutdown), the signal may reach the solver first.
            self._done.wait(SIGNAL_WITHIN)
        return self._stop_cause or ("horizon" if told else "exit")

    def _must_end(self, kill_at: float) -> str | None:
        """Return why the run must end now, or None."""
        if self._recorder.error is not None:
            return "infrastructure"
        if self._stop_cause is not None:
            return self._stop_cause
        if self._over_memory:
            return "memory"
        return "horizon" if self._now() >= kill_at else None

    def _receive(self, file: int, *, is_output: bool) -> bool:
        """Read the content of a pipe; return False when its writers are gone."""
        data = _read(file, PIPE_SIZE)
        if data is None:
            return True
        self._recorder.take(data, self._now(), is_output=is_output)
        return bool(data)

    def _drain(self, out: int, err: int) -> None:
        """Read the rest of the pipes; bounded, as a process outside the tree may hold an end and keep writing."""
        for file in (out, err):
            taken = 0
            while taken < DRAIN and (data := _read(file, PIPE_SIZE)):
                taken += len(data)
                self._recorder.take(data, self._now(), is_output=file == out)
            os.close(file)

    @property
    def _kept(self) -> tuple[str, ...]:
        """The limits that the kernel keeps."""
        return () if self._group is None else self._group.kept

    def _watch(self) -> None:
        """Sample the limits that the kernel does not keep, ten times a second: memory and cores of the tree."""
        limit = None if self._order.memory is None else self._order.memory * 1_000_000
        pinned, weighed = bool(self._order.cpus) and "cores" not in self._kept, "memory" not in self._kept
        while True:
            alarm = time.monotonic() + WATCH_EVERY
            if self._done.wait(WATCH_EVERY):
                return
            self._lateness.append(time.monotonic() - alarm)
            if not pinned and not weighed:
                continue
            # Only our own tree: a sample must not take longer because of other processes on the machine.
            alive = tree.family(os.getpid())
            if pinned:
                self._unpinned += tree.restore_cores(alive, self._order.cpus)
            if weighed:
                self._watch_memory(alive, limit)

    def _watch_memory(self, alive: list[int], limit: int | None) -> None:
        """Sample the memory of the tree; shared pages are counted once only if the plain sum is over the limit."""
        used = tree.resident_memory(alive)
        if limit is not None and used > limit:
            used = tree.proportional_memory(alive)
            if used > limit:
                self._over_memory = True
                self._wake()
        self._peak_memory = max(self._peak_memory, used)
        grown = tree.shared_memory() - self._shared_before
        # Memory that the run has mapped is counted already; looked up only where it would change the answer.
        if grown > self._shared_memory:
            self._shared_memory = max(self._shared_memory, grown - tree.mapped_shared_memory(alive))

    def _end(self, cause: str, *, elapsed: float = 0.0, error: str | None = None, **facts: object) -> Ending:
        recorder = self._recorder
        recorder.finish(self._now())
        ending = Ending(cause=cause, started=self._started, elapsed=round(elapsed, 6), zero=self._zero, error=error)
        for name, value in facts.items():
            setattr(ending, name, value)

        def complete() -> Ending:
            ending.load = load_average()
            ending.stalled = round(self._stalled, 6)
            ending.stops = self._stops
            ending.limits = f"kernel: {', '.join(self._kept)}" if self._kept else "sampled"
            ending.unpinned, ending.shared_memory = self._unpinned, self._shared_memory
            late = sorted(self._lateness)
            ending.jitter = round(max(0.0, late[int(0.99 * len(late))]), 6) if late else None
            ending.events, ending.log_lines, ending.dropped = recorder.events, recorder.log_lines, recorder.dropped()
            if recorder.error is not None:
                ending.cause, ending.error = "infrastructure", recorder.error.strerror or str(recorder.error)
            return ending

        # Called twice: the journal's line is written after the logs are closed, and the answer includes that write.
        recorder.close(lambda: msgspec.json.encode(complete()))
        return complete()

    def _foreign_share(self, busy_before: float | None, cpu_time: float, elapsed: float) -> float | None:
        cpus = self._order.cpus
        busy = busy_seconds(cpus)
        if not cpus or busy is None or busy_before is None or elapsed <= 0:
            return None
        return round(min(1.0, max(0.0, busy - busy_before - cpu_time) / (elapsed * len(cpus))), 4)

    def _now(self) -> float:
        return (time.monotonic_ns() - self._zero) / 1e9

    def _stop(self, cause: str) -> None:
        self._stop_cause = self._stop_cause or cause
        self._wake()

    def _went_on(self, *_: object) -> None:
        self._stops += 1

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._waker, b"!")


def _prepare_solver(cpus: list[int], priority: int, group: cgroup.Group | None) -> None:
    tree.die_with_parent()
    if group is not None:
        # First: a group with other cores would undo the affinity set below.
        group.join()
    os.setpriority(os.PRIO_PROCESS, 0, priority)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if cpus:
        os.sched_setaffinity(0, cpus)
    # When memory runs out, the kernel should kill the solver, whose death is a result, not its supervisor.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def _go_first() -> int:
    """Raise our priority if permitted; return the previous one."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, before + PRIORITY)
    return before


def _pipe() -> tuple[int, int]:
    reader, writer = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(reader, False)
    with contextlib.suppress(OSError):
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    return reader, writer


def _read(file: int, most: int) -> bytes | None:
    try:
        return os.read(file, most)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def main(directory: Path) -> int:
    """Supervise the attempt in a directory; print its ending."""
    # Short intervals: recorder and watcher threads must not delay a stamp.
    sys.setswitchinterval(0.0005)
    tree.become_subreaper()
    order = read_order(directory)
    try:
        ending = Supervisor(directory, order).run()
    except OSError as error:
        tree.clear_tree()
        ending = Ending(cause="infrastructure", started="", elapsed=0.0, error=str(error))
    tree.reap()
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(msgspec.json.encode(ending) + b"\n")
        sys.stdout.buffer.flush()
    # No finalisers: a thread may still wait, and a closed pipe must not cause a message.
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

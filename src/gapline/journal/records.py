"""The two records at the ends of a journal: the order to the supervisor, and the ending of the attempt."""

from pathlib import Path

import msgspec

from gapline.files.open_file import read_regular
from gapline.journal.line import ORDER_FILE, SCHEMA, is_sealed, seal, unseal

MEGABYTE = 1_000_000


class Caps(msgspec.Struct, frozen=True):
    """Limits on how much of a solver's output is kept; the excess is counted, but not stored and not waited for.

    `line` bounds one line, `journal` the events of a run, `log` the other output (and, separately, the standard error);
    `backlog` bounds the data in memory that waits for the disk.
    """

    line: int = 16 * MEGABYTE
    journal: int = 4000 * MEGABYTE
    log: int = MEGABYTE
    backlog: int = 32 * MEGABYTE


class RecorderProcess(msgspec.Struct, frozen=True, kw_only=True):
    """The process that records a run; its number is meaningful only on the same boot and in the same namespace.

    `began` is its start in ticks since the machine was booted; `clock` is the monotonic clock of that boot in
    nanoseconds when the recording began. Values that the system does not provide are None or empty.
    """

    pid: int
    began: int | None = None
    boot: str = ""
    namespace: str = ""
    clock: int = 0


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The order to make one attempt at one cell.

    `carried` holds the columns of the runs table that are known before the run (tier, threads, options, …);
    `condition` is the digest of everything that makes two attempts at a cell comparable; `instance_path` is relative to
    the study; `programs` are digests of the files that the arm names and the version of its package; `machine` and
    `load` describe the host at the start; `position` is the place of the cell in the order of the campaign, which
    `order_seed` made. Times are seconds. Only recordings have `started` (ISO 8601) and `recorder`.
    """

    arm: str
    instance: str
    seed: int
    panel: str
    horizon: float
    attempt: int = 1
    argv: list[str] = []
    instance_path: str = ""
    condition: str = ""
    # msgspec copies mutable defaults for each record.
    environment: dict[str, str] = {}
    directory: str = "."
    grace: float = 1.0
    kill_after: float = 1.0
    memory: int | None = None
    cpus: list[int] = []
    caps: Caps = Caps()
    carried: dict[str, str | int | float | bool | None] = {}
    programs: dict[str, str] = {}
    machine: dict[str, str] = {}
    load: float | None = None
    order_seed: int | None = None
    position: int | None = None
    schema: str = SCHEMA
    # Omitted if unset: the orders of campaigns have neither.
    started: str | msgspec.UnsetType = msgspec.UNSET
    recorder: RecorderProcess | msgspec.UnsetType = msgspec.UNSET


class Ending(msgspec.Struct, kw_only=True):
    """How an attempt ended.

    `cause` is "exit" (the solver ended by itself), "horizon" or "memory" (we stopped it), "start" (it could not be
    started), "interrupted", "runner lost", or "infrastructure" (disk full and the like: not the solver's fault).
    Only the first three make a whole attempt; after the others the cell is run again.
    `zero` is the host's monotonic clock in nanoseconds when the solver was started: stamps count from it.
    `stragglers` were alive when the solver ended, `leftover` after we cleared them, which must be none; `stalled` is
    how long the solver's output waited for the disk; `foreign_share` is how much of its cores other processes used;
    `jitter` is how late the supervisor, which takes the stamps, was woken (99th percentile of its own alarms); `stops`
    is how often the supervisor itself was stopped and continued. `limits` says how the limits were enforced: "kernel: "
    with their names, or "sampled". Where cores and memory are sampled, `unpinned` is how often a thread had left its
    cores and was put back, and `shared_memory` the largest number of bytes in files on tmpfs and the like that no
    process of the run had mapped; they may belong to other runs.
    """

    cause: str
    started: str
    elapsed: float
    zero: int = 0
    exit_code: int | None = None
    signal: str | None = None
    cpu_time: float = 0.0
    peak_memory: int = 0
    load: float | None = None
    foreign_share: float | None = None
    jitter: float | None = None
    events: int = 0
    log_lines: int = 0
    dropped: dict[str, int] = {}
    stragglers: int = 0
    leftover: int = 0
    stalled: float = 0.0
    stops: int = 0
    limits: str = ""
    unpinned: int = 0
    shared_memory: int = 0
    error: str | None = None


# A key of `Ending.dropped`.
OVER_CAP = "events over the cap"
# A run that we stopped at a limit is a result; a run that was stopped from outside is not.
WHOLE_CAUSES = ("exit", "horizon", "memory")


def order_text(order: Order) -> bytes:
    """Return the content of `run.json`: one line for each fact, for human readers, and a checksum over all."""
    return seal_order(msgspec.json.encode(order))


def seal_order(document: bytes) -> bytes:
    """Format and seal the JSON of an order as in `run.json`."""
    readable = msgspec.json.format(document, indent=1)
    return seal(readable.rstrip().removesuffix(b"}").rstrip(), 0)[0]


def read_order(attempt: Path) -> Order:
    """Read the order of an attempt; orders of earlier versions without a checksum are accepted.

    Raises
    ------
    OSError, ValueError, msgspec.MsgspecError
        If there is no order, it was changed, or it is not valid.
    """
    return msgspec.json.decode(order_document(attempt), type=Order)


def order_document(attempt: Path) -> bytes:
    """Return the JSON of an attempt's order, verified; raises the errors of `read_order`."""
    data = read_regular(attempt / ORDER_FILE)
    return unseal(data.rstrip(b"\n"), 0)[0] if is_sealed(data.rstrip(b"\n")) else data

"""A SLURM of this machine alone: munged, slurmctld and slurmd in a scratch folder, on ports of their own."""

import contextlib
import getpass
import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from patience import PATIENCE

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
PARTITION = "short"
# Where Debian has daemons; not every user's PATH does.
PLACES = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
# No accounting, as on many small sites: `sacct` fails. Short waits, as nobody wants to wait for a test.
CONFIGURATION = """
ClusterName=gapline
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=0
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=1
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000
PartitionName={partition} Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@dataclass(frozen=True)
class Slurm:
    """A running SLURM; its commands need `SLURM_CONF`, which `use` sets for a test and what it starts."""

    folder: Path
    node: str

    @property
    def configuration(self) -> Path:
        return self.folder / "slurm.conf"

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SLURM_CONF", str(self.configuration))

    def ask(self, *words: str) -> str:
        """Run one of its commands and return what it says."""
        environment = os.environ | {"SLURM_CONF": str(self.configuration)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE)
        return done.stdout

    def jobs(self, *states: str) -> list[str]:
        """Return the ids of the jobs and array tasks in these states; all that wait or run when none is named."""
        chosen = [f"--states={','.join(states)}"] if states else []
        return self.ask("squeue", "--noheader", "--array", "--format=%i", *chosen).split()

    def node_is(self, state: str) -> None:
        """Set the node down, or back to work."""
        self.ask("scontrol", "update", f"nodename={self.node}", f"state={state}", "reason=test")

    def script(self, job: str) -> str:
        """Return the script of a job as the controller has it."""
        return self.ask("scontrol", "write", "batch_script", job, "-")


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _start(command: list[str], folder: Path, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    with (folder / "daemons.txt").open("ab") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)


def _wait_for(happened: Callable[[], bool], folder: Path, what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            logs = "\n".join(f"{path}:\n{path.read_text()[-2000:]}" for path in folder.glob("*.*") if _is_log(path))
            raise AssertionError(f"{what} did not come up within {PATIENCE} s\n{logs}")
        time.sleep(0.05)


def _is_log(path: Path) -> bool:
    return path.suffix in (".log", ".txt")


@contextlib.contextmanager
def running_slurm(folder: Path) -> Iterator[Slurm]:
    """Start the three daemons; end them, and whatever jobs they still have."""
    host = platform.node().partition(".")[0]
    slurm = Slurm(folder, host)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o600)
    facts = {"host": host, "ports": _free_ports(2), "user": getpass.getuser(), "partition": PARTITION}
    slurm.configuration.write_text(CONFIGURATION.format(folder=folder, **facts))
    environment = os.environ | {"SLURM_CONF": str(slurm.configuration), "PATH": PLACES}
    # --force: a scratch folder belongs to one user, which munged finds odd.
    munged = ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key"]
    munged += [f"--{name}-file={folder}/munge.{name}" for name in ("log", "pid", "seed")]
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        daemons.append(_start(munged, folder, environment))
        _wait_for((folder / "munge.socket").exists, folder, "munged")
        daemons.append(_start(["slurmctld", "-D", "-f", str(slurm.configuration)], folder, environment))
        daemons.append(_start(["slurmd", "-D", "-f", str(slurm.configuration)], folder, environment))
        _wait_for(lambda: _is_idle(slurm), folder, "a node of SLURM")
        yield slurm
        slurm.ask("scancel", "--quiet", f"--user={getpass.getuser()}")
        _wait_for(lambda: not slurm.jobs(), folder, "an empty queue")
    finally:
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _is_idle(slurm: Slurm) -> bool:
    try:
        return slurm.ask("sinfo", "--noheader", "--format=%T").strip() == "idle"
    except subprocess.CalledProcessError:
        return False


@pytest.fixture(scope="session")
def slurm_daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """One SLURM per process of the tests."""
    if missing := [name for name in PROGRAMS if shutil.which(name, path=PLACES) is None]:
        pytest.skip(f"SLURM is not installed here (no {', '.join(missing)}); tools/system-packages brings it on Debian")
    with running_slurm(tmp_path_factory.mktemp("slurm")) as slurm:
        yield slurm


@pytest.fixture
def slurm(slurm_daemons: Slurm, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slurm]:
    """A SLURM with an empty queue and a node that works, before the test and after it."""
    slurm_daemons.use(monkeypatch)
    yield slurm_daemons
    if slurm_daemons.ask("sinfo", "--noheader", "--format=%T").startswith(("down", "drain")):
        slurm_daemons.node_is("resume")
    slurm_daemons.ask("scancel", "--quiet", f"--user={getpass.getuser()}")
    _wait_for(lambda: not slurm_daemons.jobs() and _is_idle(slurm_daemons), slurm_daemons.folder, "an empty queue")

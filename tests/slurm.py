"""A stand-in for SLURM's commands: jobs run at once as processes of this machine, scripts are kept to be looked at."""

import sys
from pathlib import Path

_SBATCH = r"""
import os, pathlib, re, shutil, subprocess, sys
place = pathlib.Path(__file__).parent
number = 1000 + len(list(place.glob("script-*")))
shutil.copy(sys.argv[1], place / f"script-{number}")
array = re.search(r"--array=0-(\d+)", pathlib.Path(sys.argv[1]).read_text())
for task in range(int(array.group(1)) + 1) if array else [None]:
    name = str(number) if task is None else f"{number}_{task}"
    facts = {"SLURM_JOB_ID": str(number), "SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES": "1", "SLURM_NODEID": "0"}
    facts |= {"SLURM_JOB_NODELIST": "here", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
    if task is not None:
        facts |= {"SLURM_ARRAY_JOB_ID": str(number), "SLURM_ARRAY_TASK_ID": str(task)}
    command = f"echo $$ > {place}/pid-{name}; bash {sys.argv[1]}; touch {place}/over-{name}"
    subprocess.Popen(["bash", "-c", command], env=os.environ | facts, start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(f"Submitted batch job {number}")
"""
_SRUN = r"""
import os, sys
rest = sys.argv[1:]
while rest[0].startswith("--"):
    rest = rest[1:] if rest[0] == "--unbuffered" else rest[2:]
os.execvp(rest[0], rest)
"""
_SACCT = r"""
import pathlib
place = pathlib.Path(__file__).parent
print("JobID|State|NodeList")
for path in place.glob("pid-*"):
    name = path.name.partition("-")[2]
    print(f"{name}|{'COMPLETED' if (place / f'over-{name}').exists() else 'RUNNING'}|here")
"""
_SCANCEL = ""


def write_commands(folder: Path) -> None:
    """Write sbatch, srun, sacct and scancel into a directory that is to be put into PATH."""
    folder.mkdir()
    for name, code in (("sbatch", _SBATCH), ("srun", _SRUN), ("sacct", _SACCT), ("scancel", _SCANCEL)):
        (folder / name).write_text(f"#!{sys.executable}\n{code}")
        (folder / name).chmod(0o755)

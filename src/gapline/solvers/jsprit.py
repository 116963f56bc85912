"""jsprit on CVRP and VRPTW, and on one slice of the day of TDVRPTW; needs a JDK and the jars of jsprit.

Options: jar (the jars of jsprit-core and of what it needs, relative to the study directory), problem (tdvrptw, vrptw,
cvrp; by default from the file's name), slice (min, mean, mid, max), iterations.

`GaplineJsprit.java`, next to this module, is compiled against the jars when the setup is checked, before any run, and
kept in the user's cache. A run that does not find it compiles it again, and is charged for it. The Java process
replaces this one; its start is charged.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from gapline.errors import EnvironmentLacksError
from gapline.solvers.jdk import OLDEST, find_java, jdk_lack
from gapline.solvers.protocol import Task, announce, run_adapter
from gapline.solvers.simplified_models import static_model_name
from gapline.solvers.static_model import StaticModel, read_model

PROGRAM = Path(__file__).with_name("GaplineJsprit.java")
# One class of each library that jsprit's search loads.
LIBRARIES = {
    "jsprit-core": "com/graphhopper/jsprit/core/algorithm/box/Jsprit.class",
    "slf4j-api": "org/slf4j/LoggerFactory.class",
    "commons-math3": "org/apache/commons/math3/ml/clustering/Clusterable.class",
}
# Later than any window; jsprit's numbers are doubles, which hold it exactly.
FOREVER = 2**53


def solve(task: Task) -> None:
    """Pass the problem to jsprit, which prints its initial solution and every better one."""
    # The setup check already tested version and compiler of Java: here, the test would be charged to the solver.
    java = find_java()
    lacking = jar_lack(task.options, Path()) or (jdk_lack() if java is None else None)
    if lacking or java is None:
        raise EnvironmentLacksError(lacking or "no java")
    jars = [str(jar) for jar in task.options["jar"]]
    compiled = class_folder([Path(jar) for jar in jars])
    announce("jsprit", jar_version(jars), model=static_model_name(task.options, task.instance))
    with tempfile.TemporaryFile("w+", encoding="utf-8") as problem:
        problem.write(problem_text(read_model(task)))
        problem.seek(0)
        # Standard input stays open after the file's own handle is closed.
        os.dup2(problem.fileno(), 0)
    horizon = round(1000 * (time.time() + task.time_left()))
    sys.stdout.flush()
    os.execv(
        java,
        [
            java,
            # Otherwise garbage collection and compilation would use every core of the machine.
            f"-XX:ActiveProcessorCount={task.threads}",
            "-XX:+UseSerialGC",
            "-cp",
            os.pathsep.join([*jars, str(compiled)]),
            # If this is the source, Java compiles it first.
            PROGRAM.stem if is_compiled(compiled) else str(PROGRAM),
            str(task.seed),
            str(task.threads),
            str(task.iterations() or 0),
            str(horizon),
        ],
    )


def problem_text(model: StaticModel) -> str:
    """Return the problem as the numbers that `GaplineJsprit.java` reads."""
    instance = model.instance
    size = instance.customers + 1
    windows = instance.windows or [(0, FOREVER)] * size
    services = instance.services or [0] * size
    flags = [model.minimise_duration, instance.windows is not None]
    rows: list[list[int]] = [[size, instance.vehicles or 0, instance.capacity, instance.scale, *flags]]
    rows += [[instance.demands[i], *windows[i], services[i]] for i in range(size)]
    rows += instance.distances.tolist()
    return "\n".join(" ".join(str(int(number)) for number in row) for row in rows) + "\n"


def setup_lack(options: Mapping[str, object], study: Path) -> str | None:
    """Report a missing or unusable jar, or a missing or old Java; None if nothing is missing."""
    lacking = jar_lack(options, study) or jdk_lack(compiler=True)
    given = options.get("jar")
    if lacking or not isinstance(given, list):
        return lacking
    return compile_lack([study / str(jar) for jar in given])


def jar_lack(options: Mapping[str, object], study: Path) -> str | None:
    """Report a missing jar; None if nothing is missing."""
    given = options.get("jar")
    if not isinstance(given, list) or not given:
        return "options.jar: expected the jars of jsprit-core and of what it needs, got none"
    found: set[str] = set()
    for jar in given:
        try:
            with zipfile.ZipFile(study / str(jar)) as opened:
                found.update(opened.namelist())
        except (OSError, zipfile.BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a jar"
            return f"options.jar: expected jars, relative to the study directory, got {str(jar)!r}: {reason}"
    for library, class_file in LIBRARIES.items():
        if class_file not in found:
            return f"options.jar: expected a jar of {library} among them, got {', '.join(map(repr, given))}"
    return None


def compile_lack(jars: list[Path]) -> str | None:
    """Compile the program against the jars, once; report jars that do not fit; None on success."""
    folder = class_folder(jars)
    java = find_java()
    if is_compiled(folder) or java is None:
        return None
    compiler = [java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-Xlint:-options"]
    # For the oldest supported Java: machines with different versions may share the cache.
    compiler += ["-source", str(OLDEST), "-target", str(OLDEST), "-cp", os.pathsep.join(map(str, jars))]
    # Code in the jars of a study must not run yet: otherwise the compiler starts their annotation processors.
    compiler += ["-proc:none"]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
            made = Path(beside) / "made"
            done = subprocess.run(
                [*compiler, "-processorpath", beside, "-d", str(made), str(PROGRAM)],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if done.returncode:
                return f"options.jar: expected a jsprit that fits {PROGRAM.name}, got {_first_error(done.stderr)}"
            # A rename is atomic: no other process sees half of the classes.
            if not is_compiled(folder):
                made.rename(folder)
    except (OSError, subprocess.TimeoutExpired):
        # There is no place to store it, or another check was faster: runs work without it.
        return None
    return None


def class_folder(jars: list[Path]) -> Path:
    """Return the folder of the compiled program in the user's cache, one for each content of the jars."""
    content = hashlib.sha256(PROGRAM.read_bytes())
    for jar in jars:
        content.update(hashlib.sha256(jar.read_bytes()).digest())
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "gapline" / f"jsprit-{content.hexdigest()[:16]}"


def is_compiled(folder: Path) -> bool:
    """Return whether the compiled program exists."""
    return (folder / f"{PROGRAM.stem}.class").is_file()


def _first_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines()]
    first = next((k for k, line in enumerate(lines) if "error:" in line), None)
    if first is None:
        return lines[0] if lines else "no message"
    symbol = next((line for line in lines[first + 1 : first + 5] if line.startswith("symbol:")), "")
    return " ".join(f"{lines[first].partition('error:')[2]} {symbol}".split())


def jar_version(jars: list[str]) -> str:
    """Return the version in the name of the jar of jsprit-core.

    >>> jar_version(["lib/slf4j-api-2.0.13.jar", "lib/jsprit-core-1.9.0-beta.18.jar"]), jar_version(["all.jar"])
    ('1.9.0-beta.18', 'unknown, of all.jar')
    """
    for jar in jars:
        found = re.fullmatch(r"jsprit-core-(\d.*)\.jar", Path(jar).name)
        if found:
            return found[1]
    return f"unknown, of {', '.join(Path(jar).name for jar in jars)}"


if __name__ == "__main__":
    run_adapter(solve)

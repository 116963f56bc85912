"""jsprit on CVRP and VRPTW, and on one slice of the day of TDVRPTW; needs a JDK and the jars of jsprit.

Options: jar (the jars of jsprit-core and of what it needs, relative to the study directory), problem (tdvrptw, vrptw,
cvrp; by default from the file's name), slice (min, mean, mid, max), iterations.

The JDK compiles and runs `GaplineJsprit.java`, which stands beside this module: starting the JVM and compiling are
charged, a second or two before the first candidate. Its process takes the place of this one.
"""

import os
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from gapline.errors import EnvironmentLacksError
from gapline.run.adapters.jdk import compiler_lack, find_java, jdk_lack
from gapline.run.adapters.protocol import Task, announce, run_adapter
from gapline.run.adapters.static_model import StaticModel, read_model

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
    """Hand the problem to jsprit, which streams the solution it starts from and every better one."""
    # Whether Java is new enough and can compile was asked before the runs: asking takes time that is charged here.
    java = find_java()
    lacking = jar_lack(task.options, Path()) or (jdk_lack() if java is None else None)
    if lacking or java is None:
        raise EnvironmentLacksError(lacking or "no java")
    jars = [str(jar) for jar in task.options["jar"]]
    announce("jsprit", jar_version(jars))
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
            # Collecting garbage and compiling would otherwise take every core of the machine.
            f"-XX:ActiveProcessorCount={task.threads}",
            "-XX:+UseSerialGC",
            "-cp",
            os.pathsep.join(jars),
            str(PROGRAM),
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
    """Say in a few words which jar is missing, or that Java is missing, too old or cannot compile; or return None."""
    return jar_lack(options, study) or compiler_lack()


def jar_lack(options: Mapping[str, object], study: Path) -> str | None:
    """Say in a few words which jar is missing, or return None."""
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

"""Whether there is a Java that solvers on the JVM can run on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

OLDEST = 17


def find_java() -> str | None:
    """Return the program of JAVA_HOME, or the one on the path, or None."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return shutil.which(str(Path(home) / "bin" / "java"))
    return shutil.which("java")


def jdk_lack() -> str | None:
    """Say in a few words that Java is missing or too old, or return None."""
    java = find_java()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        where = f"in JAVA_HOME {home!r}" if home else "on the path, and JAVA_HOME is not set"
        return f"expected a JDK {OLDEST} or later, got no java {where}"
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"expected a JDK {OLDEST} or later, got {java} that does not start: {error}"
    # It prints on the standard error; the output is read too, in case a build does otherwise.
    found = java_version(done.stderr + done.stdout)
    if found is None or found < OLDEST:
        return f"expected a JDK {OLDEST} or later, got {java} of version {found or 'unknown'}"
    return None


def compiler_lack() -> str | None:
    """Say in a few words that Java is missing or too old, or cannot compile, or return None."""
    lacking = jdk_lack()
    java = find_java()
    if lacking or java is None:
        return lacking
    done = subprocess.run([java, "--list-modules"], capture_output=True, text=True, timeout=60, check=False)
    if "jdk.compiler" not in done.stdout:
        return f"expected a JDK {OLDEST} or later, got {java} without a compiler"
    return None


def java_version(text: str) -> int | None:
    """Return the feature release that `java -version` prints.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None

"""The lines of docs/add-a-solver.md that print a candidate: compiled, run, and read while the program still runs."""

import json
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parent.parent / "docs" / "add-a-solver.md").read_text(encoding="utf-8")
VALUES = [12.5, 0.30000000000000004, 1e300, 5e-324, 123456789.0]
LISTED = ", ".join(map(repr, VALUES))

# Around the lines of the page: each value is printed, and the next one waits until somebody has read it.
PROGRAMS = {
    "c": ("main.c", "{lines}\nint main(void) {{ double v[] = {{ {values} }}; "
          "for (int k = 0; k < {count}; k++) {{ candidate(v[k]); getchar(); }} return 0; }}\n"),
    "cpp": ("main.cpp", "{lines}\nint main() {{ double v[] = {{ {values} }}; "
            "for (int k = 0; k < {count}; k++) {{ candidate(v[k]); std::cin.get(); }} return 0; }}\n"),
    "rust": ("main.rs", "use std::io::Read;\n{lines}\nfn main() {{ for v in [{values}] "
             "{{ candidate(v); std::io::stdin().read_exact(&mut [0]).unwrap(); }} }}\n"),
    "java": ("Main.java", "class Main {{\n{lines}\npublic static void main(String[] a) throws Exception {{ "
             "for (double v : new double[] {{ {values} }}) {{ candidate(v); System.in.read(); }} }}\n}}\n"),
    "julia": ("main.jl", "{lines}\nfor v in [{values}]\n    candidate(v)\n    read(stdin, UInt8)\nend\n"),
}  # fmt: skip
COMPILE = {
    "c": ["gcc", "-Wall", "-Wextra", "-Werror", "main.c", "-o", "program"],
    "cpp": ["g++", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "program"],
    "rust": ["rustc", "-D", "warnings", "main.rs", "-o", "program"],
    "java": ["javac", "-Xlint:all", "-Werror", "Main.java"],
}
RUN = {"java": ["java", "-cp", ".", "Main"], "julia": ["julia", "--startup-file=no", "main.jl"]}


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_lines_of_the_page_print_a_candidate_at_once(language, tmp_path):
    (lines,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    steps = [command for command in (COMPILE.get(language), RUN.get(language, ["./program"])) if command]
    for command in steps:
        if not command[0].startswith("./") and shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed on this machine: the lines for {language} were not tried")
    name, text = PROGRAMS[language]
    (tmp_path / name).write_text(text.format(lines=lines, values=LISTED, count=len(VALUES)))
    for command in steps[:-1]:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    program = subprocess.Popen(steps[-1], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    # Output that is held back would have both wait for ever.
    patience = threading.Timer(120, program.kill)
    patience.daemon = True
    patience.start()
    with program:
        for value in VALUES:
            assert json.loads(program.stdout.readline()) == {"objective": value}
            program.stdin.write(b"x")
            program.stdin.flush()
    patience.cancel()
    assert program.returncode == 0

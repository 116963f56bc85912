"""The paper's three runs as a trace file, and commands asked for JSON."""

import json

from gapline.cli.app import run

TRACES = """arm,instance,seed,time,objective,valid
run 1,worked,1,,,
run 2,worked,1,5,30,true
run 2,worked,1,7,29,true
run 2,worked,1,11,22,true
run 2,worked,1,14,18,true
run 2,worked,1,19,15,true
run 2,worked,1,24,14,true
run 2,worked,1,27,13,true
run 3,worked,1,0,14,true
run 3,worked,1,2,12,true
run 3,worked,1,3,11,true
run 3,worked,1,5,10,true
run 3,worked,1,8,9,true
run 3,worked,1,15,8,true
run 3,worked,1,18,7,true
run 3,worked,1,23,6,true
run 3,worked,1,26,5,true
run 3,worked,1,27,4,false
run 3,worked,1,31,3,true
"""


def as_json(capsys, *arguments):
    code = run([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)

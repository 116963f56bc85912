"""A well-behaved solver: a fixed sequence of candidates that depends on the seed alone, paced by `pause` seconds."""

import json
import sys
import time

seed, count, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
print(json.dumps({"solver": "scripted", "version": "1.2"}), flush=True)
for number in range(count):
    time.sleep(pause)
    print(json.dumps({"objective": 1000.0 / (number + seed + 1), "solution": [seed, number]}), flush=True)

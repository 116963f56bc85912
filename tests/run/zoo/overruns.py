"""Reports a solution after its horizon, then stops by itself."""

import os
import time

time.sleep(float(os.environ["GAPLINE_HORIZON"]))
print('{"objective": 10.0}', flush=True)

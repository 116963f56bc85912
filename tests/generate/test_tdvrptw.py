"""TDVRPTW instances: two files that belong together, and windows that can be kept."""

import gzip
import hashlib
import json

from gapline.checkers import load_checker
from gapline.generate import write_instances


def test_the_instance_file_pins_its_arrival_times(tmp_path):
    """Compressed bytes may differ between versions of zlib; what is in them may not."""
    (path,) = write_instances("tdvrptw", tmp_path, name="demo", customers=6)
    stated = json.loads(path.read_text())["td"]
    content = gzip.decompress((tmp_path / stated["atf_path"]).read_bytes())
    assert hashlib.sha256(content).hexdigest() == stated["atf_sha256"]
    assert (tmp_path / stated["atf_path"]).read_bytes()[4:8] == b"\0\0\0\0"


def test_every_tdvrptw_customer_can_be_served_alone(tmp_path):
    (path,) = write_instances("tdvrptw", tmp_path, name="alone", customers=20)
    assert load_checker("tdvrptw").check(path, [[customer] for customer in range(1, 21)]).valid

"""A real server of the S3 protocol in a process of its own, and a bucket in it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


class Bucket:
    """A bucket that holds what tests put there."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.url = "s3://results"

    def put_directory(self, folder: Path, name: str) -> str:
        """Upload a directory; return its URL."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return f"{self.url}/{name}"

    def put(self, key: str, data: bytes) -> str:
        self.client.put_object(Bucket="results", Key=key, Body=data)
        return f"{self.url}/{key}"

    def get(self, key: str) -> bytes:
        return self.client.get_object(Bucket="results", Key=key)["Body"].read()

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket="results", Key=key)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bucket:
    import boto3
    import fsspec

    settings = {
        "AWS_ENDPOINT_URL": s3_server,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    # A file system that a test before this one opened has the settings of then.
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    client = boto3.client("s3")
    try:
        for one in client.list_objects_v2(Bucket="results").get("Contents", []):
            client.delete_object(Bucket="results", Key=one["Key"])
    except client.exceptions.NoSuchBucket:
        client.create_bucket(Bucket="results")
    return Bucket(client)

"""What kind of file each member of a package is."""

from pathlib import Path, PurePosixPath

_BY_SUFFIX = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".toml": "application/toml",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".html": "text/html",
    ".tex": "application/x-tex",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".parquet": "application/vnd.apache.parquet",
    ".npy": "application/x-npy",
    ".py": "text/x-python",
    ".cff": "application/yaml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".xml": "application/xml",
    ".gz": "application/gzip",
    ".zip": "application/zip",
    ".zst": "application/zstd",
    ".txt": "text/plain",
    ".log": "text/plain",
}
_LOOK = 8192


def media_type(name: str, path: Path) -> str:
    """Return the media type of a file by its name; of an unknown one, whether it begins as text does."""
    known = _BY_SUFFIX.get(PurePosixPath(name).suffix.lower())
    if known is not None:
        return known
    with path.open("rb") as stream:
        head = stream.read(_LOOK)
    try:
        # The last character may be cut.
        head.decode("utf-8") if len(head) < _LOOK else head[:-4].decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        if len(head) < _LOOK or error.start < _LOOK - 8:
            return "application/octet-stream"
    return "application/octet-stream" if b"\0" in head else "text/plain"

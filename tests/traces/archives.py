"""Archives of a few files, of every kind that an import reads."""

import gzip
import io
import tarfile
import zipfile

import zstandard


def tar(files, *, end=True):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for name, data in files:
            if isinstance(data, tarfile.TarInfo):
                data.name = name
                archive.addfile(data)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        size = target.tell()
    return target.getvalue() if end else target.getvalue()[:size]


def zipped(files, method=zipfile.ZIP_DEFLATED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return target.getvalue()


KINDS = {
    "logs.zip": zipped,
    "stored.zip": lambda files: zipped(files, zipfile.ZIP_STORED),
    "logs.tar": tar,
    "logs.tar.gz": lambda files: gzip.compress(tar(files)),
    "logs.tgz": lambda files: gzip.compress(tar(files)),
    "logs.tar.zst": lambda files: zstandard.compress(tar(files)),
}

"""Builds the wheel and the source archive (PEP 517) with the standard library alone."""

import base64
import hashlib
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "event_analytics"


def _version() -> str:
    return re.search(r'VERSION = "([^"]+)"', (HERE / PACKAGE / "_version.py").read_text("utf-8")).group(1)


def _metadata() -> str:
    fields = [
        "Metadata-Version: 2.1",
        "Name: event-analytics",
        f"Version: {_version()}",
        "Summary: Client of the Event Analytics Service: events, identities, queries, choices. Standard library only.",
        "License: Apache-2.0",
        "Requires-Python: >=3.9",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(fields) + "\n\n" + (HERE / "README.md").read_text("utf-8")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{PACKAGE}-{_version()}-py3-none-any.whl"
    info = f"{PACKAGE}-{_version()}.dist-info"
    files = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in sorted((HERE / PACKAGE).glob("*.py"))}
    files[f"{PACKAGE}/py.typed"] = b""
    files[f"{info}/METADATA"] = _metadata().encode("utf-8")
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: event-analytics\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode("utf-8")
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return name


def build_sdist(sdist_directory, config_settings=None):
    root = f"{PACKAGE}-{_version()}"
    (HERE / "PKG-INFO").write_text(_metadata(), "utf-8")
    try:
        with tarfile.open(pathlib.Path(sdist_directory) / f"{root}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
            names = ["PKG-INFO", "README.md", "build_backend.py", "pyproject.toml"]
            for path in [HERE / name for name in names] + sorted((HERE / PACKAGE).glob("*.py")) + [HERE / PACKAGE / "py.typed"]:
                archive.add(path, f"{root}/{path.relative_to(HERE).as_posix()}")
    finally:
        (HERE / "PKG-INFO").unlink()
    return f"{root}.tar.gz"


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")

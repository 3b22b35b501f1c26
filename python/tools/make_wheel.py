#!/usr/bin/env python3
"""Puts the package together as a wheel: a zip file of it with a few files about it (PEP 427). The program goes along where it is given,
so that the viewer is there too. Nothing but the standard library is needed, and no network.

usage: make_wheel.py PACKAGE VERSION OUT [PROGRAM]"""
import base64
import hashlib
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

METADATA = """Metadata-Version: 2.1
Name: rotule
Version: {version}
Summary: Rigid bodies, joints, contact, springs and structures, with honest errors
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
"""


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def stripped(path, folder):
    """Without the tables that only debuggers read."""
    out = pathlib.Path(folder) / path.name
    subprocess.run(["strip", "--strip-unneeded", "-o", str(out), str(path)], check=True)
    return out.read_bytes()


def main():
    package, version, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    program = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(package.rglob("*")):
            name = f"rotule/{path.relative_to(package).as_posix()}"
            if path.is_file() and "__pycache__" not in name and not name.startswith("rotule/bin/"):
                files[name] = (stripped(path, folder) if path.suffix == ".so" else path.read_bytes(), 0o644)
        if program:
            files["rotule/bin/rotule"] = (stripped(program, folder), 0o755)
    about = f"rotule-{version}.dist-info"
    files[f"{about}/METADATA"] = (METADATA.format(version=version).encode(), 0o644)
    files[f"{about}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: rotule\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode(), 0o644)
    record = ""
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{about}/RECORD"] = (f"{record}{about}/RECORD,,\n".encode(), 0o644)
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"rotule-{version}-{tag()}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same bytes whenever it is made
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    print(wheel)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the wheel: the package, the library in it, and the portable program.

    make_wheel.py --version V --build build/portable --out dist

BUILD is a folder that packaging/dist/portable filled, for this processor or another. Python's
standard library alone writes it, and the same input gives the same bytes: names are sorted, times
are fixed, and compression is one of zlib's levels.
"""
import argparse
import base64
import hashlib
import os
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True
import elf  # noqa: E402

METADATA = """Metadata-Version: 2.1
Name: weir_context
Version: {version}
Summary: The context engine for LLM agents: smaller requests, everything recoverable
License: {license}
Requires-Python: >=3.9
Classifier: Typing :: Typed
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

{readme}"""
ENTRY_POINTS = """[console_scripts]
weir = weir._program:main
weir-context = weir._program:main
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def sources():
    """{name in the wheel: bytes} of the package's own files."""
    files = {}
    for folder, _, names in os.walk(os.path.join(HERE, "weir")):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".py", ".typed")):
                files[os.path.relpath(path, HERE)] = read(path)
    return files


def license_name():
    return read(os.path.join(HERE, "..", "..", "LICENSE")).decode().strip().splitlines()[0]


def contents(options):
    """All files but RECORD, and the tag of the platforms that can use them."""
    files = sources()
    library, program = (os.path.join(options.build, name) for name in ("libweir.so", "weir"))
    elf.check_alone(library, is_static=False)
    elf.check_alone(program, is_static=True)
    files["weir/_lib/libweir.so"] = read(library)
    files["weir/_bin/weir"] = read(program)
    major, minor = elf.needs_glibc(library)
    tag = f"py3-none-manylinux_{major}_{minor}_{elf.machine(library)}"
    info = f"weir_context-{options.version}.dist-info"
    files[f"{info}/METADATA"] = METADATA.format(
        version=options.version, license=license_name(),
        readme=read(os.path.join(HERE, "README.md")).decode()).encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: weir\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/LICENSE"] = read(os.path.join(HERE, "..", "..", "LICENSE"))
    files[f"{info}/notices"] = read(os.path.join(options.build, "notices"))
    return files, tag, info


def record(files, info):
    rows = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
        rows.append(f"{name},sha256={digest.decode()},{len(files[name])}\n")
    return "".join(rows) + f"{info}/RECORD,,\n"


def write(path, files, last):
    """The record comes last, as the format wants it."""
    with zipfile.ZipFile(path, "w") as wheel:
        for name in [*sorted(set(files) - {last}), last]:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            is_program = name.startswith("weir/_bin/") or name.startswith("weir/_lib/")
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.create_system = 3
            wheel.writestr(entry, files[name], zipfile.ZIP_DEFLATED, 9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("version", "build", "out"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    files, tag, info = contents(options)
    files[f"{info}/RECORD"] = record(files, info).encode()
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, f"weir_context-{options.version}-{tag}.whl")
    write(path, files, f"{info}/RECORD")
    print(path)


main()

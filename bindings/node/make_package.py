#!/usr/bin/env python3
"""Writes the npm package: its files, the prebuilt addon, and the program with what it needs.

    make_package.py --version V --addon weir.node --program weir --out dist

The same input gives the same bytes: names are sorted, times are fixed.
"""
import argparse
import gzip
import io
import json
import os
import platform
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True
import elf  # noqa: E402

CPU = {"x86_64": "x64", "aarch64": "arm64"}
TIME_S = 315532800  # 1980-01-01


def read(path):
    with open(path, "rb") as file:
        return file.read()


def contents(options):
    """{name: (bytes, may be run)}"""
    cpu = CPU.get(platform.machine(), platform.machine())
    place = f"prebuilds/linux-{cpu}"
    package = json.loads(read(os.path.join(HERE, "package.json")))
    package.update(version=options.version, cpu=[cpu])
    files = {"package.json": (json.dumps(package, indent=4).encode() + b"\n", False),
             "LICENSE": (read(os.path.join(HERE, "..", "..", "LICENSE")), False),
             "README.md": (read(os.path.join(HERE, "README.md")), False),
             f"{place}/weir.node": (read(options.addon), True),
             f"{place}/weir": (read(options.program), True)}
    for folder in ("lib", "bin"):
        for name in os.listdir(os.path.join(HERE, folder)):
            files[f"{folder}/{name}"] = (read(os.path.join(HERE, folder, name)), folder == "bin")
    for name, path in elf.libraries(options.program).items():
        files[f"{place}/lib/{name}"] = (read(path), True)
    left = set(elf.libraries(options.addon))
    if left:
        raise SystemExit(f"the addon needs {', '.join(sorted(left))}: link them statically")
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("version", "addon", "program", "out"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    files = contents(options)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            data, may_run = files[name]
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mtime, entry.mode = len(data), TIME_S, 0o755 if may_run else 0o644
            tar.addfile(entry, io.BytesIO(data))
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, f"weir-context-{options.version}.tgz")
    with open(path, "wb") as file:
        file.write(gzip.compress(packed.getvalue(), 9, mtime=0))
    print(path)


main()

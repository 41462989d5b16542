#!/usr/bin/env python3
"""Writes the npm package: its files, and prebuilt addon and portable program of each processor.

    make_package.py --version V --out dist build/portable [build/portable-aarch64]

The folders are those that packaging/dist/portable filled. The same input gives the same bytes:
names are sorted, times are fixed.
"""
import argparse
import gzip
import io
import json
import os
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
    package = json.loads(read(os.path.join(HERE, "package.json")))
    files, cpus = {}, []
    for build in options.builds:
        addon, program = (os.path.join(build, name) for name in ("weir.node", "weir"))
        elf.check_alone(addon, is_static=False)
        elf.check_alone(program, is_static=True)
        cpus.append(CPU[elf.machine(addon)])
        place = f"prebuilds/linux-{cpus[-1]}"
        files[f"{place}/weir.node"] = (read(addon), True)
        files[f"{place}/weir"] = (read(program), True)
    package.update(version=options.version, cpu=sorted(cpus))
    files["package.json"] = (json.dumps(package, indent=4).encode() + b"\n", False)
    files["LICENSE"] = (read(os.path.join(HERE, "..", "..", "LICENSE")), False)
    files["notices"] = (read(os.path.join(options.builds[0], "notices")), False)
    files["README.md"] = (read(os.path.join(HERE, "README.md")), False)
    for folder in ("lib", "bin"):
        for name in os.listdir(os.path.join(HERE, folder)):
            files[f"{folder}/{name}"] = (read(os.path.join(HERE, folder, name)), folder == "bin")
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("version", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("builds", nargs="+")
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

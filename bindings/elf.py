"""What a package of ours must bring along: the shared libraries of a program, less the C library's.

Libraries of the C library stay the system's: they belong to its kernel and its resolver, and every
Linux with the version that needs_glibc() gives has them.
"""
import os
import re
import subprocess

OF_LIBC = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libpthread|libdl|librt|libresolv|libutil|"
                     r"libnsl|libanl|libnss_.*)\.so")


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def libraries(path):
    """{name: file} of what the loader would load for it; fails where something is not found."""
    found = {}
    for line in said("ldd", path).splitlines():
        parts = line.split()
        if "not found" in line:
            raise SystemExit(f"{path}: {line.strip()}")
        if "=>" in parts and not OF_LIBC.match(parts[0]):
            found[parts[0]] = os.path.realpath(parts[2])
    return found


def needs_glibc(paths):
    """(2, 34): the newest version of the C library that one of them wants something of."""
    newest = (2, 17)
    for path in paths:
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", said("readelf", "-V", "-W", path)):
            newest = max(newest, tuple(map(int, version)))
    return newest

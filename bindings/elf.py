"""What a library or program of ours needs of the system, and which processor it is for.

Read by readelf, which reads those of other processors too. A package brings all that it needs but
the C library, which belongs to the system: to its kernel and its resolver.
"""
import re
import subprocess

OF_LIBC = re.compile(r"^(ld-linux.*|libc|libm|libpthread|libdl|librt|libresolv)\.so")
MACHINES = {"X86-64": "x86_64", "AArch64": "aarch64"}


def said(*options):
    return subprocess.run(["readelf", "-W", *options], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def machine(path):
    """As Python's platform.machine() says it."""
    name = re.search(r"Machine:\s*(.*)", said("-h", path))[1]
    return next(ours for theirs, ours in MACHINES.items() if theirs in name)


def check_alone(path, is_static):
    """Fails where `path` needs a library beside the C library; where it is static, any."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said("-d", path))
    left = [name for name in needed if is_static or not OF_LIBC.match(name)]
    if left:
        raise SystemExit(f"{path} needs {', '.join(left)}: packages are made of what "
                         "packaging/dist/portable builds")


def needs_glibc(path):
    """(2, 34): the newest version of the C library that it wants something of."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", said("-V", path))
    return max([(2, 17), *(tuple(map(int, version)) for version in versions)])

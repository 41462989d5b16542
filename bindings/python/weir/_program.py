"""The `weir` program of the wheel, as a console script: it takes this process over."""
import os
import sys


def path() -> str:
    """Where the program is."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_bin", "weir")
    return own if os.path.exists(own) else "weir"


def main() -> None:
    program = path()
    try:
        os.execvp(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"weir: {program} cannot be run: {error}")


if __name__ == "__main__":
    main()

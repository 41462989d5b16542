"""What the programs here have in common: the task and its tool (tests/clients/python/loop.py), and
a context where the third argument is `weir`: PROGRAM BASE_URL API-HOW direct|weir"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'clients', 'python'))
from loop import API, BASE, IS_STREAM, TASKS, TOOLS, run  # noqa: E402,F401

CONTEXT = None
if sys.argv[3] == 'weir':
    import weir
    CONTEXT = weir.Context(policy='lean')


def end(words):
    """The model's last words are the last line."""
    if CONTEXT is not None and CONTEXT.error is not None:
        sys.exit(f'{CONTEXT.error}')
    print(words)

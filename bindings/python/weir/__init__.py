"""Weir: what a model sees, decided by a policy; what is taken out can be brought back.

    import weir
    projected = weir.project(body, policy="lean", store=store)
    send(projected.body)
    weir.count("What is a weir?", model="gpt-5")

The functions here use one engine of the module's own, made when it is first needed. docs/embed.md
of the project has the same task in C, C++, Python and TypeScript.
"""
from __future__ import annotations

import threading
from typing import Any, Dict, Optional

from ._context import Context, wrap
from ._engine import (Body, Condensed, Engine, Projected, Recalled, Store, Text)
from ._native import (WeirError, WeirInvalidError, WeirIOError, WeirLimitError, WeirMemoryError,
                      WeirNotFoundError, WeirSyntaxError, lib as _lib)
from ._recall import RecallTool
from ._session import Session

__all__ = ["Body", "Condensed", "Context", "Engine", "Projected", "RecallTool", "Recalled",
           "Session", "Store", "Text", "WeirError", "WeirIOError", "WeirInvalidError",
           "WeirLimitError", "WeirMemoryError", "WeirNotFoundError", "WeirSyntaxError",
           "acondense", "acount", "ainspect", "aproject", "arecall", "condense", "count",
           "default_engine", "inspect", "project", "recall", "recall_tool", "wrap",
           "__version__"]
__version__: str = _lib.weir_version().decode()

_engine: Optional[Engine] = None
_engine_lock = threading.Lock()


def default_engine() -> Engine:
    """The engine of the functions of this module. It has no store."""
    global _engine
    if _engine is None:
        with _engine_lock:
            if _engine is None:
                _engine = Engine()
    return _engine


def project(body: Body, *, policy: Optional[str] = None, session: Optional[str] = None,
            store: Optional[Store] = None, model: Optional[str] = None,
            **options: Any) -> Projected:
    """A request made smaller by a policy; see Engine.project. Without a store nothing that needs a
    way back is taken out."""
    return default_engine().project(body, policy=policy, session=session, store=store, model=model,
                                    **options)


def count(text: Text, *, model: Optional[str] = None, encoding: Optional[str] = None) -> int:
    """The tokens of a text, as the model or the encoding (o200k_base) counts them."""
    return default_engine().count(text, model=model, encoding=encoding)


def condense(text: Text, **options: Any) -> Condensed:
    """One tool output, shorter; see Engine.condense."""
    return default_engine().condense(text, **options)


def recall(handle: str, *, store: Store, **options: Any) -> Recalled:
    """What was taken out, by its handle; see Engine.recall."""
    return default_engine().recall(handle, store=store, **options)


def inspect(body: Body, **options: Any) -> Dict[str, Any]:
    """What a request consists of; see Engine.inspect."""
    return default_engine().inspect(body, **options)


def recall_tool(store: Store, **options: Any) -> RecallTool:
    """`weir_recall` for a loop of your own, answered from `store`."""
    return RecallTool(default_engine(), store, **options)


async def aproject(body: Body, **options: Any) -> Projected:
    return await default_engine().aproject(body, **options)


async def acount(text: Text, **options: Any) -> int:
    return await default_engine().acount(text, **options)


async def acondense(text: Text, **options: Any) -> Condensed:
    return await default_engine().acondense(text, **options)


async def arecall(handle: str, **options: Any) -> Recalled:
    return await default_engine().arecall(handle, **options)


async def ainspect(body: Body, **options: Any) -> Dict[str, Any]:
    return await default_engine().ainspect(body, **options)

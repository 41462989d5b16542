"""libweir by ctypes: where it is, its functions, and one call with JSON on both sides.

ctypes and not cffi or a compiled module: it is part of Python, so that the package needs no other
one and no compiler, and one build serves every version of Python. It lets other threads run while
the library works. Large texts go beside the JSON (weir_call_bytes), as pointers: nothing is escaped
and a body that was not changed is the object that was given.
"""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Optional

_c = ctypes


class WeirError(Exception):
    """A call that failed. `status` is its name ("WEIR_INVALID"), `at_byte` where in the input."""

    def __init__(self, text: str, status: str = "WEIR_INVALID", at_byte: int = 0) -> None:
        super().__init__(text)
        self.status = status
        self.at_byte = at_byte


class WeirSyntaxError(WeirError, ValueError):
    """The input is not well formed."""


class WeirInvalidError(WeirError, ValueError):
    """Well formed, but not allowed here; also an object that is closed."""


class WeirNotFoundError(WeirError, LookupError):
    """No such policy, encoding, original or session."""


class WeirLimitError(WeirError):
    """A limit was reached; the text names it."""


class WeirIOError(WeirError, OSError):
    """The operating system refused an operation, or another process holds what was asked for."""


class WeirMemoryError(WeirError, MemoryError):
    """There was no memory."""


_KINDS = {
    "WEIR_SYNTAX": WeirSyntaxError,
    "WEIR_INVALID": WeirInvalidError,
    "WEIR_NOTFOUND": WeirNotFoundError,
    "WEIR_LIMIT": WeirLimitError,
    "WEIR_IO": WeirIOError,
    "WEIR_NOMEM": WeirMemoryError,
}
_STATUS = ["WEIR_OK", "WEIR_NOMEM", "WEIR_LIMIT", "WEIR_SYNTAX", "WEIR_INVALID", "WEIR_NOTFOUND",
           "WEIR_IO"]


def error_of(status: str, text: str, at_byte: int = 0) -> WeirError:
    return _KINDS.get(status, WeirError)(text, status, at_byte)


class Err(_c.Structure):
    _fields_ = [("code", _c.c_int), ("at_byte", _c.c_size_t), ("text", _c.c_char * 256)]


class Called(_c.Structure):
    _fields_ = [("json", _c.c_void_p), ("json_bytes", _c.c_size_t), ("ptr", _c.c_void_p),
                ("count", _c.c_size_t), ("owned", _c.c_void_p)]


class StoreOptions(_c.Structure):
    _fields_ = [("struct_bytes", _c.c_size_t), ("must_exist", _c.c_bool),
                ("busy_ms_max", _c.c_uint32)]


class Span(_c.Structure):
    _fields_ = [("ptr", _c.c_char_p), ("len", _c.c_size_t)]


def _find() -> str:
    """WEIR_LIBRARY, else the library of this package, else the system's."""
    told = os.environ.get("WEIR_LIBRARY")
    if told:
        return told
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", "libweir.so")
    return own if os.path.exists(own) else "libweir.so.0"


def _load() -> Any:
    path = _find()
    try:
        lib = _c.CDLL(path)
    except OSError as error:
        raise ImportError(f"libweir cannot be loaded from {path}: {error}; install the wheel of "
                          "weir_context, or name the library in WEIR_LIBRARY") from None
    pointer, size, text = _c.c_void_p, _c.c_size_t, _c.c_char_p
    for name, result, arguments in (
            ("weir_call_bytes", _c.c_int, [pointer, pointer, text, text, size, text, size,
                                           _c.POINTER(Called), pointer]),
            ("weir_session_call_open", _c.c_int, [pointer, text, size, _c.POINTER(pointer),
                                                  _c.POINTER(Called), pointer]),
            ("weir_session_call", _c.c_int, [pointer, text, text, size, text, size,
                                             _c.POINTER(Called), pointer]),
            ("weir_session_close", None, [pointer]),
            ("weir_called_release", None, [_c.POINTER(Called)]),
            ("weir_engine_new", _c.c_int, [_c.POINTER(pointer), _c.POINTER(Err)]),
            ("weir_engine_free", None, [pointer]),
            ("weir_engine_load_policies", _c.c_int, [pointer, Span, _c.POINTER(Err)]),
            ("weir_engine_load_models", _c.c_int, [pointer, Span, _c.POINTER(Err)]),
            ("weir_store_new_memory", _c.c_int, [size, _c.POINTER(pointer)]),
            ("weir_store_open", _c.c_int, [text, _c.POINTER(StoreOptions), _c.POINTER(pointer),
                                           pointer, _c.POINTER(Err)]),
            ("weir_store_close", None, [pointer]),
            ("weir_version", text, [])):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = _load()


def check(status: int, err: Optional[Err] = None) -> None:
    if status:
        text = err.text.decode("utf-8", "replace") if err is not None else ""
        raise error_of(_STATUS[status] if status < len(_STATUS) else "unknown",
                       text or "libweir refused", err.at_byte if err is not None else 0)


def raise_answer(answer: bytes) -> None:
    error = json.loads(answer)["error"]
    raise error_of(error["status"], error["text"], error["at_byte"])


class Answer:
    """What a call gave: its JSON, as bytes, and the text beside it (None: the one given)."""

    __slots__ = ("json", "text")

    def __init__(self, answer: bytes, text: Optional[bytes]) -> None:
        self.json = answer
        self.text = text


_string_at = _c.string_at
_byref = _c.byref


def answer_of(called: Called) -> bytes:
    if not called.json:
        raise WeirMemoryError("there was no memory for the answer", "WEIR_NOMEM")
    return _string_at(called.json, called.json_bytes)


def take(function: Any, arguments: tuple, given: Optional[bytes]) -> Answer:
    """Calls a function that fills in a struct weir_called, as its last argument but one."""
    called = Called()
    status = function(*arguments, given, len(given) if given is not None else 0, _byref(called),
                      None)
    try:
        answer = answer_of(called)
        # The library gives back the very memory that came in where nothing was changed. Its own is
        # in `owned`.
        text = _string_at(called.ptr, called.count) if called.owned else None
    finally:
        lib.weir_called_release(_byref(called))
    if status:
        raise_answer(answer)
    return Answer(answer, text)

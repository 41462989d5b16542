"""Session: the runtime of an agent, whose journal is the truth (docs/session.md)."""
from __future__ import annotations

import ctypes
import json
import os
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _native as native
from ._engine import (Body, Projected, Store, Text, _Owned, _text_bytes, body_bytes, checked_store,
                      members)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _close(pointer: int, store: Optional[Store]) -> None:
    """Closing writes to the store, which another thread may be inside."""
    if store is None:
        native.lib.weir_session_close(pointer)
    else:
        with store.lock:
            native.lib.weir_session_close(pointer)
            store.add_session(-1)


class Session(_Owned):
    """An agent's session in a directory: what was said and done, and the next request to send.

        with weir.Session("run/1", model="gpt-5", store=store) as session:
            session.set_prompt("You read files.")
            session.set_tools([{"name": "read", "description": "reads", "schema": {...}}])
            session.say("What is in a.txt?")
            while True:
                answer = send(session.request("chat").body)
                calls = session.answer("chat", answer)
                if not calls: break
                for call in calls:
                    session.result(call["id"], run(call["name"], call["arguments"]))

    Everything is in `events.jsonl` before the call that says it returns. A call that fails has
    changed nothing.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], *, store: Optional[Store] = None,
                 model: Optional[str] = None, name: Optional[str] = None,
                 config: Optional[str] = None, tenant: Optional[str] = None,
                 policies: Optional[str] = None, must_exist: bool = False,
                 is_read_only: bool = False) -> None:
        pointer = ctypes.c_void_p()
        arguments = members(dir=os.fspath(path), model=model, name=name, config=config,
                            tenant=tenant, policies=policies, must_exist=must_exist,
                            is_read_only=is_read_only, now_ms=_now_ms())
        called = native.Called()
        checked_store(store)
        try:
            if store is None:
                status = native.lib.weir_session_call_open(
                    None, arguments, len(arguments), ctypes.byref(pointer), ctypes.byref(called),
                    None)
            else:
                with store.lock:
                    status = native.lib.weir_session_call_open(
                        store.pointer(), arguments, len(arguments), ctypes.byref(pointer),
                        ctypes.byref(called), None)
                    if not status:
                        store.add_session(1)
            answer = native.answer_of(called)
        finally:
            native.lib.weir_called_release(ctypes.byref(called))
        if status:
            native.raise_answer(answer)
        assert pointer.value
        super().__init__(pointer.value, lambda opened: _close(opened, store), "session")
        self.opened: Dict[str, Any] = json.loads(answer)
        self._store = store  # the library borrows it until close
        self.path = os.fspath(path)

    def call(self, method: str, given: Optional[bytes] = None, **values: Any) -> native.Answer:
        """weir_session_call(): any method of a session (docs/embed.md)."""
        arguments = members(**values)
        with self.lock:
            pointer = self.pointer()
            if self._store is None:
                return native.take(native.lib.weir_session_call, (
                    pointer, method.encode(), arguments, len(arguments)), given)
            with self._store.lock:
                self._store.pointer()  # a closed store would be used by the library
                return native.take(native.lib.weir_session_call, (
                    pointer, method.encode(), arguments, len(arguments)), given)

    def _facts(self, method: str, given: Optional[bytes] = None, **values: Any) -> Dict[str, Any]:
        return json.loads(self.call(method, given, **values).json)

    def set_prompt(self, text: Text) -> None:
        self.call("set_prompt", _text_bytes(text), now_ms=_now_ms())

    def set_tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Each has `name`, `description` and `schema`."""
        self.call("set_tools", tools=list(tools))

    def say(self, text: Text) -> int:
        """Words of the user; the number of their event."""
        return self._facts("say", _text_bytes(text), now_ms=_now_ms())["event"]

    def steer(self, text: Text) -> int:
        """Words that arrive while a turn runs: they flow into the next user message."""
        return self._facts("steer", _text_bytes(text), now_ms=_now_ms())["event"]

    def note(self, text: Text) -> int:
        """A remark for people; it is never sent."""
        return self._facts("note", _text_bytes(text), now_ms=_now_ms())["event"]

    def abort(self, why: Text) -> None:
        """Closes the calls that wait, with a result that says why."""
        self.call("abort", _text_bytes(why), now_ms=_now_ms())

    def request(self, dialect: str, *, context: Optional[str] = None,
                extra: Optional[Mapping[str, Any]] = None, is_preview: Optional[bool] = None,
                alternates: Optional[bool] = None) -> Projected:
        """The next request ("chat", "responses", "messages", ...). `extra` are more members of the
        body, such as {"stream": True}."""
        written = json.dumps(dict(extra))[1:-1] if extra else None
        answer = self.call("request", None, dialect=dialect, context=context, extra=written,
                           is_preview=is_preview, alternates=alternates, now_ms=_now_ms())
        assert answer.text is not None
        return Projected(answer.text, json.loads(answer.json)["is_changed"], answer.json)

    def answer(self, dialect: str, body: Body) -> List[Dict[str, Any]]:
        """The provider's whole answer; the calls that wait for a result."""
        return self._facts("answer", body_bytes(body), dialect=dialect,
                           now_ms=_now_ms())["pending"]

    def answer_words(self, text: str = "", calls: Sequence[Mapping[str, str]] = (), *,
                     model: Optional[str] = None) -> List[Dict[str, Any]]:
        """The same in words and calls (`id`, `name`, `arguments`)."""
        return self._facts("answer", None, text=text, calls=list(calls), model=model,
                           now_ms=_now_ms())["pending"]

    def result(self, call_id: str, text: Text, *, is_error: bool = False) -> List[Dict[str, Any]]:
        """A tool's result; the calls that still wait."""
        return self._facts("result", _text_bytes(text), call_id=call_id, is_error=is_error,
                           now_ms=_now_ms())["pending"]

    def begin_call(self, call_id: str) -> None:
        """A call that changes something is about to be carried out."""
        self.call("begin_call", None, call_id=call_id, now_ms=_now_ms())

    def pending(self) -> List[Dict[str, Any]]:
        return self._facts("pending")["pending"]

    def add_usage(self, **tokens: int) -> None:
        """`input_tokens`, `cache_read_tokens`, `cache_write_tokens`, `output_tokens`."""
        self.call("add_usage", None, now_ms=_now_ms(), **tokens)

    def switch_model(self, model: str, *, window_tokens: int = 0) -> None:
        self.call("switch_model", None, model=model, window_tokens=window_tokens, now_ms=_now_ms())

    def refused(self, body: Body) -> bool:
        """The provider refused the last request. True: it was too long, and the next is shorter."""
        return self._facts("refused", body_bytes(body), now_ms=_now_ms())["is_too_long"]

    def compact(self, why: str = "asked") -> Dict[str, Any]:
        """Older turns become a summary, their text in a file first."""
        return self._facts("compact", None, why=why, now_ms=_now_ms())

    def context(self) -> Dict[str, Any]:
        """What fills the window."""
        return self._facts("context")

    def run(self) -> Dict[str, Any]:
        """What this run has used, and the limit it has reached."""
        return self._facts("run", None, now_ms=_now_ms())

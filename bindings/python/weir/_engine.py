"""Engine and Store: the library's objects, each used by one thread at a time behind a lock."""
from __future__ import annotations

import asyncio
import ctypes
import json
import os
import threading
import weakref
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import _native as native

Body = Union[bytes, bytearray, memoryview, str, Mapping[str, Any]]
Text = Union[str, bytes]


def _free_held(held: List[int], free: Any, lock: "threading.RLock") -> None:
    """At the end of the interpreter a daemon thread may be inside: then it is left to the system.
    Otherwise nobody else can have the lock."""
    if lock.acquire(blocking=False):
        try:
            if held:
                free(held.pop())
        finally:
            lock.release()


class _Owned:
    """A pointer of the library's that is freed once: by close(), or when nobody has it any more."""

    def __init__(self, pointer: int, free: Any, what: str) -> None:
        self._held = [pointer]  # empty: it is closed
        self._what = what
        self.lock = threading.RLock()
        self._free = weakref.finalize(self, _free_held, self._held, free, self.lock)

    def pointer(self) -> int:
        """Only while the lock is held: another thread may close it."""
        if not self._held:
            raise native.WeirInvalidError(f"the {self._what} is closed")
        return self._held[0]

    @property
    def closed(self) -> bool:
        return not self._held

    def close(self) -> None:
        """Frees it, after the call that is under way. To close it twice is fine."""
        with self.lock:
            self._free()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Store(_Owned):
    """Where originals and marks are kept: a directory, or memory.

        with weir.Store("/var/lib/agent/store") as store: ...
        weir.Store()                    in memory, gone with the process

    A directory may be used by several processes at once, `weir serve` and `weir recall` among them.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]", None] = None, *,
                 must_exist: bool = False, bytes_max: int = 0) -> None:
        pointer = ctypes.c_void_p()
        self._sessions_count = 0
        self.path = None if path is None else os.fspath(path)
        if self.path is not None and "\0" in os.fsdecode(self.path):
            raise ValueError("embedded null byte")
        if self.path is None:
            native.check(native.lib.weir_store_new_memory(bytes_max, ctypes.byref(pointer)))
        else:
            err = native.Err()
            options = native.StoreOptions(ctypes.sizeof(native.StoreOptions), must_exist, 0)
            native.check(native.lib.weir_store_open(
                os.fsencode(self.path), ctypes.byref(options), ctypes.byref(pointer), None,
                ctypes.byref(err)), err)
        assert pointer.value
        super().__init__(pointer.value, native.lib.weir_store_close, "store")
        self._is_closed = False

    def pointer(self) -> int:
        if self._is_closed:
            raise native.WeirInvalidError("the store is closed")
        return super().pointer()

    @property
    def closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        """Takes no new calls from now on; the last session that borrows it frees it."""
        with self.lock:
            self._is_closed = True
            if not self._sessions_count:
                super().close()

    def add_session(self, count: int) -> None:
        """One more that borrows it, or with -1 one less; while the lock is held."""
        self._sessions_count += count
        if self._is_closed:
            self.close()


def checked_store(store: Any) -> Optional[Store]:
    """The library would take any pointer for a store's."""
    if store is not None and not isinstance(store, Store):
        raise TypeError(f"store is to be a weir.Store, not {type(store).__name__}")
    return store


class Projected:
    """A request after a policy. `body` is what to send, byte for byte: where nothing was changed
    it is the object that was given (if that was bytes)."""

    __slots__ = ("body", "is_changed", "_json", "_facts")

    def __init__(self, body: bytes, is_changed: bool, answer: bytes) -> None:
        self.body = body
        self.is_changed = is_changed
        self._json = answer
        self._facts: Optional[Dict[str, Any]] = None

    @property
    def facts(self) -> Dict[str, Any]:
        """All members of the answer but the body (docs/embed.md), read when first asked for."""
        if self._facts is None:
            self._facts = json.loads(self._json)
        return self._facts

    @property
    def report(self) -> Dict[str, Any]:
        """What was done and why (docs/policies.md)."""
        return self.facts["report"] or {}

    @property
    def tokens_before(self) -> int:
        return self.facts["tokens_before"]

    @property
    def tokens_after(self) -> int:
        return self.facts["tokens_after"]

    @property
    def is_step(self) -> bool:
        return self.facts["is_step"]

    def request(self) -> Dict[str, Any]:
        """The body, parsed. Writing it again gives other bytes: send `body` where you can."""
        return json.loads(self.body)

    def __repr__(self) -> str:
        return (f"<weir.Projected {self.tokens_before} -> {self.tokens_after} tokens, "
                f"{len(self.body)} bytes>")


class Condensed:
    """A tool output, shorter. `lines` are those of the original that were kept."""

    __slots__ = ("text", "kind", "is_same", "lines_total", "lines")

    def __init__(self, text: str, facts: Dict[str, Any]) -> None:
        self.text = text
        self.kind: str = facts["kind"]
        self.is_same: bool = facts["is_same"]
        self.lines_total: int = facts["lines_total"]
        self.lines: List[Tuple[int, int]] = [(first, last) for first, last in facts["lines"]]


class Recalled:
    """What came back. `data` are the bytes that were stored, `text` the same as a str."""

    __slots__ = ("data", "next", "lines_total", "lines_count", "matches_count")

    def __init__(self, data: bytes, facts: Dict[str, Any]) -> None:
        self.data = data
        self.next: str = facts["next"]
        self.lines_total: int = facts["lines_total"]
        self.lines_count: int = facts["lines_count"]
        self.matches_count: int = facts["matches_count"]

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


def body_bytes(body: Body) -> bytes:
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8",
                                                                            "surrogatepass")


def _text_bytes(text: Text) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def members(**values: Any) -> bytes:
    given = {name: value for name, value in values.items() if value is not None}
    return json.dumps(given).encode() if given else b"{}"


class Engine(_Owned):
    """Knows models and counts tokens; it is made once and kept, because the first count makes its
    tables (a tenth of a second, 16 MB an encoding). Threads may share one: calls wait for each
    other. For calls at the same time make several.

    `store` is used by calls that are given none. `policies` and `models` are YAML
    (docs/policies.md, docs/models.md).
    """

    def __init__(self, *, store: Optional[Store] = None, policies: Optional[str] = None,
                 models: Optional[str] = None) -> None:
        pointer, err = ctypes.c_void_p(), native.Err()
        native.check(native.lib.weir_engine_new(ctypes.byref(pointer), ctypes.byref(err)), err)
        assert pointer.value
        super().__init__(pointer.value, native.lib.weir_engine_free, "engine")
        self.store = store
        for load, yaml in ((native.lib.weir_engine_load_policies, policies),
                           (native.lib.weir_engine_load_models, models)):
            if yaml is not None:
                text = yaml.encode()
                native.check(load(pointer, native.Span(text, len(text)), ctypes.byref(err)), err)

    def call(self, method: str, given: Optional[bytes] = None, arguments: bytes = b"{}",
             store: Optional[Store] = None) -> native.Answer:
        """weir_call_bytes(): any method, `arguments` as JSON, `given` the text beside it."""
        store = checked_store(store if store is not None else self.store)
        with self.lock:
            if store is None:
                return native.take(native.lib.weir_call_bytes, (
                    self.pointer(), None, method.encode(), arguments, len(arguments)), given)
            with store.lock:
                return native.take(native.lib.weir_call_bytes, (
                    self.pointer(), store.pointer(), method.encode(), arguments, len(arguments)),
                    given)

    def project(self, body: Body, *, policy: Optional[str] = None, session: Optional[str] = None,
                store: Optional[Store] = None, model: Optional[str] = None,
                tenant: Optional[str] = None, dialect: Optional[str] = None,
                path: Optional[str] = None, policy_default: Optional[str] = None,
                window_tokens: Optional[int] = None, overflow_tokens: Optional[int] = None,
                now_ms: Optional[int] = None, tools: Optional[str] = None,
                attaches: Optional[bool] = None, alternates: Optional[bool] = None) -> Projected:
        """A request made smaller by a policy, with the originals in the store.

        `policy` is one of `weir policies`; None: the session's, which is `policy_default`, else
        "exact", at first. Requests of one `session` keep the forms that earlier ones were sent in.
        """
        given = body_bytes(body)
        answer = self.call("project", given, members(
            policy=policy, session=session, model=model, tenant=tenant, dialect=dialect, path=path,
            policy_default=policy_default, window_tokens=window_tokens,
            overflow_tokens=overflow_tokens, now_ms=now_ms, tools=tools, attaches=attaches,
            alternates=alternates), store)
        is_changed = answer.text is not None
        return Projected(answer.text if answer.text is not None else given, is_changed, answer.json)

    def count(self, text: Text, *, model: Optional[str] = None,
              encoding: Optional[str] = None) -> int:
        """The tokens of a text, as the model or the encoding (o200k_base) counts them."""
        return self.count_facts(text, model=model, encoding=encoding)["tokens"]

    def count_facts(self, text: Text, *, model: Optional[str] = None,
                    encoding: Optional[str] = None) -> Dict[str, Any]:
        """`tokens`, `is_exact` and `method`: how they were counted."""
        return json.loads(self.call("count", _text_bytes(text),
                                    members(model=model, encoding=encoding)).json)

    def condense(self, text: Text, *, tool: Optional[str] = None, command: Optional[str] = None,
                 path: Optional[str] = None, query: Optional[str] = None,
                 focus: Optional[str] = None, budget_bytes: Optional[int] = None) -> Condensed:
        """One tool output, shorter, with every signal in it (docs/condensers.md)."""
        given = _text_bytes(text)
        answer = self.call("condense", given, members(
            tool=tool, command=command, path=path, query=query, focus=focus,
            budget_bytes=budget_bytes))
        data = answer.text if answer.text is not None else given
        return Condensed(data.decode("utf-8", "replace"), json.loads(answer.json))

    def recall(self, handle: str, *, store: Optional[Store] = None, tenant: Optional[str] = None,
               lines: Optional[str] = None, head_lines: Optional[int] = None,
               tail_lines: Optional[int] = None, pattern: Optional[str] = None,
               context_lines: Optional[int] = None, page_bytes: Optional[int] = None,
               page_tokens: Optional[int] = None, model: Optional[str] = None) -> Recalled:
        """What was taken out, by its handle: whole, by lines ("1-20,50-") or by pattern."""
        answer = self.call("recall", None, members(
            handle=handle, tenant=tenant, lines=lines, head_lines=head_lines,
            tail_lines=tail_lines, pattern=pattern, context_lines=context_lines,
            page_bytes=page_bytes, page_tokens=page_tokens, model=model), store)
        return Recalled(answer.text or b"", json.loads(answer.json))

    def inspect(self, body: Body, *, model: Optional[str] = None, dialect: Optional[str] = None,
                path: Optional[str] = None) -> Dict[str, Any]:
        """What a request consists of: turns, segments, totals; as `weir inspect --json`."""
        return json.loads(self.call("inspect", body_bytes(body), members(
            model=model, dialect=dialect, path=path)).json)

    def model(self, name: str) -> Dict[str, Any]:
        """Window, prices, cache rules and tokenizer of a model."""
        return json.loads(self.call("models", None, members(name=name)).json)

    def models(self) -> List[str]:
        return json.loads(self.call("models").json)["ids"]

    # ---- the same without blocking an event loop ----

    async def aproject(self, body: Body, **options: Any) -> Projected:
        return await asyncio.to_thread(self.project, body, **options)

    async def acount(self, text: Text, **options: Any) -> int:
        return await asyncio.to_thread(self.count, text, **options)

    async def acondense(self, text: Text, **options: Any) -> Condensed:
        return await asyncio.to_thread(self.condense, text, **options)

    async def arecall(self, handle: str, **options: Any) -> Recalled:
        return await asyncio.to_thread(self.recall, handle, **options)

    async def ainspect(self, body: Body, **options: Any) -> Dict[str, Any]:
        return await asyncio.to_thread(self.inspect, body, **options)

"""Context: an engine, a store and a policy for an agent; and clients of SDKs that go through it."""
from __future__ import annotations

import asyncio
import copy
import time
from typing import Any, Optional, TypeVar

from ._engine import Body, Engine, Projected, Store, body_bytes
from ._native import WeirError
from ._recall import RecallTool

Client = TypeVar("Client")
_PATHS = ("/chat/completions", "/responses", "/messages")


class Context:
    """What an agent's requests go through. `tool` is to be among the agent's tools from its first
    request on: what is left out then has a way back, and the saving is the full one.

    Without a `store` originals are in memory and gone with the process. A request that cannot be
    projected is sent as it came; `error` is why the last one was.
    """

    def __init__(self, *, policy: str = "auto", store: Optional[Store] = None,
                 session: Optional[str] = None, engine: Optional[Engine] = None,
                 tenant: Optional[str] = None, window_tokens: Optional[int] = None) -> None:
        self.engine = engine if engine is not None else Engine()
        self.store = store if store is not None else Store()
        self.policy, self.session, self.tenant = policy, session, tenant
        self.window_tokens = window_tokens
        self.tool = RecallTool(self.engine, self.store, tenant=tenant)
        self.error: Optional[WeirError] = None
        self.requests = 0
        self.bytes_before = 0
        self.bytes_after = 0

    def project(self, body: Body, *, path: Optional[str] = None, dialect: Optional[str] = None,
                session: Optional[str] = None) -> Projected:
        """A request of this agent. It does not raise WeirError."""
        given = body_bytes(body)
        try:
            projected = self.engine.project(
                given, policy_default=self.policy, store=self.store, path=path, dialect=dialect,
                session=session if session is not None else self.session, tenant=self.tenant,
                window_tokens=self.window_tokens, now_ms=time.time_ns() // 1_000_000)
            self.error = None
        except WeirError as error:
            self.error = error
            projected = Projected(given, False, b'{"report":null,"is_step":false,'
                                  b'"tokens_before":0,"tokens_after":0}')
        self.requests += 1
        self.bytes_before += len(given)
        self.bytes_after += len(projected.body)
        return projected

    @property
    def saved_percent(self) -> float:
        """Of the bytes of all requests so far."""
        return 100.0 * (1 - self.bytes_after / self.bytes_before) if self.bytes_before else 0.0


def _projected_request(context: Context, request: Any) -> Any:
    """Requests and headers are made anew by their own classes: SDKs bring httpx, or a copy of it
    under another name."""
    path = request.url.path
    if request.method != "POST" or not path.endswith(_PATHS):
        return request
    projected = context.project(request.content, path=path)
    if not projected.is_changed:
        return request
    headers = [(name, value) for name, value in request.headers.raw
               if name.lower() != b"content-length"]
    return type(request)(request.method, request.url, headers=type(request.headers)(headers),
                         content=projected.body, extensions=request.extensions)


class _Transport:
    """Does what `inner` does, with bodies that went through the context."""

    def __init__(self, context: Context, inner: Any) -> None:
        self.context, self.inner = context, inner

    def handle_request(self, request: Any) -> Any:
        request.read()
        return self.inner.handle_request(_projected_request(self.context, request))

    async def handle_async_request(self, request: Any) -> Any:
        await request.aread()
        return await self.inner.handle_async_request(
            await asyncio.to_thread(_projected_request, self.context, request))

    # The connections are of the client that was wrapped, and close with it.
    def close(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def __enter__(self) -> "_Transport":
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    async def __aenter__(self) -> "_Transport":
        return self

    async def __aexit__(self, *_error: object) -> None:
        pass


def wrap(client: Client, context: Optional[Context] = None, **options: Any) -> Client:
    """A client of the OpenAI or Anthropic SDK (either kind, sync or async) whose requests go
    through a context, without a proxy: `client.weir` of what comes back.

        client = weir.wrap(openai.OpenAI(), policy="lean")
        client.chat.completions.create(tools=[*tools, client.weir.tool.chat()], ...)
        ...a call of weir_recall is answered by client.weir.tool.run(arguments)...

    Bodies are changed as bytes, below the SDK: streams, retries and types are the SDK's own. The
    client that was given stays as it is, and both share its connections.
    """
    context = context if context is not None else Context(**options)
    inner = client._client  # type: ignore[attr-defined]
    below = copy.copy(inner)
    below._transport = _Transport(context, inner._transport)
    below._mounts = {pattern: transport and _Transport(context, transport)
                     for pattern, transport in inner._mounts.items()}
    wrapped = client.with_options(http_client=below)  # type: ignore[attr-defined]
    wrapped.weir = context
    wrapped._weir_keeps = client  # its connections close with it
    return wrapped

"""LiteLLM: a callback that decides what each call of a model gets, for the SDK and the proxy.

    context = weir.Context(policy="lean")
    litellm.callbacks = [WeirCallback(context)]
    await litellm.acompletion(tools=[*tools, context.tool.chat()], ...)

The SDK asks its callbacks in its async calls alone; the sync ones go as they came. In the proxy
(`litellm_settings: callbacks`) all calls are asked for.
"""
from __future__ import annotations

import asyncio
from typing import Any, Dict, Optional

from litellm.integrations.custom_logger import CustomLogger

from .._context import Context


def _plain(message: Any) -> Any:
    return message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message


class WeirCallback(CustomLogger):
    """`context` has engine, store and policy; without one, `options` are those of weir.Context."""

    def __init__(self, context: Optional[Context] = None, **options: Any) -> None:
        super().__init__()
        self.context = context if context is not None else Context(**options)

    def _projected(self, given: Dict[str, Any]) -> Dict[str, Any]:
        body = {"model": str(given.get("model") or "unknown").rsplit("/", 1)[-1],
                "tools": given.get("tools") or []}
        member = "messages" if given.get("messages") else "input"
        if not isinstance(given.get(member), list):
            return given
        body[member] = [_plain(message) for message in given[member]]
        projected = self.context.project(
            body, dialect="chat" if member == "messages" else "responses")
        return {**given, member: projected.request()[member]} if projected.is_changed else given

    async def async_pre_call_deployment_hook(self, kwargs: Dict[str, Any], call_type: Any
                                             ) -> Optional[Dict[str, Any]]:
        return await asyncio.to_thread(self._projected, kwargs)

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Dict[str, Any],
                                  call_type: Any) -> Dict[str, Any]:
        return await asyncio.to_thread(self._projected, data)

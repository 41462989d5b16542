"""LangChain and deepagents: middleware that decides what each call of the model gets.

    context = weir.Context(policy="lean")
    agent = create_agent(model, tools=tools, middleware=[WeirMiddleware(context)])
    agent = create_deep_agent(model=model, tools=tools, middleware=[WeirMiddleware(context)])

The middleware brings weir_recall as a tool. The agent's state keeps every message whole: what is
changed is what is sent. Models that sign their thinking are shown to the library in Anthropic's own
form, so that it knows what is bound to what.
"""
from __future__ import annotations

import asyncio
import json
from typing import Any, Awaitable, Callable, Dict, List, Optional

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import (AIMessage, BaseMessage, HumanMessage, SystemMessage,
                                     ToolMessage, convert_to_openai_messages)
from langchain_core.tools import StructuredTool

from .._context import Context
from . import _align


def recall_tool(context: Context) -> StructuredTool:
    def weir_recall(**arguments: Any) -> str:
        return context.tool.run(arguments)
    return StructuredTool.from_function(
        weir_recall, name=context.tool.name, description=context.tool.description,
        args_schema=context.tool.schema, infer_schema=False)


def _name_of(tool: Any) -> Optional[str]:
    if isinstance(tool, dict):
        return tool.get("name") or tool.get("function", {}).get("name")
    return getattr(tool, "name", None)


def _model_of(model: Any) -> str:
    return str(getattr(model, "model_name", None) or getattr(model, "model", None) or "unknown")


# ---- as Chat Completions ----

def _changed_chat(message: BaseMessage, chat: Dict[str, Any]) -> BaseMessage:
    update: Dict[str, Any] = {"content": chat.get("content") or ""}
    if isinstance(message, AIMessage) and message.tool_calls:
        given = {call["id"]: call["function"]["arguments"] for call in chat.get("tool_calls", ())}
        update["tool_calls"] = [
            {**call, "args": json.loads(given.get(call["id"] or "", "{}"))}
            for call in message.tool_calls]
    return message.model_copy(update=update)


def _new_message(chat: Dict[str, Any]) -> BaseMessage:
    kind = {"assistant": AIMessage, "system": SystemMessage}.get(chat["role"], HumanMessage)
    return kind(content=chat["content"])


def _through_chat(context: Context, request: Any, head: Dict[str, Any]) -> List[BaseMessage]:
    originals = list(request.messages)
    before = convert_to_openai_messages(originals)
    system = ([{"role": "system", "content": request.system_prompt}]
              if getattr(request, "system_prompt", None) else [])
    body = {**head, "messages": [*system, *before], "tools": [
        {"type": "function", "function": {"name": name}}
        for name in map(_name_of, request.tools) if name]}
    projected = context.project(body, dialect="chat")
    if not projected.is_changed:
        return originals
    after = projected.request()["messages"][len(system):]
    return _align.rebuild(originals, before, after, _changed_chat, _new_message)


# ---- as Anthropic's Messages ----

def _blocks(content: Any) -> List[Dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _as_messages(originals: List[BaseMessage]) -> List[Dict[str, Any]]:
    """Anthropic's messages, results of one turn together."""
    result: List[Dict[str, Any]] = []
    was_result = False
    for message in originals:
        if isinstance(message, ToolMessage):
            block = {"type": "tool_result", "tool_use_id": message.tool_call_id,
                     "content": message.content}
            if was_result:
                result[-1]["content"].append(block)
            else:
                result.append({"role": "user", "content": [block]})
        elif isinstance(message, AIMessage):
            blocks = _blocks(message.content) if message.content else []
            named = {block.get("id") for block in blocks if block.get("type") == "tool_use"}
            blocks += [{"type": "tool_use", "id": call["id"], "name": call["name"],
                        "input": call["args"]} for call in message.tool_calls
                       if call["id"] not in named]
            result.append({"role": "assistant", "content": blocks})
        else:
            result.append({"role": "user", "content": message.content})
        was_result = isinstance(message, ToolMessage)
    return result


def _changed_signed(message: BaseMessage, chat: Dict[str, Any]) -> BaseMessage:
    """Texts of results and arguments of calls, and which thinking is left."""
    if not isinstance(message, AIMessage) or isinstance(message.content, str):
        return _changed_chat(message, chat)
    given = {call["id"]: json.loads(call["function"]["arguments"])
             for call in chat.get("tool_calls", ())}
    content = []
    for block in message.content:
        if isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking"):
            if (block.get("signature") or block.get("data")) not in chat["signed"]:
                continue
        elif isinstance(block, dict) and block.get("type") == "tool_use":
            block = {**block, "input": given.get(block["id"], block.get("input"))}
        content.append(block)
    return message.model_copy(update={"content": content, "tool_calls": [
        {**call, "args": given.get(call["id"], call["args"])} for call in message.tool_calls]})


def _through_messages(context: Context, request: Any, head: Dict[str, Any]) -> List[BaseMessage]:
    originals = list(request.messages)
    messages = _as_messages(originals)
    body = {**head, "max_tokens": 1, "messages": messages, "tools": [
        {"name": name, "input_schema": {"type": "object"}}
        for name in map(_name_of, request.tools) if name]}
    if getattr(request, "system_prompt", None):
        body["system"] = request.system_prompt
    projected = context.project(body, dialect="messages")
    if not projected.is_changed:
        return originals
    return _align.rebuild(originals, _align.chat_of(messages),
                          _align.chat_of(projected.request()["messages"]), _changed_signed,
                          _new_message)


class WeirMiddleware(AgentMiddleware):
    """`context` has engine, store and policy; without one, `options` are those of weir.Context."""

    def __init__(self, context: Optional[Context] = None, **options: Any) -> None:
        super().__init__()
        self.context = context if context is not None else Context(**options)
        self.tools = [recall_tool(self.context)]

    def _projected(self, request: Any) -> Any:
        head = {"model": _model_of(request.model)}
        through = (_through_messages if type(request.model).__module__.startswith(
            "langchain_anthropic") else _through_chat)
        return request.override(messages=through(self.context, request, head))

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(self._projected(request))

    async def awrap_model_call(self, request: Any,
                               handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(await asyncio.to_thread(self._projected, request))

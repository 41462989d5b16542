"""pydantic-ai: what each call of the model gets, decided before the request; and recall as a tool.

    context = weir.Context(policy="lean")
    agent = Agent(model, tools=[*tools, recall_tool(context)], capabilities=[WeirHistory(context)])

WeirHistory leaves the history of the run whole. `history_processor(context)` is the same for
ProcessHistory (or `history_processors` of earlier versions), which puts what it gives into the
history too.
"""
from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, Awaitable, Callable, Dict, List, Optional, Tuple

from pydantic_ai import Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (ModelMessage, ModelRequest, ModelResponse, RetryPromptPart,
                                  SystemPromptPart, TextPart, ThinkingPart, ToolCallPart,
                                  ToolReturnPart, UserPromptPart)

from .._context import Context
from . import _align

Place = Tuple[int, int]  # of a message, and of a part in it; -1: all of a response


def recall_tool(context: Context) -> "Tool[Any]":
    def weir_recall(**arguments: Any) -> str:
        return context.tool.run(arguments)
    return Tool.from_schema(weir_recall, name=context.tool.name,
                            description=context.tool.description,
                            json_schema=context.tool.schema)


def _result_text(part: Any) -> str:
    return part.model_response() if isinstance(part, RetryPromptPart) else part.model_response_str()


def _user_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(item if isinstance(item, str) else f"[{type(item).__name__}]"
                     for item in content)


def _request_part(part: Any) -> Optional[Dict[str, Any]]:
    if isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name:
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": _result_text(part)}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": _user_text(part.content)}
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    return None


def _response(message: ModelResponse) -> Dict[str, Any]:
    text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
    calls = [{"id": part.tool_call_id, "type": "function", "function": {
        "name": part.tool_name, "arguments": part.args_as_json_str()}}
        for part in message.parts if isinstance(part, ToolCallPart)]
    return {"role": "assistant", "content": text or None,
            **({"tool_calls": calls} if calls else {})}


def _as_chat(messages: List[ModelMessage]) -> Tuple[List[Dict[str, Any]], List[Place]]:
    chat: List[Dict[str, Any]] = []
    places: List[Place] = []
    for at, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            chat.append(_response(message))
            places.append((at, -1))
            continue
        for n, part in enumerate(message.parts):
            read = _request_part(part)
            if read is not None:
                chat.append(read)
                places.append((at, n))
    return chat, places


def _new_message(chat: Dict[str, Any]) -> ModelMessage:
    if chat["role"] == "assistant":
        return ModelResponse(parts=[TextPart(chat["content"])])
    return ModelRequest(parts=[UserPromptPart(chat["content"])])


def _changed_response(message: ModelResponse, chat: Dict[str, Any]) -> ModelResponse:
    given = {call["id"]: call["function"]["arguments"] for call in chat.get("tool_calls", ())}
    left = chat.get("signed")
    return dataclasses.replace(message, parts=[
        dataclasses.replace(part, args=given.get(part.tool_call_id, part.args))
        if isinstance(part, ToolCallPart) else part for part in message.parts
        if left is None or not _signature(part) or _signature(part) in left])


def _from_chat(messages: List[ModelMessage], before: List[Dict[str, Any]], places: List[Place],
               after: List[Dict[str, Any]]) -> List[ModelMessage]:
    result: List[Any] = []
    open_at = -1  # the request whose parts are being put together
    for index, chat in _align.align(before, after):
        if index is None:
            result.append(_new_message(chat))
            open_at = -1
            continue
        at, n = places[index]
        message = messages[at]
        if n < 0:
            result.append(message if chat == before[index] else _changed_response(message, chat))
            open_at = -1
            continue
        part = message.parts[n]
        if chat != before[index]:
            part = dataclasses.replace(part, content=chat["content"])
        if open_at != at:
            result.append(dataclasses.replace(message, parts=[]))
            open_at = at
        result[-1].parts.append(part)
    return result


# ---- models that sign their thinking ----

def _signature(part: Any) -> Optional[str]:
    return part.signature if isinstance(part, ThinkingPart) else None


def _as_messages(messages: List[ModelMessage]) -> List[Dict[str, Any]]:
    result: List[Dict[str, Any]] = []
    for message in messages:
        blocks: List[Dict[str, Any]] = []
        for part in message.parts:
            if isinstance(part, ThinkingPart) and part.signature:
                blocks.append({"type": "thinking", "thinking": part.content,
                               "signature": part.signature})
            elif isinstance(part, (TextPart, UserPromptPart)) and part.content:
                blocks.append({"type": "text", "text": _user_text(part.content)})
            elif isinstance(part, ToolCallPart):
                blocks.append({"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name,
                               "input": part.args_as_dict()})
            elif isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name:
                blocks.append({"type": "tool_result", "tool_use_id": part.tool_call_id,
                               "content": _result_text(part)})
        result.append({"role": "assistant" if isinstance(message, ModelResponse) else "user",
                       "content": blocks})
    return result


def _projected(context: Context, messages: List[ModelMessage], model: str,
               tools: List[str]) -> List[ModelMessage]:
    before, places = _as_chat(messages)
    if any(_signature(part) for message in messages for part in message.parts):
        system = [chat for chat in before if chat["role"] == "system"]
        signed = _as_messages(messages)
        body: Dict[str, Any] = {
            "model": model, "max_tokens": 1, "messages": signed,
            "tools": [{"name": name, "input_schema": {"type": "object"}} for name in tools]}
        projected = context.project(body, dialect="messages")
        if projected.is_changed and not any(chat["role"] == "system" for chat in before[1:]):
            return _from_chat(messages, [*system, *_align.chat_of(signed)], places,
                              [*system, *_align.chat_of(projected.request()["messages"])])
        return messages
    body = {"model": model, "messages": before,
            "tools": [{"type": "function", "function": {"name": name}} for name in tools]}
    projected = context.project(body, dialect="chat")
    return (_from_chat(messages, before, places, projected.request()["messages"])
            if projected.is_changed else messages)


def history_processor(context: Context, *, model: str = "unknown"
                      ) -> Callable[[List[ModelMessage]], Awaitable[List[ModelMessage]]]:
    async def process(messages: List[ModelMessage]) -> List[ModelMessage]:
        return await asyncio.to_thread(_projected, context, messages, model, [context.tool.name])
    return process


class WeirHistory(AbstractCapability[Any]):
    """Changes what is sent, not what is kept."""

    def __init__(self, context: Optional[Context] = None, **options: Any) -> None:
        self.context = context if context is not None else Context(**options)

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        parameters = request_context.model_request_parameters
        tools = [tool.name for tool in getattr(parameters, "function_tools", ())]
        name = getattr(request_context.model, "model_name", None) or "unknown"
        request_context.messages = await asyncio.to_thread(
            _projected, self.context, list(request_context.messages), name, tools)
        return request_context

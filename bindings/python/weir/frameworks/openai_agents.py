"""The OpenAI Agents SDK: a filter of what each call of the model gets, and recall as a tool.

    context = weir.Context(policy="lean")
    agent = Agent(name="worker", tools=[*tools, recall_tool(context)])
    how = RunConfig(call_model_input_filter=input_filter(context))
    await Runner.run(agent, task, run_config=how)

The session of the SDK keeps the whole history: the filter changes what is sent, not what is kept.
"""
from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict, List

from agents import FunctionTool
from agents.run import CallModelData, ModelInputData

from .._context import Context


def recall_tool(context: Context) -> FunctionTool:
    async def invoke(_context: Any, arguments: str) -> str:
        return await asyncio.to_thread(context.tool.run, arguments)
    return FunctionTool(name=context.tool.name, description=context.tool.description,
                        params_json_schema=context.tool.schema, on_invoke_tool=invoke,
                        strict_json_schema=False)


def _model_of(agent: Any) -> str:
    model = getattr(agent, "model", None)
    return model if isinstance(model, str) else str(getattr(model, "model", "") or "unknown")


def _body_of(data: "CallModelData[Any]") -> Dict[str, Any]:
    tools = [{"type": "function", "name": tool.name} for tool in getattr(data.agent, "tools", ())
             if getattr(tool, "name", None)]
    items = [item if isinstance(item, dict) else item.model_dump(exclude_unset=True)
             for item in data.model_data.input]
    body: Dict[str, Any] = {"model": _model_of(data.agent), "input": items, "tools": tools}
    if data.model_data.instructions:
        body["instructions"] = data.model_data.instructions
    return body


def _item(item: Any, known: List[Any]) -> Any:
    """A message that the library put in, in the form that every model of the SDK takes."""
    if item in known or not isinstance(item.get("content"), list):
        return item
    return {"role": item["role"], "content": "".join(part["text"] for part in item["content"])}


def input_filter(context: Context) -> Callable[["CallModelData[Any]"], Awaitable[ModelInputData]]:
    async def filtered(data: "CallModelData[Any]") -> ModelInputData:
        given = _body_of(data)
        projected = await asyncio.to_thread(context.project, given, dialect="responses")
        if not projected.is_changed:
            return data.model_data
        items = [_item(item, given["input"]) for item in projected.request()["input"]]
        return ModelInputData(input=items, instructions=data.model_data.instructions)
    return filtered

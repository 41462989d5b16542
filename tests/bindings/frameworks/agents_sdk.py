"""The OpenAI Agents SDK; with call_model_input_filter."""
import asyncio
import json

from agents import (Agent, FunctionTool, OpenAIChatCompletionsModel, OpenAIResponsesModel,
                    RunConfig, Runner, set_tracing_disabled)
from openai import AsyncOpenAI

from common import API, BASE, CONTEXT, IS_STREAM, TASKS, TOOLS, end

set_tracing_disabled(True)
KINDS = {'chat': OpenAIChatCompletionsModel, 'responses': OpenAIResponsesModel}


def offered(tool):
    async def invoke(_context, arguments):
        return tool.run(**json.loads(arguments))
    return FunctionTool(name=tool.name, description=tool.description, strict_json_schema=False,
                        params_json_schema=tool.schema, on_invoke_tool=invoke)


async def main():
    tools, how = [offered(tool) for tool in TOOLS], RunConfig()
    if CONTEXT is not None:
        from weir.frameworks.openai_agents import input_filter, recall_tool
        tools.append(recall_tool(CONTEXT))
        how = RunConfig(call_model_input_filter=input_filter(CONTEXT))
    client = AsyncOpenAI(base_url=BASE + '/v1', api_key='k')
    agent = Agent(name='worker', model=KINDS[API](model='gpt-5', openai_client=client),
                  tools=tools)
    history = []
    for task in TASKS:
        history.append({'role': 'user', 'content': task})
        if IS_STREAM:
            result = Runner.run_streamed(agent, history, max_turns=40, run_config=how)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, history, max_turns=40, run_config=how)
        history = result.to_input_list()
    end(result.final_output)

asyncio.run(main())

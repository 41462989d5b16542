"""A tool loop of openai-agents: agents_sdk.py BASE_URL API-HOW"""
import asyncio
import json

from agents import (Agent, FunctionTool, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner,
                    set_tracing_disabled)
from openai import AsyncOpenAI

from loop import API, BASE, IS_STREAM, TASKS, TOOLS, report

set_tracing_disabled(True)
CLIENT = AsyncOpenAI(base_url=BASE + '/v1', api_key='k')
KINDS = {'chat': OpenAIChatCompletionsModel, 'responses': OpenAIResponsesModel}


def offered(tool):
    async def invoke(_context, arguments):
        return tool.run(**json.loads(arguments))
    return FunctionTool(name=tool.name, description=tool.description, strict_json_schema=False,
                        params_json_schema=tool.schema, on_invoke_tool=invoke)


async def main():
    agent = Agent(name='worker', model=KINDS[API](model='gpt-5', openai_client=CLIENT),
                  tools=[offered(tool) for tool in TOOLS])
    seen, history = [], []
    for task in TASKS:
        history.append({'role': 'user', 'content': task})
        if IS_STREAM:
            result = Runner.run_streamed(agent, history, max_turns=40)
            async for event in result.stream_events():
                seen.append(event)
        else:
            result = await Runner.run(agent, history, max_turns=40)
        history = result.to_input_list()
        seen += result.raw_responses
    report([seen, history], result.final_output)

asyncio.run(main())

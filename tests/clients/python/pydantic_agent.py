"""A tool loop of pydantic-ai: pydantic_agent.py BASE_URL API-HOW"""
import asyncio

from pydantic_ai import Agent, Tool
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from loop import API, BASE, IS_STREAM, TASKS, TOOLS, report


def model():
    if API == 'messages':
        return AnthropicModel('claude-opus-5-5',
                              provider=AnthropicProvider(base_url=BASE, api_key='k'))
    kind = {'chat': OpenAIChatModel, 'responses': OpenAIResponsesModel}[API]
    return kind('gpt-5', provider=OpenAIProvider(base_url=BASE + '/v1', api_key='k'))


async def main():
    seen = []

    async def handle(_context, events):
        async for event in events:
            seen.append(event)
    agent = Agent(model(), tools=[
        Tool.from_schema(tool.run, name=tool.name, description=tool.description,
                         json_schema=tool.schema) for tool in TOOLS])
    history = []
    for task in TASKS:
        result = await agent.run(task, message_history=history,
                                 event_stream_handler=handle if IS_STREAM else None)
        history = result.all_messages()
    report([seen, history], result.output)

asyncio.run(main())

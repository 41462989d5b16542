"""pydantic-ai; with a capability that processes the history."""
import asyncio

from pydantic_ai import Agent, Tool
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from common import API, BASE, CONTEXT, TASKS, TOOLS, end


def model():
    if API == 'messages':
        return AnthropicModel('claude-opus-5-5',
                              provider=AnthropicProvider(base_url=BASE, api_key='k'))
    return OpenAIChatModel('gpt-5', provider=OpenAIProvider(base_url=BASE + '/v1', api_key='k'))


async def main():
    tools = [Tool.from_schema(tool.run, name=tool.name, description=tool.description,
                              json_schema=tool.schema) for tool in TOOLS]
    capabilities = []
    if CONTEXT is not None:
        from weir.frameworks.pydantic_ai import WeirHistory, recall_tool
        tools.append(recall_tool(CONTEXT))
        capabilities.append(WeirHistory(CONTEXT))
    agent = Agent(model(), tools=tools, capabilities=capabilities)
    history = []
    for task in TASKS:
        result = await agent.run(task, message_history=history)
        history = result.all_messages()
    end(result.output)

asyncio.run(main())

"""LangChain's create_agent() and deepagents' create_deep_agent(); with middleware."""
import sys

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI

from common import API, BASE, CONTEXT, IS_STREAM, TASKS, TOOLS, end


def model():
    if API == 'messages':
        return ChatAnthropic(model='claude-opus-5-5', base_url=BASE, api_key='k', max_tokens=1000,
                             streaming=IS_STREAM)
    return ChatOpenAI(model='gpt-5', base_url=BASE + '/v1', api_key='k', streaming=IS_STREAM)


def main():
    middleware = []
    if CONTEXT is not None:
        from weir.frameworks.langchain import WeirMiddleware
        middleware = [WeirMiddleware(CONTEXT)]
    tools = [StructuredTool.from_function(tool.run, name=tool.name, description=tool.description,
                                          args_schema=tool.schema, infer_schema=False)
             for tool in TOOLS]
    if 'deep' in sys.argv[4:]:
        from deepagents import create_deep_agent
        agent = create_deep_agent(model=model(), tools=tools, middleware=middleware)
    else:
        agent = create_agent(model(), tools=tools, middleware=middleware)
    history = []
    for task in TASKS:
        history.append({'role': 'user', 'content': task})
        history = agent.invoke({'messages': history}, {'recursion_limit': 200})['messages']
    end(history[-1].text if isinstance(history[-1].text, str) else history[-1].text())


main()

"""A tool loop of LangChain: langchain_agent.py BASE_URL API-HOW"""
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI

from loop import API, BASE, IS_STREAM, TASKS, TOOLS, report


def model():
    if API == 'messages':
        return ChatAnthropic(model='claude-opus-5-5', base_url=BASE, api_key='k', max_tokens=1000,
                             streaming=IS_STREAM)
    return ChatOpenAI(model='gpt-5', base_url=BASE + '/v1', api_key='k', streaming=IS_STREAM,
                      stream_usage=IS_STREAM, use_responses_api=API == 'responses',
                      **({'store': False, 'include': ['reasoning.encrypted_content']}
                         if API == 'responses' else {}))


def main():
    agent = create_agent(model(), tools=[
        StructuredTool.from_function(tool.run, name=tool.name, description=tool.description,
                                     args_schema=tool.schema, infer_schema=False)
        for tool in TOOLS])
    history = []
    for task in TASKS:
        history.append({'role': 'user', 'content': task})
        history = agent.invoke({'messages': history}, {'recursion_limit': 100})['messages']
    report(history, history[-1].text)


main()

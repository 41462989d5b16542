"""A tool loop by Google's Agent Development Kit: adk_agent.py BASE_URL gemini-HOW (its SDK takes
the address from the variable GOOGLE_GEMINI_BASE_URL)"""
import asyncio
import os

from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types

from loop import IS_STREAM, TASKS, TOOLS, report, run


def run_query(path: str) -> dict:
    """Brings a text."""
    return {'status': 'success', 'report': run(os.environ['TOOL'], {'path': path})}


def weir_recall(handle: str, lines: str) -> str:
    """Gives back what was left out."""
    return run('weir_recall', {'handle': handle, 'lines': lines})


async def main():
    agent = Agent(name='reader', model='gemini-3.8-flash', instruction='You read texts.',
                  tools=[run_query, weir_recall][:len(TOOLS)])
    runner = InMemoryRunner(agent=agent, app_name='reading')
    session = await runner.session_service.create_session(app_name='reading', user_id='u')
    how = RunConfig(streaming_mode=StreamingMode.SSE if IS_STREAM else StreamingMode.NONE)
    seen, words = [], ''
    for task in TASKS:
        message = types.Content(role='user', parts=[types.Part(text=task)])
        async for event in runner.run_async(user_id='u', session_id=session.id,
                                            new_message=message, run_config=how):
            seen.append(event)
            if event.content and not event.partial:
                words = ''.join(part.text or '' for part in event.content.parts or []) or words
    report(seen, words)


asyncio.run(main())

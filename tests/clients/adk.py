"""A tool loop of Google's Agent Development Kit: adk.py BASE_URL (which its SDK takes from the
variable GOOGLE_GEMINI_BASE_URL)"""
import asyncio

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner
from google.genai import types

READ = []


def read_file(path: str) -> dict:
    """Reads a file."""
    n = len(READ) + 1
    READ.append(path)
    text = '\n'.join(f'def function_{n}_{i}(value):\n    total = value + {i}\n'
                     f'    return total * {n}\n' for i in range(300))
    return {'status': 'success', 'report': text}


def weir_recall(handle: str) -> str:
    """Gives back what was left out."""
    return handle


async def main():
    agent = Agent(name='reader', model='gemini-3.8-flash', instruction='You read files.',
                  tools=[read_file, weir_recall])
    runner = InMemoryRunner(agent=agent, app_name='reading')
    session = await runner.session_service.create_session(app_name='reading', user_id='u')
    words = types.Content(role='user', parts=[types.Part(text='[turns 8] Fix the bug.')])
    async for event in runner.run_async(user_id='u', session_id=session.id, new_message=words):
        for part in (event.content.parts or []) if event.content else []:
            if part.text:
                print(part.text)


asyncio.run(main())

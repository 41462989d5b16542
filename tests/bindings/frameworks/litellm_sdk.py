"""The LiteLLM SDK; with a callback."""
import asyncio

import litellm

from common import BASE, CONTEXT, TASKS, TOOLS, end, run

litellm.telemetry = False


async def main():
    tools = [{'type': 'function', 'function': {
        'name': tool.name, 'description': tool.description, 'parameters': tool.schema}}
        for tool in TOOLS]
    if CONTEXT is not None:
        from weir.frameworks.litellm import WeirCallback
        litellm.callbacks = [WeirCallback(CONTEXT)]
        tools.append(CONTEXT.tool.chat())
    messages, left = [{'role': 'user', 'content': TASKS[0]}], TASKS[1:]
    while True:
        answer = await litellm.acompletion(messages=messages, tools=tools, api_key='k',
                                           model='openai/gpt-5', api_base=BASE + '/v1')
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls and not left:
            return end(message.content)
        if not message.tool_calls:
            messages.append({'role': 'user', 'content': left.pop(0)})
        for call in message.tool_calls or []:
            name, arguments = call.function.name, call.function.arguments
            is_ours = CONTEXT is not None and name == CONTEXT.tool.name
            messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': (
                CONTEXT.tool.run(arguments) if is_ours else run(name, arguments))})

asyncio.run(main())

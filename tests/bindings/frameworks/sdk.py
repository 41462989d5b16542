"""Loops of one's own over the OpenAI and Anthropic SDKs; with weir.wrap()."""
import asyncio

import anthropic
import openai

from common import API, BASE, CONTEXT, IS_STREAM, TASKS, TOOLS, end, run


def wrapped(client):
    if CONTEXT is None:
        return client
    import weir
    return weir.wrap(client, CONTEXT)


def answer_of(name, arguments):
    if CONTEXT is not None and name == CONTEXT.tool.name:
        return CONTEXT.tool.run(arguments)
    return run(name, arguments)


def chat():
    client = wrapped(openai.OpenAI(base_url=BASE + '/v1', api_key='k'))
    tools = [{'type': 'function', 'function': {
        'name': tool.name, 'description': tool.description, 'parameters': tool.schema}}
        for tool in TOOLS] + ([CONTEXT.tool.chat()] if CONTEXT else [])
    messages, left = [{'role': 'user', 'content': TASKS[0]}], TASKS[1:]
    while True:
        if IS_STREAM:
            with client.chat.completions.stream(model='gpt-5', messages=messages,
                                                tools=tools) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model='gpt-5', messages=messages,
                                                     tools=tools).choices[0].message
        messages.append(message.model_dump(exclude_none=True, exclude={'parsed'}))
        for call in messages[-1].get('tool_calls') or []:
            call['function'].pop('parsed_arguments', None)
        if not message.tool_calls and not left:
            return message.content
        if not message.tool_calls:
            messages.append({'role': 'user', 'content': left.pop(0)})
        for call in message.tool_calls or []:
            messages.append({'role': 'tool', 'tool_call_id': call.id,
                             'content': answer_of(call.function.name, call.function.arguments)})


async def responses():
    client = wrapped(openai.AsyncOpenAI(base_url=BASE + '/v1', api_key='k'))
    tools = [{'type': 'function', 'name': tool.name, 'description': tool.description,
              'parameters': tool.schema, 'strict': False}
             for tool in TOOLS] + ([CONTEXT.tool.responses()] if CONTEXT else [])
    items, left = [{'role': 'user', 'content': TASKS[0]}], TASKS[1:]
    while True:
        answer = await client.responses.create(model='gpt-5', input=items, tools=tools,
                                               store=False)
        items += [item.model_dump(exclude_none=True) for item in answer.output]
        calls = [item for item in answer.output if item.type == 'function_call']
        if not calls and not left:
            return answer.output_text
        if not calls:
            items.append({'role': 'user', 'content': left.pop(0)})
        for call in calls:
            items.append({'type': 'function_call_output', 'call_id': call.call_id,
                          'output': answer_of(call.name, call.arguments)})


def messages():
    client = wrapped(anthropic.Anthropic(base_url=BASE, api_key='k'))
    tools = [{'name': tool.name, 'description': tool.description, 'input_schema': tool.schema}
             for tool in TOOLS] + ([CONTEXT.tool.messages()] if CONTEXT else [])
    history, left = [{'role': 'user', 'content': TASKS[0]}], TASKS[1:]
    while True:
        asked = {'model': 'claude-opus-5-5', 'max_tokens': 1000, 'messages': history,
                 'tools': tools}
        if IS_STREAM:
            with client.messages.stream(**asked) as stream:
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(**asked)
        history.append({'role': 'assistant', 'content': [
            block.model_dump(exclude_none=True, exclude={'parsed_output'})
            for block in answer.content]})
        calls = [block for block in answer.content if block.type == 'tool_use']
        if not calls and not left:
            return answer.content[-1].text
        history.append({'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': call.id,
             'content': answer_of(call.name, call.input)} for call in calls] or left.pop(0)})


end({'chat': chat, 'messages': messages}[API]() if API != 'responses' else asyncio.run(responses()))

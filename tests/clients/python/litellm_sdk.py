"""A tool loop by the LiteLLM SDK: litellm_sdk.py BASE_URL API-HOW"""
import litellm

from loop import API, BASE, IS_STREAM, TASKS, TOOLS, report, run

litellm.telemetry = False
# A model without signed thinking: its helper for streams changes that, and is refused without Weir.
SHAPE = ({'model': 'anthropic/claude-sonnet-4-5', 'api_base': BASE, 'max_tokens': 1000}
         if API == 'messages' else {'model': 'openai/gpt-5', 'api_base': BASE + '/v1'})


def complete():
    tools = [{'type': 'function', 'function': {
        'name': tool.name, 'description': tool.description, 'parameters': tool.schema}}
        for tool in TOOLS]
    messages, seen, left = [{'role': 'user', 'content': TASKS[0]}], [], TASKS[1:]
    while True:
        answer = litellm.completion(messages=messages, tools=tools, api_key='k', stream=IS_STREAM,
                                    **SHAPE)
        if IS_STREAM:
            chunks = list(answer)
            seen += chunks
            answer = litellm.stream_chunk_builder(chunks, messages=messages)
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls and not left:
            return report([seen, messages], message.content)
        if not message.tool_calls:
            messages.append({'role': 'user', 'content': left.pop(0)})
        for call in message.tool_calls or []:
            messages.append({'role': 'tool', 'tool_call_id': call.id,
                             'content': run(call.function.name, call.function.arguments)})


def respond():
    tools = [{'type': 'function', 'name': tool.name, 'description': tool.description,
              'parameters': tool.schema} for tool in TOOLS]
    items, seen, left = [{'role': 'user', 'content': TASKS[0]}], [], TASKS[1:]
    while True:
        answer = litellm.responses(input=items, tools=tools, api_key='k', stream=IS_STREAM,
                                   store=False, **SHAPE)
        if IS_STREAM:
            events = list(answer)
            seen += events
            answer = events[-1].response
        output = [item if isinstance(item, dict) else item.model_dump(exclude_none=True)
                  for item in answer.output]
        items += output
        calls = [item for item in output if item['type'] == 'function_call']
        if not calls and not left:
            return report([seen, items], output[-1]['content'][0]['text'])
        if not calls:
            items.append({'role': 'user', 'content': left.pop(0)})
        for call in calls:
            items.append({'type': 'function_call_output', 'call_id': call['call_id'],
                          'output': run(call['name'], call['arguments'])})


respond() if API == 'responses' else complete()

"""A tool loop by Ollama's package: ollama_sdk.py BASE_URL ollama-HOW"""
import ollama

from loop import BASE, IS_STREAM, TASKS, TOOLS, report, run

CLIENT = ollama.Client(host=BASE)
OFFERED = [{'type': 'function', 'function': {
    'name': tool.name, 'description': tool.description, 'parameters': tool.schema}}
    for tool in TOOLS]


def ask(messages):
    answer = CLIENT.chat(model='qwen3', messages=messages, tools=OFFERED, stream=IS_STREAM)
    if not IS_STREAM:
        return answer.message
    whole = ollama.Message(role='assistant', content='', tool_calls=[])
    for chunk in answer:
        whole.content += chunk.message.content or ''
        whole.tool_calls = [*whole.tool_calls, *(chunk.message.tool_calls or [])]
    return whole


left = list(TASKS)
history = [{'role': 'user', 'content': left.pop(0)}]
while True:
    message = ask(history)
    history.append(message)
    if not message.tool_calls and not left:
        break
    if not message.tool_calls:
        history.append({'role': 'user', 'content': left.pop(0)})
    for call in message.tool_calls or []:
        history.append({'role': 'tool', 'tool_name': call.function.name,
                        'content': run(call.function.name, dict(call.function.arguments))})
report(history, message.content)

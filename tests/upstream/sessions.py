"""Sessions as agents send them, and the proxy that serves them here."""
import json
import os

from harness import Checks, Weir

CHECK = Checks()
ok = CHECK.ok
ANTHROPIC = {'anthropic-version': '2023-06-01', 'x-api-key': 'k'}
TOOL = {'name': 'read_file', 'description': 'reads', 'input_schema': {'type': 'object'}}
RECALL = {'name': 'weir_recall', 'description': 'recalls', 'input_schema': {'type': 'object'}}


def chat_tools():
    return [{'type': 'function', 'function': {'name': t['name'], 'parameters': {'type': 'object'}}}
            for t in (TOOL, RECALL)]


def response_tools():
    return [{'type': 'function', 'name': t['name'], 'parameters': {'type': 'object'}}
            for t in (TOOL, RECALL)]


def listing(n, lines=150):
    return ''.join(f'src/folder_{n}/module_{i}.py\n' for i in range(lines))


def file_text(n, lines=120):
    return ''.join(f'def function_{n}_{i}(value):  # line {i} of file {n}\n' for i in range(lines))


def chat_session(turns, words='Find the bug.', model='gpt-4o-mini'):
    messages = [{'role': 'system', 'content': 'You fix bugs.'}, {'role': 'user', 'content': words}]
    for n in range(turns):
        messages.append({'role': 'assistant', 'content': None, 'tool_calls': [
            {'id': f'call_{n}', 'type': 'function', 'function': {
                'name': 'read_file', 'arguments': json.dumps({'path': f'src/f{n}.py'})}}]})
        messages.append({'role': 'tool', 'tool_call_id': f'call_{n}', 'content': file_text(n)})
    return {'model': model, 'messages': messages, 'tools': chat_tools()}


# Long results are cut on arrival, whatever the window: what a short session can show.
POLICIES = """policies:
  short:
    what: results are cut on arrival
    stages:
      - {stage: cap, max_tokens: 300, keep: head}
  deeper:
    what: older results change whenever the cache has expired
    stages:
      - {stage: deepen, keep_turns: 1, margin_pct: 100000}
"""


def write_policies(folder, policies=POLICIES):
    path = os.path.join(folder, 'policies.yaml')
    with open(path, 'w', encoding='ascii') as file:
        file.write(policies)
    return path


def serve(folder, upstream, *arguments, policies=POLICIES, **more):
    path = write_policies(folder, policies)
    config = f'listen: 127.0.0.1:0\npolicies: {path}\npolicy: short\n'
    return Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', *arguments,
                config=config, **more)


def play(weir, session, headers):
    """Sends a session as an agent does, a turn at a time; gives the status of the last request."""
    status = 0
    for count in range(2, len(session['messages']) + 1, 2):
        body = {**session, 'messages': session['messages'][:count]}
        status = weir.post('/v1/chat/completions', body, headers)[0]
    return status

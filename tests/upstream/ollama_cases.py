#!/usr/bin/env python3
"""Ollama's own API through the proxy: its path, its lines, and what is changed."""
import json
import os
import subprocess
import sys

from harness import Folder, Upstream, Weir, deaf_port, wait_for
from sessions import CHECK, file_text, ok, write_policies

TOOLS = [{'type': 'function', 'function': {'name': name, 'parameters': {
    'type': 'object', 'properties': {key: {'type': 'string'}}}}}
    for name, key in (('read_file', 'path'), ('weir_recall', 'handle'))]


def session(turns, words='Find the bug.', names_tools=True):
    messages = [{'role': 'system', 'content': 'You fix bugs.'}, {'role': 'user', 'content': words}]
    for n in range(turns):
        messages.append({'role': 'assistant', 'content': '', 'thinking': f'hm {n}', 'tool_calls': [
            {'function': {'name': 'read_file', 'arguments': {'path': f'src/f{n}.py'}}}]})
        messages.append({'role': 'tool', 'content': file_text(n),
                         **({'tool_name': 'read_file'} if names_tools else {})})
    return {'model': 'qwen3', 'messages': messages, 'tools': TOOLS, 'options': {'temperature': 0}}


def post(weir, body, name):
    status, data, head = weir.post('/api/chat', body, {'x-weir-session': name})
    return status, data, head, wait_for(lambda: next((
        line for line in weir.log_lines() if line.get('session') == 'weir:' + name), None))


def serve(folder, upstream):
    return Weir(folder, config=f'''listen: 127.0.0.1:0
policies: {write_policies(folder)}
policy: short
upstreams:
  ollama: {{base_url: "http://127.0.0.1:{upstream.port}"}}
''')


def answers_are_what_came(weir, upstream):
    for name, more in (('unless told', {}), ('stream', {'stream': True}),
                       ('whole', {'stream': False})):
        asked = {**session(0, 'Hello. [turns 1]'), **more}
        status, data, head, line = post(weir, asked, name.replace(' ', '-'))
        kind = 'application/json' if name == 'whole' else 'application/x-ndjson'
        ok(f'{name}: a call comes, in its kind',
           (status, b'tool_calls' in data, head['content-type'].startswith(kind)),
           (200, True, True))
        ok(f'{name}: under its path', upstream.last_path(), '/api/chat')
        ok(f'{name}: usage, calls and end are read',
           (line['api'], line['model'], line['usage_input_tokens'] > 0,
            line['usage_output_tokens'] > 0, line['answer_calls'], line['answer_finished'],
            line['answer_finish']), ('ollama', 'qwen3', True, True, 1, True, 'stop'))
        lines = [json.loads(text) for text in data.splitlines()]
        ok(f'{name}: every line is whole', [text['done'] for text in lines],
           [False] * (len(lines) - 1) + [True])
    for path in ('/api/show', '/api/generate', '/api/embed'):
        status, data, _ = weir.post(path, {'model': 'qwen3'})
        ok(f'{path} goes where the model is', (status, json.loads(data)['path']), (200, path))


def results_are_changed(weir, upstream, name, **how):
    """A loop, a request at a time: what was sent stays as it was sent, and nothing is refused."""
    whole, before = session(12, **how), []
    headers = {'x-weir-session': name, 'x-test-key': name}
    refused = upstream.stats()['refused']
    for count in range(2, len(whole['messages']) + 1, 2):
        asked = {**whole, 'messages': whole['messages'][:count]}
        raw = json.dumps(asked).encode()
        status, _, _ = weir.post('/api/chat', raw, headers)
        messages = json.loads(upstream.kept(name))['messages']
        ok(f'{name}: request {count} is accepted', status, 200)
        ok(f'{name}: request {count} begins as the last one did', messages[:len(before)], before)
        before = messages
    kept = upstream.kept(name)
    ok(f'{name}: nothing was refused', upstream.stats()['refused'], refused)
    ok(f'{name}: most is gone, with a way back',
       (len(kept) < len(raw) * 0.6, b'weir_recall' in kept, b'wr_' in kept), (True, True, True))
    ok(f'{name}: results are texts yet, of the tools they were of',
       [(type(m['content']), m.get('tool_name')) for m in before if m['role'] == 'tool'],
       [(str, m.get('tool_name')) for m in whole['messages'] if m['role'] == 'tool'])
    ok(f'{name}: calls and thinking are what they were',
       [m for m in before if m['role'] == 'assistant'],
       [m for m in whole['messages'] if m['role'] == 'assistant'])
    return kept


def keep_answer(data, is_stream, name):
    """The message of an answer, as the vendor's clients collect it."""
    lines = [json.loads(text) for text in data.splitlines()]
    message = {'role': 'assistant', 'content': ''}
    for line in lines:
        for key in ('content', 'thinking'):
            if line['message'].get(key):
                message[key] = message.get(key, '') + line['message'][key]
        message.setdefault('tool_calls', []).extend(line['message'].get('tool_calls') or [])
    if not message['tool_calls']:
        del message['tool_calls']
    ok(f'{name}: one end, in the last line', ([line['done'] for line in lines], is_stream or
       len(lines) == 1), ([False] * (len(lines) - 1) + [True], True))
    ok(f'{name}: what was used is told', lines[-1]['eval_count'] > 0 and
       lines[-1]['prompt_eval_count'] > 0)
    return message


def the_proxys_own_recall(weir, upstream):
    """A loop of a client that has no recall tool: the model recalls, and nobody sees it."""
    for is_stream in (True, False):
        for task, files in (('[turns 4] [recall 1-3]', 4), ('[turns 4] [recall 1-3] [aloud]', 4),
                            ('[turns 4] [recall 1-3 at 2 beside]', 3)):
            name = f'own, {"streamed" if is_stream else "whole"}, {task}'
            body = {**session(0, 'Find the bug. ' + task), 'tools': TOOLS[:1], 'stream': is_stream}
            headers = {'x-weir-session': name, 'x-test-key': 'own'}
            shown, given = b'', 0
            for _ in range(12):
                status, data, _ = weir.post('/api/chat', body, headers)
                shown += data
                ok(f'{name}: accepted', status, 200)
                message = keep_answer(data, is_stream, name)
                body['messages'].append(message)
                if 'tool_calls' not in message:
                    break
                for call in message['tool_calls']:
                    body['messages'].append({'role': 'tool', 'content': file_text(given),
                                             'tool_name': call['function']['name']})
                    given += 1
            ok(f'{name}: the task is done', message['content'].strip().endswith(
                f'Done after {files + 1} results.'), True)
            ok(f'{name}: nothing of ours is seen', b'weir_recall' in shown, False)
            ok(f'{name}: every call was the client\'s', given, files)
            sent = upstream.kept('own')
            ok(f'{name}: results were cut, one was recalled',
               (b'wr_' in sent, b'"tool_name":"weir_recall"' in sent), (True, True))
            recalls = sum(line.get('own_recalls', 0) for line in weir.log_lines()
                          if line.get('session') == 'weir:' + name)
            ok(f'{name}: and is told', wait_for(lambda n=name: sum(
                line.get('own_recalls', 0) for line in weir.log_lines()
                if line.get('session') == 'weir:' + n)) or recalls, 1)


def originals_come_back(weir, kept):
    handle = kept[kept.index(b'wr_'):][:23].decode()
    said = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'recall', handle, '--store',
                           weir.store], capture_output=True, text=True, check=False).stdout
    ok('an original comes back by its handle', said, file_text(0))


def the_window_is_what_is_loaded(weir):
    """The server cuts what is longer than num_ctx, and says nothing."""
    for told in (8192, 4096):
        body = session(0)
        body['options']['num_ctx'] = told
        line = post(weir, body, f'told-{told}')[3]
        ok(f'num_ctx {told} is the window', (line['model_context_window_tokens'],
                                             line['model_context_window_source']), (told, 'loaded'))
    long = session(30)
    long['options']['num_ctx'] = 8192
    weir.post('/api/chat', long, {'x-weir-session': 'told-long', 'x-weir-policy': 'auto'})
    line = wait_for(lambda: next((
        line for line in weir.log_lines() if line.get('session') == 'weir:told-long'), None))
    ok('and what is sent fits in it', line['estimated_tokens_after'] <= 8192 <
       line['estimated_tokens_before'], True)


def errors_are_told(weir, folder):
    status, data, _, line = post(weir, {**session(0), 'model': 'absent'}, 'absent')
    ok('an error of the server\'s', (status, json.loads(data)),
       (404, {'error': "model 'absent' not found"}))
    ok('is in the log', line['status'], 404)
    with deaf_port() as sock:
        deaf = Weir(folder, config=f'''listen: 127.0.0.1:0
upstreams:
  ollama: {{base_url: "http://127.0.0.1:{sock.getsockname()[1]}"}}
''')
        status, data, _ = deaf.post('/api/chat', session(0))
        ok('one of ours has its shape', (status, type(json.loads(data)['error'])), (502, str))
        deaf.stop()


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        weir = serve(folder, upstream)
        answers_are_what_came(weir, upstream)
        originals_come_back(weir, results_are_changed(weir, upstream, 'named'))
        results_are_changed(weir, upstream, 'nameless', names_tools=False)
        refused = upstream.stats()['refused']
        the_proxys_own_recall(weir, upstream)
        ok('own recall: nothing was refused', upstream.stats()['refused'], refused)
        the_window_is_what_is_loaded(weir)
        errors_are_told(weir, folder)
        weir.stop()
        upstream.stop()
    return CHECK.end()


sys.exit(main())

#!/usr/bin/env python3
"""The sidecar: sessions kept by the proxy for an agent that speaks HTTP only."""
import http.client
import json
import os
import sys
import time

from harness import PATIENCE_SECONDS, Checks, Folder, Upstream, Weir

CHECK = Checks()
ok = CHECK.ok
PATHS = {'chat': '/v1/chat/completions', 'responses': '/v1/responses', 'messages': '/v1/messages'}
MODELS = {'chat': 'gpt-4o-mini', 'responses': 'gpt-5', 'messages': 'claude-opus-4-6'}
TOOLS = [{'name': 'read_file', 'description': 'Reads a file.',
          'schema': {'type': 'object', 'properties': {'path': {'type': 'string'}}}},
         {'name': 'weir_recall', 'description': 'Brings text back.',
          'schema': {'type': 'object', 'properties': {'id': {'type': 'string'}}}}]
ROOT = '/weir/v1/sessions'
ALPHA, BETA = 'alpha-0123456789abcdef', 'beta-0123456789abcdef'


def post(weir, path, body, **headers):
    status, data, _ = weir.post(ROOT + path, body, headers)
    return status, json.loads(data)


def file_text(n):
    return ''.join(f'def function_{n}_{i}(value):  # line {i}\n' for i in range(80))


def ask(upstream, api, body):
    """What the agent does itself: asks the provider."""
    connection = http.client.HTTPConnection('127.0.0.1', upstream.port, timeout=PATIENCE_SECONDS)
    headers = {'Content-Type': 'application/json', 'anthropic-version': '2023-06-01',
               'x-api-key': 'k'}
    connection.request('POST', PATHS[api], json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def script_of(folder, calls):
    """A model that calls so often, whatever it still sees of the results."""
    path = os.path.join(folder, f'script-{time.time_ns()}.json')
    steps = [{'name': 'read_file', 'arguments': {'path': f'src/file_{n}.py'}} for n in range(calls)]
    with open(path, 'w', encoding='ascii') as file:
        json.dump(steps + [{'words': 'Done.'}], file)
    return path


def loop(weir, api):
    """A loop of 12 calls in a window of 7,000 tokens."""
    status, made = post(weir, '', {'model': MODELS[api], 'window_tokens': 7000, 'tools': TOOLS,
                                   'system': 'You read files.',
                                   'config': 'session:\n  max_tool_iterations: 60\n'})
    ok(f'{api}: a session is created', (status, made.get('model')), (201, MODELS[api]))
    at = '/' + made['id']
    post(weir, at + '/events', {'events': [{'kind': 'user', 'text': 'Read all.'}]})
    upstream = Upstream(weir.folder, '--script', script_of(weir.folder, 12))
    outcome, turns, largest = None, 0, 0
    while outcome is None and turns < 80:
        status, turn = post(weir, at + '/render', {'dialect': api})
        if status != 200:
            outcome = turn
            break
        largest = max(largest, turn['tokens_after'])
        status, answer = ask(upstream, api, turn['body'])
        turns += 1
        if status != 200:
            outcome = answer
            break
        status, appended = post(weir, at + '/events', {'events': [
            {'kind': 'assistant', 'dialect': api, 'body': answer}]})
        results = [{'kind': 'result', 'call_id': call['id'], 'text': file_text(turns)}
                   for call in appended['pending']]
        if not results:
            outcome = 'done'
        else:
            post(weir, at + '/events', {'events': results})
    upstream.stop()
    ok(f'{api}: the loop ends well', outcome, 'done')
    ok(f'{api}: every request was within the window', largest <= 7000)
    status, data, _ = weir.get(ROOT + at + '/context')
    context = json.loads(data)
    ok(f'{api}: context tells what fills it', (status, context['window_tokens'],
                                              context['total_tokens'] > 0), (200, 7000, True))
    path = os.path.join(weir.store, 'sessions', made['id'], 'events.jsonl')
    with open(path, encoding='utf-8') as file:
        results = [event for event in map(json.loads, file) if event['kind'] == 'result']
    ok(f'{api}: the journal has all of it, whole',
       (len(results), all('line 79' in json.dumps(r) for r in results)), (turns - 1, True))
    return made['id']


def wrong_calls(weir, known):
    cases = [
        ('no such session', 'POST', '/nobody/render', {'dialect': 'chat'}, 404),
        ('an id that leads elsewhere', 'POST', '', {'id': '../x', 'model': 'm'}, 400),
        ('an id that is taken', 'POST', '', {'id': known, 'model': 'm'}, 409),
        ('a body that is no JSON', 'POST', '', b'{', 400),
        ('a body that is no object', 'POST', '', b'[]', 400),
        ('a dialect that is none', 'POST', f'/{known}/render', {'dialect': 'soap'}, 400),
        ('an event that is none', 'POST', f'/{known}/events',
         {'events': [{'kind': 'dance'}]}, 400),
        ('no events', 'POST', f'/{known}/events', {}, 400),
        ('a result nobody waits for', 'POST', f'/{known}/events',
         {'events': [{'kind': 'result', 'call_id': 'x', 'text': 'y'}]}, 404),
        ('a verb that is none', 'POST', f'/{known}/sing', {}, 404),
        ('another method', 'GET', f'/{known}/render', None, 405),
        ('a member that is none, of a session', 'POST', '', {'model': 'm', 'polcy': 'tiered'}, 400),
        ('of a rendering', 'POST', f'/{known}/render', {'dialect': 'chat', 'previw': True}, 400),
        ('of a list of events', 'POST', f'/{known}/events', {'events': [], 'more': 1}, 400),
        ('of an event', 'POST', f'/{known}/events',
         {'events': [{'kind': 'note', 'text': 'x', 'txt': 'y'}]}, 400),
        ('of a compaction', 'POST', f'/{known}/compact', {'why': 'x'}, 400),
        ('a configuration that is wrong', 'POST', '', {'model': 'm', 'config': 'session: 7'}, 400),
    ]
    for sentence, method, path, body, wanted in cases:
        status, data, _ = weir.request(method, ROOT + path, body)
        said = json.loads(data)
        ok(f'{sentence}: {wanted} and words', (status, bool(said.get('error', {}).get('message'))),
           (wanted, True))


def partly_wrong(weir, known):
    status, said = post(weir, f'/{known}/events', {'events': [
        {'kind': 'note', 'text': 'one'}, {'kind': 'dance'}, {'kind': 'note', 'text': 'two'}]})
    ok('of a list, what is before the wrong event is kept, and that is said',
       (status, '1 before it were appended' in said['error']['message']), (400, True))


def no_path_is_told(folder, upstream):
    """What fails on the disk is told without where on the disk that is."""
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}')
    post(weir, '', {'id': 'blocked', 'model': 'gpt-5'})
    journal = os.path.join(weir.store, 'sessions', 'blocked', 'events.jsonl')
    os.rename(journal, journal + '.away')
    os.mkdir(journal)
    answers = [post(weir, '/blocked/render', {'dialect': 'chat'}),
               post(weir, '/nobody/render', {'dialect': 'chat'})]
    for status, said in answers:
        message = said['error']['message']
        ok('what fails is told without a path', (status >= 400, folder in message, bool(message)),
           (True, False, True))
    weir.stop()


def tenants(folder, upstream):
    config = (f'listen: 127.0.0.1:0\ntokens: [{ALPHA}, {BETA}]\nupstreams:\n'
              f'  openai: {{base_url: "http://127.0.0.1:{upstream.port}/v1"}}\n')
    weir = Weir(folder, config=config)
    status, made = post(weir, '', {'id': 'mine', 'model': 'gpt-5'}, **{'x-weir-token': ALPHA})
    ok('a tenant creates a session', status, 201)
    status, _ = post(weir, '/mine/render', {'dialect': 'chat'}, **{'x-weir-token': BETA})
    ok('another one does not see it', status, 404)
    lists = [json.loads(weir.get(ROOT, {'x-weir-token': token})[1])['sessions']
             for token in (ALPHA, BETA)]
    ok('nor its name', lists, [['mine'], []])
    ok('without a token nobody comes in', weir.get(ROOT)[0], 401)
    ok('a page of another origin may not ask',
       weir.get(ROOT, {'x-weir-token': ALPHA, 'Origin': 'http://evil.example'})[0], 403)
    weir.stop()


def main():
    with Folder() as folder:
        upstream = Upstream(folder, '--window', '7000')
        weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}')
        known = [loop(weir, api) for api in PATHS]
        wrong_calls(weir, known[0])
        partly_wrong(weir, known[0])
        ok('the list has them all', sorted(json.loads(weir.get(ROOT)[1])['sessions']),
           sorted(known))
        ok('nothing was refused by the provider', upstream.stats()['refused'], 0)
        weir.stop()
        no_path_is_told(folder, upstream)
        tenants(folder, upstream)
        upstream.stop()
    return CHECK.end()


sys.exit(main())

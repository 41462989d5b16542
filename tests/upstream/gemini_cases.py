#!/usr/bin/env python3
"""Google's API through the proxy: its paths, its streams, its wrapping, and what is changed."""
import json
import os
import subprocess
import sys

import gemini
import laws
from harness import Folder, Upstream, Weir, deaf_port, wait_for
from sessions import CHECK, file_text, ok, write_policies

MODEL = 'gemini-3.8-flash'
PATH = f'/v1beta/models/{MODEL}:'
KEY = {'x-goog-api-key': 'k'}
DECLARED = [{'functionDeclarations': [
    {'name': name, 'parametersJsonSchema': {'type': 'object', 'properties': {
        key: {'type': 'string'}}}} for name, key in (('read_file', 'file_path'),
                                                     ('weir_recall', 'handle'))]}]


def session(turns, words='Find the bug.', has_ids=False):
    """As an agent has it after so many calls; each is signed, as the service signs."""
    contents = [{'role': 'user', 'parts': [{'text': words}]}]
    for n in range(turns):
        call = {'name': 'read_file', 'args': {'file_path': f'src/f{n}.py'}}
        given = {'name': 'read_file', 'response': {'output': file_text(n)}}
        if has_ids:
            given['id'] = f'made-up-{n}'
        contents.append({'role': 'model', 'parts': [
            {'functionCall': call, 'thoughtSignature': gemini.sign(call, laws)}]})
        contents.append({'role': 'user', 'parts': [{'functionResponse': given}]})
    return {'contents': contents, 'tools': DECLARED,
            'systemInstruction': {'parts': [{'text': 'You fix bugs.'}]},
            'generationConfig': {'temperature': 0}}


def cut(body, count):
    return {**body, 'contents': body['contents'][:count]}


def post(weir, path, body, session_name):
    """One request of a session; also gives the line that the log has of it."""
    status, data, head = weir.post(path, body, {**KEY, 'x-weir-session': session_name})
    return status, data, head, wait_for(lambda: next((
        line for line in weir.log_lines() if line.get('session') == 'weir:' + session_name), None))


def serve(folder, upstream, policy='short', more=''):
    base = f'http://127.0.0.1:{upstream.port}'
    return Weir(folder, config=f'''listen: 127.0.0.1:0
policies: {write_policies(folder)}
policy: {policy}
upstreams:
  gemini: {{base_url: {base}}}
  codeassist: {{base_url: {base}}}
{more}''')


def paths_are_known(weir, upstream):
    asked = session(0)
    for what, path, headers in (
            ('a key in the header', PATH + 'generateContent', KEY),
            ('a key in the query', PATH + 'generateContent?key=secret-key', {}),
            ('a login', PATH + 'generateContent', {'Authorization': 'Bearer ya29.x'}),
            ('any login', PATH + 'generateContent', {'Authorization': 'Bearer x'}),
            ('a name in front', '/gemini' + PATH + 'generateContent', KEY)):
        status, data, _ = weir.post(path, asked, headers)
        ok(f'{what}: it is answered', (status, 'candidates' in json.loads(data)), (200, True))
        ok(f'{what}: under the path that was asked for', upstream.last_path(),
           path.replace('/gemini/v1beta', '/v1beta'))
    ok('models are listed', weir.get('/v1beta/models', KEY)[0], 200)
    status, data, _ = weir.post(PATH + 'countTokens', {'generateContentRequest': {
        'model': 'models/' + MODEL, **session(3)}}, KEY)
    ok('tokens are counted', (status, list(json.loads(data))), (200, ['totalTokens']))
    ok('other methods pass', weir.post(PATH + 'embedContent', {'content': {}}, KEY)[0], 200)
    weir.lines()
    with open(weir.store + '/requests.jsonl', encoding='utf-8') as file:
        log = file.read()
    ok('no key is in the log', 'secret-key' in log, False)
    first = json.loads(log.splitlines()[0])
    ok('what was asked, and what it used', (first['api'], first['model'], first['path'],
       first['usage_input_tokens'] > 0, first['usage_output_tokens'] > 3),
       ('gemini', MODEL, '/v1beta/models/*:generateContent', True, True))


def answers_are_what_came(weir, upstream):
    """Whole, as events, as one list: the bytes are the provider's."""
    for path in ('generateContent', 'streamGenerateContent?alt=sse', 'streamGenerateContent'):
        asked = session(0, 'Hello. [turns 1]')
        status, data, head, line = post(weir, PATH + path, asked, path)
        ok(f'{path}: a call comes', (status, b'functionCall' in data), (200, True))
        kind = 'text/event-stream' if 'sse' in path else 'application/json'
        ok(f'{path}: in its kind', head['content-type'].startswith(kind), True)
        ok(f'{path}: its usage is read', (line['usage_input_tokens'] > 0,
           line['usage_output_tokens'] > 3, line['answer_calls'], line['answer_finished']),
           (True, True, 1, True))


def results_are_changed(weir, upstream, name, wrap=lambda body: body, path=None, **how):
    """A loop, a request at a time: what was sent stays as it was sent, and nothing is refused."""
    whole, before = session(12, **how), []
    headers = {**KEY, 'x-weir-session': name, 'x-test-key': name}
    refused = upstream.stats()['refused']
    for count in range(1, len(whole['contents']) + 1, 2):
        asked = wrap(cut(whole, count))
        raw = json.dumps(asked).encode()
        status, data, _ = weir.post(path or PATH + 'streamGenerateContent?alt=sse', raw, headers)
        sent = json.loads(upstream.kept(name))
        contents = gemini.unwrap(sent)['contents']
        ok(f'{name}: request {count} is accepted', status, 200)
        ok(f'{name}: request {count} begins as the last one did', contents[:len(before)], before)
        before = contents
    ok(f'{name}: nothing was refused', upstream.stats()['refused'], refused)
    kept = upstream.kept(name)
    ok(f'{name}: most is gone', len(kept) < len(raw) * 0.6, True)
    ok(f'{name}: with a way back', b'weir_recall' in kept and b'wr_' in kept, True)
    ok(f'{name}: results are objects yet', all(
        isinstance(part['functionResponse']['response'], dict) for content in before
        for part in content['parts'] if 'functionResponse' in part), True)
    ok(f'{name}: and their calls are what they were', [
        p for c in before for p in c['parts'] if 'functionCall' in p],
       [p for c in whole['contents'] for p in c['parts'] if 'functionCall' in p])
    return kept


def originals_come_back(weir, kept):
    handle = kept[kept.index(b'wr_'):][:23].decode()
    said = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'recall', handle, '--store',
                           weir.store], capture_output=True, text=True, check=False).stdout
    ok('an original comes back by its handle', said, file_text(0))


def caches_of_ones_own_are_deltas(weir, upstream):
    """What stands before is the provider's: results are cut, and nothing else happens."""
    asked = {'contents': session(2)['contents'][1:], 'cachedContent': 'cachedContents/x'}
    status, _, _, line = post(weir, PATH + 'generateContent', asked, 'cached')
    ok('it is accepted', status, 200)
    ok('and known as a delta', (line['api'], line.get('delta')), ('gemini', True))


def refusals_for_length_are_survived(folder):
    upstream = Upstream(folder, '--window', '20000')
    weir = serve(folder, upstream, policy='tiered')
    status, _, _, line = post(weir, PATH + 'generateContent', session(24), 'long')
    ok('a request that was too long is sent again, shorter', (status, line.get('retry_reason')),
       (200, 'context_overflow'))
    direct = {'contents': [{'parts': [{'text': 'x' * 90000}]}]}
    status, data, _ = weir.post(PATH + 'generateContent', direct, KEY)
    ok('what cannot be shorter is told in the provider\'s words', (
        status, json.loads(data)['error']['status']), (400, 'INVALID_ARGUMENT'))
    weir.stop()
    upstream.stop()


def own_errors_have_its_shape(folder):
    with deaf_port() as sock:
        weir = Weir(folder, config=f'''listen: 127.0.0.1:0
upstreams:
  gemini: {{base_url: "http://127.0.0.1:{sock.getsockname()[1]}"}}
''')
        status, data, _ = weir.post(PATH + 'generateContent', session(0), KEY)
        error = json.loads(data)['error']
        ok('an error of ours', (status, sorted(error), error['status']),
           (502, ['code', 'message', 'status'], 'INTERNAL'))
        weir.stop()


def wrapped(body):
    return {'model': MODEL, 'project': 'p', 'user_prompt_id': 'u', 'request': {
        **body, 'session_id': 's'}}


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        weir = serve(folder, upstream)
        paths_are_known(weir, upstream)
        answers_are_what_came(weir, upstream)
        kept = results_are_changed(weir, upstream, 'plain')
        originals_come_back(weir, kept)
        results_are_changed(weir, upstream, 'with-ids', has_ids=True)
        results_are_changed(weir, upstream, 'wrapped', wrapped,
                            '/v1internal:streamGenerateContent?alt=sse')
        caches_of_ones_own_are_deltas(weir, upstream)
        weir.stop()
        upstream.stop()
        refusals_for_length_are_survived(folder)
        own_errors_have_its_shape(folder)
    return CHECK.end()


sys.exit(main())

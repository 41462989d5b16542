#!/usr/bin/env python3
"""The library over HTTP, held to docs/openapi.json: every path is asked with every example of it,
each answer fits the schema of its status, every member that is documented for an answer is seen,
and so is every documented error. Then what a schema cannot say: tenants, bytes, and the gateways'
shape."""
import json
import re
import sys

from harness import Checks, Folder, Weir

CHECK = Checks()
ok = CHECK.ok
with open('docs/openapi.json', encoding='utf-8') as file:
    SPEC = json.load(file)
LONG = ''.join(f'{i:05d} src/mod_{i % 7}.py: item {i * 7919 % 1000} is fine\n' for i in range(900))
ALPHA, BETA = 'alpha-0123456789abcdef', 'beta-0123456789abcdef'
KINDS = {'string': str, 'integer': int, 'boolean': bool, 'object': dict, 'array': list,
         'number': (int, float)}
CALL = {'id': 'c1', 'type': 'function',
        'function': {'name': 'bash', 'arguments': '{"command":"cat log.txt"}'}}
MESSAGES = [{'role': 'user', 'content': 'What is in the log?'},
            {'role': 'assistant', 'content': None, 'tool_calls': [CALL]},
            {'role': 'tool', 'tool_call_id': 'c1', 'content': LONG}]
# With work that is not done nothing folds.
GOES_ON = MESSAGES + [{'role': 'assistant', 'content': None, 'tool_calls': [{**CALL, 'id': 'c2'}]},
                      {'role': 'tool', 'tool_call_id': 'c2', 'content': 'Nothing.'}]


def resolve(schema):
    while '$ref' in schema:
        at = SPEC
        for part in schema['$ref'].removeprefix('#/').split('/'):
            at = at[part]
        schema = at
    return schema


def wrong(schema, value, at='', seen=None):
    """What of `value` the schema does not allow; '' where it fits. Members go into `seen`."""
    schema = resolve(schema)
    if value is None and schema.get('nullable'):
        return ''
    if 'oneOf' in schema:
        return '' if any(not wrong(s, value) for s in schema['oneOf']) else f'{at}: none fits'
    kind = schema.get('type', 'object' if 'required' in schema else None)
    if kind and (not isinstance(value, KINDS[kind]) or
                 (kind in ('integer', 'number') and isinstance(value, bool))):
        return f'{at} is no {kind}: {str(value)[:80]}'
    if value not in schema.get('enum', [value]):
        return f'{at} is none of {schema["enum"]}'
    if kind == 'integer' and not schema.get('minimum', value) <= value <= schema.get('maximum',
                                                                                    value):
        return f'{at} is too small or too large'
    if kind == 'string' and (len(value) < schema.get('minLength', 0) or
                             not re.search(schema.get('pattern', ''), value)):
        return f'{at} is not of the form'
    if kind == 'array':
        return next(filter(None, (wrong(schema['items'], v, at + '[]', seen) for v in value)), '')
    if kind != 'object':
        return ''
    known = schema.get('properties', {})
    if 'not' in schema and not wrong(schema['not'], value):
        return f'{at}: members that exclude each other'
    missing = [name for name in schema.get('required', []) if name not in value]
    extra = [name for name in value
             if name not in known and schema.get('additionalProperties') is False]
    if missing or extra:
        return f'{at}: missing {missing}, not documented {extra}'
    for name in value:
        if seen is not None and name in known:
            seen.add(f'{at}.{name}')
        problem = name in known and wrong(known[name], value[name], f'{at}.{name}', seen)
        if problem:
            return problem
    return ''


def documented(schema, at=''):
    schema = resolve(schema)
    if schema.get('type') == 'array':
        yield from documented(schema['items'], at + '[]')
    for name, inner in schema.get('properties', {}).items():
        yield f'{at}.{name}'
        yield from documented(inner, f'{at}.{name}')


def spoiled(schema, body, at=''):
    """What the schema forbids, each in a body that is good but for it: (what, body)."""
    for name in schema.get('required', []):
        yield f'without {at}.{name}', {k: v for k, v in body.items() if k != name}
    if schema.get('additionalProperties') is False:
        yield f'{at}.nosuch', {**body, 'nosuch': 1}
    for name in schema.get('not', {}).get('required', []):
        body = {**body, name: 'x'}
        if wrong(schema, body):
            yield f'{at}.{name} too', body
    for name, inner in schema.get('properties', {}).items():
        inner = resolve(inner)
        for value in (-1, 2**40, 1.5, True, 'nosuch', '', [7], {}):
            if wrong(inner, value):
                yield f'{at}.{name} {value!r}', {**body, name: value}
        if inner.get('type') == 'object' and 'properties' in inner:
            for what, value in spoiled(inner, body.get(name, {}), f'{at}.{name}'):
                yield what, {**body, name: value}


def play_spoiled(weir, path, operation, stored):
    """What is not documented is refused, all of it, with 400; gateways may send more."""
    content = operation.get('requestBody', {}).get('content', {}).get('application/json')
    if not content or resolve(content['schema']).get('additionalProperties') is not False:
        return
    good = [filled(example['value'], 'wr_' + stored) for example in content['examples'].values()
            if example['x-status'] == 200][0]
    count = 0
    for what, body in spoiled(resolve(content['schema']), good):
        ok(f'{path}: {what}: the document forbids it', wrong(content['schema'], body) != '')
        ok(f'{path}: {what}', weir.post(path, body, {'x-weir-token': ALPHA})[0], 400)
        count += 1
    ok(f'{path}: something is forbidden', count > 0)
    status, data, _ = weir.request('POST', path, b'', {'x-weir-token': ALPHA})
    ok(f'{path}: a body is needed, or not: {data[:80]}', status,
       400 if operation['requestBody']['required'] else 200)


def filled(value, handle):
    """An example, with what stands for a long text and for a stored original put in."""
    text = json.dumps(value)
    return json.loads(text.replace('"LONG TEXT"', json.dumps(LONG)).replace(
        'wr_5704ed00000000000000', handle))


class Asked:
    """What one operation answered: statuses, and members of the good answers."""

    def __init__(self, path, method, operation):
        self.path, self.method, self.operation = path, method, operation
        self.statuses, self.seen = set(), set()

    def take(self, what, status, data):
        ok(f'{self.path}: {what}: status {status} is documented',
           str(status) in self.operation['responses'])
        schema = self.operation['responses'].get(str(status), {}) \
            .get('content', {}).get('application/json', {}).get('schema', {})
        self.statuses.add(str(status))
        ok(f'{self.path}: {what}: the answer fits', wrong(
            schema, json.loads(data), seen=self.seen if status == 200 else None), '')
        return json.loads(data)

    def end(self):
        schema = self.operation['responses']['200']['content']['application/json']['schema']
        ok(f'{self.path}: members that were never seen', set(documented(schema)) - self.seen, set())
        # Memory and the store cannot run out on demand; a body of 64 MiB is sent to one path only.
        ok(f'{self.path}: statuses that were never seen',
           set(self.operation['responses']) - self.statuses - {'503', '413'}, set())


def hash_of(weir):
    _, data, _ = weir.post('/v1/compress', {'model': 'gpt-4o', 'messages': MESSAGES,
                                            'config': {'mode': 'ccr'}}, {'x-weir-token': ALPHA})
    return json.loads(data)['ccr_hashes'][0]


def play(weir, path, method, operation, stored):
    asked = Asked(path, method, operation)
    at = path.replace('{hash}', stored)
    token = {'x-weir-token': ALPHA}
    if method == 'get':
        asked.take('an original', *weir.request('GET', at, None, token)[:2])
        asked.take('none', *weir.request('GET', at[:-1], None, token)[:2])
    else:
        content = operation['requestBody']['content']['application/json']
        for name, example in content['examples'].items():
            body = filled(example['value'], 'wr_' + stored)
            status, data, _ = weir.post(at, body, token)
            ok(f'{path}: {name}', status, example['x-status'])
            if status == 200:
                ok(f'{path}: {name}: the example fits', wrong(content['schema'], body), '')
            asked.take(name, status, data)
        asked.take('a packed body', *weir.post(at, {}, {**token, 'Content-Encoding': 'gzip'})[:2])
    asked.take('no token', *weir.request(method.upper(), at, b'{}')[:2])
    status, data, head = weir.request('PUT', at, b'{}', token)
    asked.take('another method', status, data)
    ok(f'{path}: the methods there are', head.get('allow'), method.upper())
    asked.end()


def play_length(weir):
    operation = SPEC['paths']['/weir/v1/count']['post']
    asked = Asked('/weir/v1/count', 'post', operation)
    with weir.connect() as sock:
        sock.sendall(b'POST /weir/v1/count HTTP/1.1\r\nHost: 127.0.0.1\r\nx-weir-token: ' +
                     ALPHA.encode() + b'\r\nContent-Length: 99999999\r\n\r\n')
        head = sock.makefile('rb').read(12)
    ok('a body that is too long is not waited for', head, b'HTTP/1.1 413')
    asked.take('too long', 413, b'{"error":{"message":"x"}}')


def play_tenants(weir, stored):
    for header in ({'x-weir-token': BETA}, {'Authorization': 'Bearer ' + BETA}):
        status, data, _ = weir.post('/weir/v1/recall', {'handle': 'wr_' + stored}, header)
        ok('another tenant recalls nothing', status, 404)
        ok('nor retrieves', weir.get('/v1/retrieve/' + stored, header)[0], 404)
    status, data, _ = weir.post('/weir/v1/recall', {'handle': 'wr_' + stored},
                                {'Authorization': 'Bearer ' + ALPHA})
    ok('a token may come as Bearer', (status, json.loads(data).get('text')), (200, LONG))
    ok('and in the path', weir.get(f'/k/{ALPHA}/v1/retrieve/{stored}')[0], 200)


def play_bytes(weir):
    """What is not changed is the same bytes, through JSON and back (law L1)."""
    body = ('{ "model" : "gpt-4o","messages":[ {"content":"caf\\u00e9 1e2","role":"user"} ],'
            ' "n":1.50 }')
    for form in (body, json.dumps(body)):
        _, data, _ = weir.post('/weir/v1/project', b'{"body":' + form.encode() + b'}',
                               {'x-weir-token': ALPHA})
        ok('an unchanged body is the same bytes', json.loads(data)['body'], body)
    _, data, _ = weir.post('/weir/v1/project', {'body': body, 'tenant': None},
                           {'x-weir-token': ALPHA})
    ok('a tenant of null is a tenant', 'error' in json.loads(data))
    status, data, _ = weir.post('/weir/v1/project', b'', {'x-weir-token': ALPHA})
    ok('nothing is no request', (status, 'body' in json.loads(data)['error']['message']),
       (400, True))


def play_sessions(weir):
    """What a session was given once comes again (law L3)."""
    token = {'x-weir-token': ALPHA}
    tools = [{'type': 'function', 'function': {'name': 'weir_recall',
                                               'parameters': {'type': 'object'}}}]
    told = []
    for more in range(3):
        talk = MESSAGES + [{'role': 'assistant', 'content': 'Fine.'},
                           {'role': 'user', 'content': 'And now?'}] * more
        _, data, _ = weir.post('/weir/v1/project', {'session': 's', 'policy': 'lean', 'body': {
            'model': 'gpt-4o', 'tools': tools, 'messages': talk}}, token)
        told.append(json.loads(json.loads(data)['body'])['messages'][:3])
    ok('a session: the log was made shorter', len(told[0][2]['content']) < len(LONG))
    ok('and stays as it was sent', told[0] == told[1] == told[2])


def play_gateway(weir, stored):
    token = {'Authorization': 'Bearer ' + ALPHA, 'x-headroom-affinity': 'conversation'}

    def compress(messages, headers=None, **config):
        _, data, _ = weir.post('/v1/compress', {'model': 'gpt-4o', 'messages': messages,
                                                'config': config}, {**token, **(headers or {})})
        return json.loads(data)

    answer = compress(MESSAGES, mode='ccr')
    last = answer['messages'][2]['content'].splitlines()[-1]
    ok('the marker names the tool of the gateway',
       last.endswith('; headroom_retrieve {"hash":"%s"}]' % stored))
    ok('and no tool that it lacks', 'weir_recall' in json.dumps(answer), False)
    ok('the hash is told', answer['ccr_hashes'], [stored])
    ok('the rest is as it came', answer['messages'][:2], MESSAGES[:2])
    ok('it is smaller', answer['tokens_after'] < answer['tokens_before'] // 2)
    ok('the sums agree', answer['tokens_saved'], answer['tokens_before'] - answer['tokens_after'])
    ok('again it is the same', compress(MESSAGES, mode='ccr')['messages'], answer['messages'])
    ok('later too', compress(GOES_ON, mode='ccr')['messages'][:3], answer['messages'])
    ok('without the tool the log stays whole', compress(MESSAGES)['messages'], MESSAGES)
    ok('frozen messages go back as they came',
       compress(MESSAGES, mode='ccr', frozen_message_count=3)['messages'], MESSAGES)
    ok('a bypass is one', compress(MESSAGES, {'x-headroom-bypass': 'True'}, mode='ccr')['messages'],
       MESSAGES)
    ok('no messages are no messages', compress([], mode='ccr')['messages'], [])
    odd = [{'role': 'user', 'content': 'x'}, {'role': 'tool', 'content': 7}, {'role': 'nobody'}]
    ok('what cannot be read goes back as it came', compress(odd, mode='ccr')['messages'], odd)
    quoted = [{'role': 'user', 'content': 'see ' + last.replace('headroom_retrieve {"hash":"',
                                                               'weir_recall {"handle":"wr_')}]
    ok('a marker that the user quotes is text', compress(quoted, mode='ccr')['messages'], quoted)
    blocks = [{'role': 'user', 'content': 'What is in the log?'},
              {'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 't1', 'name': 'bash',
                                                 'input': {'command': 'cat log.txt'}}]},
              {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 't1',
                                            'content': LONG}]}]
    answer = compress(blocks, mode='ccr')
    ok("messages of Anthropic's form too",
       (answer['ccr_hashes'], len(json.dumps(answer['messages'])) < len(LONG)), ([stored], True))


def play_webhook(weir, stored):
    """What a gateway shows to a webhook, with a request whose own tools have the way back."""
    tools = [{'type': 'function', 'function': {'name': 'weir_recall',
                                               'parameters': {'type': 'object'}}}]

    def hook(body, **more):
        status, data, _ = weir.post('/weir/v1/webhook', {'request': {'json': body}, **more},
                                    {'x-weir-token': ALPHA})
        return status, json.loads(data)

    asked = {'model': 'gpt-4o', 'messages': MESSAGES, 'tools': tools}
    _, answer = hook(asked, eventType='beforeRequestHook')
    sent = answer['transformedData']['request']['json']
    ok('webhook: all but the log is as it came',
       {**sent, 'messages': sent['messages'][:2]}, {**asked, 'messages': MESSAGES[:2]})
    ok('webhook: the log has a marker', (stored in sent['messages'][2]['content'],
                                         len(sent['messages'][2]['content']) < len(LONG) // 2),
       (True, True))
    _, later = hook({**asked, 'messages': GOES_ON}, eventType='beforeRequestHook')
    ok('webhook: and stays as it was sent',
       later['transformedData']['request']['json']['messages'][:3], sent['messages'])
    let_through = 200, {'verdict': True}
    ok('webhook: an answer is let through', hook(asked, eventType='afterRequestHook'), let_through)
    ok('webhook: without a way back nothing leaves', hook({**asked, 'tools': []}), let_through)
    ok('webhook: what is no chat goes as it came', hook({'input': [1, 2]}), let_through)
    ok('webhook: nothing, too', hook(None), let_through)


def main():
    config = f'listen: 127.0.0.1:0\npolicy: auto\ntokens: [{ALPHA}, {BETA}]\n'
    with Folder() as folder:
        weir = Weir(folder, '--upstream', 'openai=http://127.0.0.1:1', config=config)
        stored = hash_of(weir)
        for path, operations in SPEC['paths'].items():
            for method, operation in operations.items():
                play(weir, path, method, operation, stored)
                play_spoiled(weir, path, operation, stored)
        play_length(weir)
        play_tenants(weir, stored)
        play_bytes(weir)
        play_sessions(weir)
        play_gateway(weir, stored)
        play_webhook(weir, stored)
        # Two names that cannot be mixed up: sessions of the runtime, traffic of the proxy.
        token = {'x-weir-token': ALPHA}
        made = json.loads(weir.post('/weir/v1/sessions', {'id': 'mine', 'model': 'gpt-4o'},
                                    token)[1])
        ok('sessions are the runtime\'s', (made['id'], json.loads(
            weir.get('/weir/v1/sessions', token)[1])), ('mine', {'sessions': ['mine']}))
        traffic = json.loads(weir.get('/weir/v1/traffic/sessions', token)[1])
        ok('and no traffic', traffic['total'], 0)
        ok('nothing was said on stderr', weir.stderr(), '')
        weir.stop()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Agents at the doors of clouds: Azure, Vertex, Bedrock, routers and servers of one's own.

The upstream is as strict as each cloud (clouds.py). An agent plays a loop of tool calls through the
proxy at every door, with results long enough that they are cut and without a recall tool, so that
the proxy brings its own; what it sees is looked through for anything of ours.
"""
import json
import os
import subprocess
import sys

import clouds
from harness import Folder, Upstream, Weir, wait_for
from sessions import CHECK, TOOL, file_text, ok, write_policies

JWT = 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL3N0cy53aW5kb3dzLm5ldC90LyJ9.c2ln'
CLAUDE = 'claude-sonnet-4-5'
VERTEX = '/v1/projects/p/locations/us-east5/publishers/'
TASK = 'Find the bug. [turns 4] [recall 1-3]'
TASK_BESIDE = 'Find the bug. [turns 4] [recall 1-3 at 2 beside]'


def lines_of(data):
    for block in data.decode().split('\n\n'):
        text = '\n'.join(line[5:].strip() for line in block.split('\n') if line.startswith('data:'))
        if text and text != '[DONE]':
            yield json.loads(text)


class Agent:
    """Keeps answers as they come and answers each call with a file."""

    def __init__(self, weir, door, words, session):
        self.weir, self.door, self.session = weir, door, session
        self.items, self.shown = [{'role': 'user', 'content': words}], []
        self.files = 0

    def ask(self):
        body = json.dumps(self.body()).encode()
        status, data, head = self.weir.post(self.door['path'], body, {
            **self.door['headers'], 'x-weir-session': self.session, 'x-test-key': self.session})
        self.shown.append(data)
        if status != 200:
            return f'refused: {status} {data[:300]}', []
        kind = head['content-type'].partition(';')[0]
        wanted = self.door.get('stream')
        if kind != (wanted or 'application/json'):
            return f'it came as {kind}', []
        if not wanted:
            return self.keep_whole(json.loads(data))
        return self.keep_events(self.frames_in(data) if 'amazon' in kind else lines_of(data))

    def frames_in(self, data):
        return clouds.events_in(data)

    def work(self):
        for _ in range(12):
            words, calls = self.ask()
            if not calls:
                return words
            for call in calls:
                self.add_result(call, file_text(self.files))
                self.files += 1
        return None


class Chat(Agent):
    def body(self):
        function = {'name': 'read_file', 'parameters': {'type': 'object'}}
        more = {'stream': True, 'stream_options': {'include_usage': True}}
        return {**({'model': self.door['body_model']} if 'body_model' in self.door else {}),
                'messages': self.items, 'tools': [{'type': 'function', 'function': function}],
                **(more if self.door.get('stream') else {})}

    def keep_whole(self, answer):
        return self.keep(answer['choices'][0]['message'])

    def keep(self, message):
        self.items.append(message)
        return message['content'], [call['id'] for call in message.get('tool_calls') or []]

    def keep_events(self, events):
        words, calls = '', {}
        for event in events:
            for choice in event['choices']:
                words += choice['delta'].get('content') or ''
                for part in choice['delta'].get('tool_calls') or []:
                    call = calls.setdefault(part['index'], {'type': 'function', 'function': {
                        'name': '', 'arguments': ''}})
                    call['id'] = part.get('id') or call['id']
                    for key in ('name', 'arguments'):
                        call['function'][key] += part['function'].get(key) or ''
        message = {'role': 'assistant', 'content': words or None}
        if calls:
            message['tool_calls'] = [calls[i] for i in sorted(calls)]
        return self.keep(message)

    def add_result(self, call_id, text):
        self.items.append({'role': 'tool', 'tool_call_id': call_id, 'content': text})


class Messages(Agent):
    def body(self):
        return {'anthropic_version': self.door['version'], 'max_tokens': 99,
                'messages': self.items, 'tools': [TOOL],
                **({'stream': True} if self.door.get('says_stream') else {})}

    def keep_whole(self, answer):
        return self.keep(answer['content'])

    def keep(self, blocks):
        self.items.append({'role': 'assistant', 'content': blocks})
        return ''.join(b.get('text', '') for b in blocks), [
            b['id'] for b in blocks if b['type'] == 'tool_use']

    def keep_events(self, events):
        blocks, kinds = [], []
        for event in events:
            kinds.append(event['type'])
            if event['type'] == 'content_block_start':
                ok('blocks are counted in order', event['index'], len(blocks))
                blocks.append({**event['content_block'], 'json': ''})
            elif event['type'] == 'content_block_delta':
                delta, block = event['delta'], blocks[event['index']]
                block['json'] += delta.get('partial_json', '')
                if 'text' in delta:
                    block['text'] += delta['text']
        ok('one beginning and one end', (kinds.count('message_start'), kinds.count('message_stop'),
                                         kinds[-1]), (1, 1, 'message_stop'))
        for block in blocks:
            text = block.pop('json')
            if block['type'] == 'tool_use':
                block['input'] = json.loads(text or '{}')
        return self.keep(blocks)

    def add_result(self, call_id, text):
        result = {'type': 'tool_result', 'tool_use_id': call_id, 'content': text}
        if self.items[-1]['role'] == 'user':
            self.items[-1]['content'].append(result)
        else:
            self.items.append({'role': 'user', 'content': [result]})


class Converse(Agent):
    def __init__(self, weir, door, words, session):
        super().__init__(weir, door, words, session)
        self.items[0]['content'] = [{'text': words}]

    def body(self):
        """A cache point behind the newest message, as clients place it."""
        newest = {**self.items[-1], 'content': [*self.items[-1]['content'],
                                                {'cachePoint': {'type': 'default'}}]}
        return {'messages': [*self.items[:-1], newest], 'inferenceConfig': {'maxTokens': 99},
                'system': [{'text': 'You fix bugs.'}, {'cachePoint': {'type': 'default'}}],
                'toolConfig': {'tools': [{'toolSpec': {
                    'name': 'read_file', 'inputSchema': {'json': TOOL['input_schema']}}}]}}

    def keep_whole(self, answer):
        return self.keep(answer['output']['message']['content'])

    def keep(self, blocks):
        self.items.append({'role': 'assistant', 'content': blocks})
        return ''.join(b.get('text', '') for b in blocks), [
            b['toolUse']['toolUseId'] for b in blocks if 'toolUse' in b]

    def frames_in(self, data):
        return clouds.named_events_in(data)

    def keep_events(self, events):
        blocks = []
        names = [name for name, _ in events]
        for name, event in events:
            index = event.get('contentBlockIndex')
            if name == 'contentBlockStart' or (name == 'contentBlockDelta' and
                                               index == len(blocks)):
                ok('blocks are counted in order', index, len(blocks))
                blocks.append({'toolUse': {**event['start']['toolUse'], 'input': ''}}
                              if 'start' in event else {'text': ''})
            if name == 'contentBlockDelta' and 'toolUse' in event['delta']:
                blocks[index]['toolUse']['input'] += event['delta']['toolUse']['input']
            elif name == 'contentBlockDelta':
                blocks[index]['text'] += event['delta']['text']
        ok('one beginning and one end', (names.count('messageStart'), names[-2:]),
           (1, ['messageStop', 'metadata']))
        for block in blocks:
            if 'toolUse' in block:
                block['toolUse']['input'] = json.loads(block['toolUse']['input'] or '{}')
        return self.keep(blocks)

    def add_result(self, call_id, text):
        given = {'text': text} if self.files % 2 else {'json': {'output': text}}
        result = {'toolResult': {'toolUseId': call_id, 'content': [given]}}
        if self.items[-1]['role'] == 'user':
            self.items[-1]['content'].append(result)
        else:
            self.items.append({'role': 'user', 'content': [result]})


BEDROCK = {'version': 'bedrock-2023-05-31', 'headers': {'Authorization': 'Bearer ABSKx'},
           'agent': Messages, 'model': f'us.anthropic.{CLAUDE}-20250929-v1:0'}
DOORS = {
    'azure, whole': {
        'agent': Chat, 'headers': {'api-key': 'azure-key'}, 'model': 'my-gpt',
        'path': '/openai/deployments/my-gpt/chat/completions?api-version=2026-01-01'},
    'azure, streamed, with a login': {
        'agent': Chat, 'headers': {'Authorization': 'Bearer ' + JWT}, 'model': 'my-gpt',
        'body_model': 'my-gpt', 'stream': 'text/event-stream',
        'path': '/openai/deployments/my-gpt/chat/completions?api-version=2026-01-01'},
    'azure v1': {
        'agent': Chat, 'headers': {'api-key': 'azure-key'}, 'model': 'my-gpt',
        'body_model': 'my-gpt', 'stream': 'text/event-stream',
        'path': '/openai/v1/chat/completions'},
    'vertex, whole': {
        'agent': Messages, 'version': 'vertex-2023-10-16', 'model': CLAUDE + '@20250929',
        'headers': {'Authorization': 'Bearer ya29.x'},
        'path': VERTEX + f'anthropic/models/{CLAUDE}@20250929:rawPredict'},
    'vertex, streamed': {
        'agent': Messages, 'version': 'vertex-2023-10-16', 'model': CLAUDE + '@20250929',
        'headers': {'Authorization': 'Bearer ya29.x'}, 'says_stream': True,
        'stream': 'text/event-stream',
        'path': VERTEX + f'anthropic/models/{CLAUDE}@20250929:streamRawPredict'},
    'bedrock, whole': {**BEDROCK, 'path': f'/model/{BEDROCK["model"]}/invoke'},
    'bedrock, streamed': {
        **BEDROCK, 'stream': 'application/vnd.amazon.eventstream',
        'path': f'/model/{BEDROCK["model"].replace(":", "%3A")}/invoke-with-response-stream'},
    'converse, whole': {**BEDROCK, 'agent': Converse,
                        'path': f'/model/{BEDROCK["model"]}/converse'},
    'converse, streamed': {
        **BEDROCK, 'agent': Converse, 'stream': 'application/vnd.amazon.eventstream',
        'path': f'/model/{BEDROCK["model"].replace(":", "%3A")}/converse-stream'},
    'openrouter': {
        'agent': Chat, 'headers': {'Authorization': 'Bearer sk-or-v1-x'}, 'model': 'x/y:free',
        'body_model': 'x/y:free', 'path': '/p/openrouter/api/v1/chat/completions',
        'upstream_path': '/api/v1/chat/completions'},
    'a server of one\'s own': {
        'agent': Chat, 'headers': {}, 'model': 'qwen3', 'body_model': 'qwen3',
        'stream': 'text/event-stream', 'path': '/p/ollama/v1/chat/completions',
        'upstream_path': '/v1/chat/completions'},
}


def configuration(folder, upstream, more='', bedrock=''):
    base = f'http://127.0.0.1:{upstream.port}'
    return f'''listen: 127.0.0.1:0
policies: {write_policies(folder)}
policy: short
upstreams:
  azure: {{base_url: "{base}/openai"}}
  vertex: {{base_url: "{base}/v1"}}
  bedrock: {{base_url: "{base}"{bedrock}}}
  openrouter: {{base_url: "{base}/api/v1"}}
  ollama: {{base_url: "{base}/v1"}}
aliases: {{my-gpt: gpt-5.4}}
{more}'''


def an_agent_works_at_every_door(folder, upstream):
    weir = Weir(folder, config=configuration(folder, upstream))
    refused = upstream.stats()['refused']
    for name, door in DOORS.items():
        for task, words, files in (('', TASK, 4), (' beside', TASK_BESIDE, 3)):
            session = name.replace(' ', '-').replace(',', '').replace("'", '') + task.strip()
            agent = door['agent'](weir, door, words, session)
            ok(f'{name}{task}: the task is done', str(agent.work()).strip(),
               f'Done after {files + 1} results.')
            ok(f'{name}{task}: nothing of ours is seen',
               any(b'weir_recall' in data for data in agent.shown), False)
            ok(f'{name}{task}: every call was the agent\'s own', agent.files, files)
            sent = upstream.kept(session)
            ok(f'{name}{task}: results were cut', sent.count(b'wr_') >= files and
               len(sent) < 4 * len(file_text(0)), True)
            ok(f'{name}{task}: and one was recalled', b'"weir_recall"' in sent, True)
        ok(f'{name}: at its own path', upstream.last_path(),
           door.get('upstream_path', door['path']))
    ok('nothing was refused at any door', upstream.stats()['refused'], refused)
    weir.lines()
    check_log(weir)
    weir.stop()


def check_log(weir):
    for name, door in DOORS.items():
        session = 'weir:' + name.replace(' ', '-').replace(',', '').replace("'", '')
        lines = [line for line in weir.log_lines() if line.get('session') == session]
        last = lines[-1] if lines else {}
        ok(f'{name}: model and usage are known',
           (last.get('model'), last.get('usage_input_tokens', 0) > 0,
            last.get('usage_output_tokens', 0) > 0, last.get('answer_finished')),
           (door['model'], True, True, True))
        ok(f'{name}: and a recall is told', sum(l.get('own_recalls', 0) for l in lines), 1)
    azure = [line for line in weir.log_lines() if line.get('model') == 'my-gpt'][-1]
    ok('a deployment has the window of the model it stands for',
       (azure['model_context_window_tokens'], azure['model_context_window_source']),
       (922000, 'registry'))


def bytes_stay_as_they_are(folder, upstream):
    """What is not to be changed is byte for byte what came, in both directions."""
    weir = Weir(folder, config=configuration(folder, upstream))
    direct = Weir.__new__(Weir)
    direct.port = upstream.port
    for name, door in DOORS.items():
        agent = door['agent'](weir, door, 'Hello.', name)
        body = b' ' + json.dumps(agent.body()).encode()
        headers = {**door['headers'], 'x-weir-mode': 'exact', 'x-test-key': 'exact'}
        status, data, head = weir.post(door['path'], body, headers)
        ok(f'{name}: the body is what came', (status, upstream.kept('exact') == body), (200, True))
        status, other, _ = direct.post(door.get('upstream_path', door['path']), body,
                                       door['headers'])
        same = data if b'amazon' not in head['content-type'].encode() else b''
        ok(f'{name}: the answer is as long as without', status == 200 and (
            not same or abs(len(other) - len(data)) < 40), True)
    nova = b'{"schemaVersion": "messages-v1",  "messages": [{"role": "user", "content": [{"text":' \
           b' "x"}]}]}'
    status, data, _ = weir.post('/model/amazon.nova-pro-v1:0/invoke', nova, {
        **BEDROCK['headers'], 'x-test-key': 'nova'})
    ok('another maker\'s body passes unread', upstream.kept('nova'), nova)
    weir.stop()


def gemini_on_vertex(folder, upstream):
    weir = Weir(folder, config=configuration(folder, upstream))
    body = {'contents': [{'role': 'user', 'parts': [{'text': 'Hello.'}]}]}
    for version, call in (('v1', 'generateContent'), ('v1beta1', 'streamGenerateContent?alt=sse')):
        path = f'/{version}/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:{call}'
        status = weir.post(path, body, {'Authorization': 'Bearer ya29.x'})[0]
        ok(f'Gemini on Vertex, {call}', (status, upstream.last_path()), (200, path))
    line = weir.log(2)[-1]
    ok('its model and usage are known', (line['model'], line['api'],
       line['usage_input_tokens'] > 0), ('gemini-2.5-pro', 'gemini', True))
    weir.stop()


def long_session(turns):
    items = [{'role': 'user', 'content': 'Find the bug.'}]
    for n in range(turns):
        items.append({'role': 'assistant', 'content': [
            {'type': 'tool_use', 'id': f'toolu_{n}', 'name': 'read_file',
             'input': {'path': f'src/f{n}.py'}}]})
        items.append({'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': f'toolu_{n}', 'content': file_text(n)}]})
    return items


def as_converse(items):
    def block(b):
        if b['type'] == 'tool_use':
            return {'toolUse': {'toolUseId': b['id'], 'name': b['name'], 'input': b['input']}}
        return {'toolResult': {'toolUseId': b['tool_use_id'], 'content': [{'text': b['content']}]}}
    return [{'role': item['role'], 'content': [{'text': item['content']}] if isinstance(
        item['content'], str) else [block(b) for b in item['content']]} for item in items]


def refusals_for_length_are_survived(folder):
    upstream = Upstream(folder, '--window', '20000')
    recall = {**TOOL, 'name': 'weir_recall'}
    for name in ('vertex, streamed', 'bedrock, whole', 'bedrock, streamed', 'converse, whole',
                 'converse, streamed'):
        weir = Weir(folder, config=configuration(folder, upstream, 'policy: tiered\n').replace(
            'policy: short\n', ''))
        door = DOORS[name]
        agent = door['agent'](weir, door, '', name)
        agent.items = long_session(24)
        if door['agent'] is Converse:
            agent.items = as_converse(agent.items)
            body = agent.body()
            body['toolConfig']['tools'].append({'toolSpec': {
                'name': 'weir_recall', 'inputSchema': {'json': TOOL['input_schema']}}})
        else:
            body = {**agent.body(), 'tools': [TOOL, recall]}
        status, data, _ = weir.post(door['path'], body, {**door['headers'],
                                                         'x-weir-session': 'long ' + name})
        line = wait_for(lambda n=name: next((
            l for l in weir.log_lines() if l.get('session') == 'weir:long ' + n), None))
        ok(f'{name}: what was too long is sent again, shorter',
           (status, line.get('retry_reason')), (200, 'context_overflow'))
        weir.stop()
    upstream.stop()


def signed_requests_pass_unread(folder, upstream):
    weir = Weir(folder, config=configuration(folder, upstream))
    host = f'127.0.0.1:{weir.port}'
    path = DOORS['bedrock, streamed']['path']
    body = json.dumps({'anthropic_version': 'bedrock-2023-05-31', 'max_tokens': 9, 'tools': [TOOL],
                       'messages': long_session(4)}, indent=1).encode()
    headers = {**clouds.sign('POST', path, {'host': host}, body), 'x-test-host': host,
               'x-test-key': 'signed', 'x-weir-session': 'signed'}
    status, data, _ = weir.post(path, body, headers)
    ok('what the client has signed is accepted', status, 200)
    ok('and is, byte for byte, what came', upstream.kept('signed'), body)
    line = weir.log()[-1]
    ok('its usage is read all the same', (line['api'], line.get('usage_input_tokens', 0) > 0,
                                          line.get('changed')), ('messages', True, None))
    weir.stop()


def weir_signs_anew(folder, upstream):
    sign = ', sign: {region: us-east-1, access_key: {env: K_ACCESS}, secret_key: {file: %s}, ' \
        'session_token: {env: K_SESSION}}'
    secret = os.path.join(folder, 'secret')
    with open(secret, 'w', encoding='ascii') as file:
        file.write(clouds.AWS_SECRET + '\n')
    env = {'K_ACCESS': clouds.AWS_ACCESS, 'K_SESSION': 'session/token=='}
    weir = Weir(folder, config=configuration(folder, upstream, bedrock=sign % secret), env=env)
    for name in ('bedrock, whole', 'bedrock, streamed'):
        for login in ({'Authorization': 'Bearer ABSKmine'}, {'x-api-key': 'mine'},
                      clouds.sign('POST', '/', {'host': 'h'}, b'mine')):
            door = {**DOORS[name], 'headers': login}
            agent = Messages(weir, door, TASK, f'{name} {sorted(login)}')
            ok(f'{name}, signed by Weir for {list(login)}', agent.work().strip(),
               'Done after 5 results.')
            seen = upstream.last_headers()
            ok('the client\'s credential is not there', 'mine' in json.dumps(seen) or
               'x-api-key' in seen, False)
            ok('the session\'s is', seen.get('x-amz-security-token'), 'session/token==')
    status = weir.get('/p/bedrock/models?a=1')[0]
    ok('what has no body is signed too', (status, 'authorization' in upstream.last_headers()),
       (200, True))
    weir.lines()
    found = subprocess.run(['grep', '-rlE', 'secret/of|session/token', weir.store],
                           capture_output=True, text=True, check=False).stdout
    ok('no secret is in the store or a log', found, '')
    weir.stop()


def what_is_missing_is_said(folder, upstream):
    weir = Weir(folder, '--upstream', f'openai=http://127.0.0.1:{upstream.port}',
                config='listen: 127.0.0.1:0\nupstreams: {openai: {base_url: '
                '"http://api.openai.com/v1"}}\n')
    weir.stop()
    weir = Weir(folder, config='listen: 127.0.0.1:0\n')
    for path, name in (('/model/m/invoke', 'bedrock'), (VERTEX + 'anthropic/models/m:rawPredict',
                                                        'vertex'),
                       ('/openai/deployments/d/chat/completions', 'azure')):
        status, data, _ = weir.post(path, {}, {'Authorization': 'Bearer k'})
        ok(f'{path} without {name}: it is said what to set',
           (status, f'upstreams: {{{name}: {{base_url:'.encode() in data), (404, True))
    weir.stop()


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        an_agent_works_at_every_door(folder, upstream)
        bytes_stay_as_they_are(folder, upstream)
        gemini_on_vertex(folder, upstream)
        signed_requests_pass_unread(folder, upstream)
        weir_signs_anew(folder, upstream)
        what_is_missing_is_said(folder, upstream)
        upstream.stop()
        refusals_for_length_are_survived(folder)
    return CHECK.end()


sys.exit(main())

#!/usr/bin/env python3
"""The proxy's own recall, end to end: agents without a recall tool, the strict upstream, all APIs.

The agents here do what SDKs do: they keep the answer as they were shown it, run its calls, and send
everything again. What they see is looked through for anything of ours; what the upstream got is
compared request by request.
"""
import json
import os
import subprocess
import sys

from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, wait_for, whole_lines
from sessions import ANTHROPIC, CHECK, TOOL, file_text, ok, write_policies

OWN = b'weir_recall'


def events_of(data):
    """The events of a stream: what each says, without [DONE]."""
    for block in data.decode().split('\n\n'):
        text = '\n'.join(line[5:].strip() for line in block.split('\n') if line.startswith('data:'))
        if text and text != '[DONE]':
            yield json.loads(text)


class Agent:
    """Answers are kept as they come; a call of a tool is answered with a file."""

    def __init__(self, weir, words, is_stream, model, session):
        self.weir, self.is_stream, self.model = weir, is_stream, model
        self.items, self.shown, self.statuses, self.usages = self.begin(words), [], [], []
        self.headers = {**self.HEADERS, 'session-id': session}
        self.files, self.file_lines = 0, 120

    def ask(self):
        body = {**self.body(), 'stream': self.is_stream}
        status, data, _ = self.weir.post(self.PATH, body, self.headers)
        self.statuses.append(status)
        self.shown.append(data)
        if status != 200:
            return None
        return self.read_stream(data) if self.is_stream else self.read_whole(json.loads(data))

    def work(self, steps=30):
        """Until the model has no more calls; gives its last words."""
        for _ in range(steps):
            answer = self.ask()
            if answer is None:
                return None
            words, calls = answer
            if not calls:
                return words
            for call_id in calls:
                self.add_result(call_id, file_text(self.files, self.file_lines))
                self.files += 1
        return None

    def saw_ours(self):
        return any(OWN in data for data in self.shown)


class Chat(Agent):
    PATH, HEADERS = '/v1/chat/completions', {}

    def begin(self, words):
        return [{'role': 'system', 'content': 'You fix bugs.'}, {'role': 'user', 'content': words}]

    def body(self):
        function = {'name': 'read_file', 'parameters': {'type': 'object'}}
        return {'model': self.model, 'messages': self.items,
                'stream_options': {'include_usage': True} if self.is_stream else None,
                'tools': [{'type': 'function', 'function': function}]}

    def keep(self, message):
        self.items.append(message)
        return message['content'], [call['id'] for call in message.get('tool_calls') or []]

    def read_whole(self, answer):
        self.usages.append(answer['usage'])
        return self.keep(answer['choices'][0]['message'])

    def read_stream(self, data):
        words, calls, ids = '', {}, set()
        for event in events_of(data):
            ids.add(event['id'])
            if event.get('usage'):
                self.usages.append(event['usage'])
            for choice in event['choices']:
                words += choice['delta'].get('content') or ''
                for part in choice['delta'].get('tool_calls') or []:
                    call = calls.setdefault(part['index'], {'type': 'function', 'function': {
                        'name': '', 'arguments': ''}})
                    call['id'] = part.get('id') or call['id']
                    for key in ('name', 'arguments'):
                        call['function'][key] += part['function'].get(key) or ''
        ok('chat: one id in all events', len(ids), 1)
        ok('chat: calls are counted from 0', sorted(calls), list(range(len(calls))))
        message = {'role': 'assistant', 'content': words or None}
        if calls:
            message['tool_calls'] = [calls[i] for i in sorted(calls)]
        return self.keep(message)

    def add_result(self, call_id, text):
        self.items.append({'role': 'tool', 'tool_call_id': call_id, 'content': text})


class Messages(Agent):
    PATH, HEADERS = '/v1/messages', ANTHROPIC

    def begin(self, words):
        return [{'role': 'user', 'content': words}]

    def body(self):
        return {'model': self.model, 'max_tokens': 99, 'messages': self.items,
                'tools': [{**TOOL, 'cache_control': {'type': 'ephemeral'}}]}

    def keep(self, blocks):
        self.items.append({'role': 'assistant', 'content': blocks})
        return ''.join(b.get('text', '') for b in blocks), [
            b['id'] for b in blocks if b['type'] == 'tool_use']

    def read_whole(self, answer):
        self.usages.append(answer['usage'])
        return self.keep(answer['content'])

    def read_stream(self, data):
        blocks, starts, stops = [], 0, 0
        for event in events_of(data):
            kind = event['type']
            starts += kind == 'message_start'
            stops += kind == 'message_stop'
            if kind == 'content_block_start':
                ok('messages: blocks are counted in order', event['index'], len(blocks))
                blocks.append({**event['content_block'], 'json': ''})
            elif kind == 'content_block_delta':
                self.extend(blocks[event['index']], event['delta'])
            elif kind == 'message_delta':
                self.usages.append(event['usage'])
        ok('messages: one beginning and one end', (starts, stops), (1, 1))
        for block in blocks:
            text = block.pop('json')
            if block['type'] == 'tool_use':
                block['input'] = json.loads(text or '{}')
        return self.keep(blocks)

    @staticmethod
    def extend(block, delta):
        for key in ('text', 'thinking', 'signature'):
            if key in delta:
                block[key] += delta[key]
        block['json'] += delta.get('partial_json', '')

    def add_result(self, call_id, text):
        block = {'type': 'tool_result', 'tool_use_id': call_id, 'content': text}
        if self.items[-1]['role'] == 'user':
            self.items[-1]['content'].append(block)
        else:
            self.items.append({'role': 'user', 'content': [block]})


class Responses(Agent):
    PATH, HEADERS = '/v1/responses', {}

    def begin(self, words):
        return [{'type': 'message', 'role': 'user', 'content': words}]

    def body(self):
        return {'model': self.model, 'input': self.items, 'store': False,
                'include': ['reasoning.encrypted_content'],
                'tools': [{'type': 'function', 'name': 'read_file',
                           'parameters': {'type': 'object'}}]}

    def read_whole(self, answer):
        self.usages.append(answer['usage'])
        self.items += answer['output']
        words = ''.join(part['text'] for item in answer['output'] if item['type'] == 'message'
                        for part in item['content'])
        return words, [item['call_id'] for item in answer['output']
                       if item['type'] == 'function_call']

    def read_stream(self, data):
        numbers, done, ids, completed = [], [], set(), []
        for event in events_of(data):
            numbers.append(event['sequence_number'])
            if 'response' in event:
                ids.add(event['response']['id'])
            if event['type'] == 'response.output_item.done':
                ok('responses: items are counted in order', event['output_index'], len(done))
                done.append(event['item'])
            elif event['type'] == 'response.completed':
                completed.append(event['response'])
        ok('responses: numbers go up', numbers, list(range(1, len(numbers) + 1)))
        ok('responses: one id, one end', (len(ids), len(completed)), (1, 1))
        ok('responses: the end has what was shown', completed[0]['output'], done)
        return self.read_whole(completed[0])

    def add_result(self, call_id, text):
        self.items.append({'type': 'function_call_output', 'call_id': call_id, 'output': text})


class Bare(Responses):
    """Sends items back without their ids, as some clients do."""

    def read_whole(self, answer):
        items = [{key: item[key] for key in item if key != 'id'} for item in answer['output']]
        return super().read_whole({**answer, 'output': items})


class Gemini(Agent):
    """Calls have no ids; the path says whether the answer is a stream. Keeps parts as they come."""
    HEADERS = {'x-goog-api-key': 'k'}

    def begin(self, words):
        return [{'role': 'user', 'parts': [{'text': words}]}]

    def body(self):
        return {'contents': self.items, 'tools': [{'googleSearch': {}}, {'functionDeclarations': [
            {'name': 'read_file', 'parametersJsonSchema': {'type': 'object', 'properties': {
                'file_path': {'type': 'string'}}}}]}]}

    def path(self):
        method = 'streamGenerateContent?alt=sse' if self.is_stream else 'generateContent'
        return f'/v1beta/models/{self.model}:{method}'

    def ask(self):
        status, data, _ = self.weir.post(self.path(), self.body(), self.headers)
        self.statuses.append(status)
        self.shown.append(data)
        if status != 200:
            return None
        return self.read_chunks(self.chunks(data))

    def chunks(self, data):
        return list(events_of(data)) if self.is_stream else [json.loads(data)]

    def read_chunks(self, chunks):
        parts = [part for chunk in chunks
                 for part in chunk['candidates'][0].get('content', {}).get('parts') or []]
        reasons = [chunk['candidates'][0].get('finishReason') for chunk in chunks]
        ok('gemini: one id in all chunks', len({chunk['responseId'] for chunk in chunks}), 1)
        ok('gemini: one end, and the last chunk has it', [r for r in reasons if r],
           [reasons[-1]] if reasons[-1] else 'an end')
        self.usages.append(chunks[-1]['usageMetadata'])
        return self.keep([part for part in parts if part != {'text': ''}])

    def keep(self, parts):
        self.items.append({'role': 'model', 'parts': parts})
        return ''.join(part.get('text', '') for part in parts), [
            part['functionCall']['name'] for part in parts if 'functionCall' in part]

    def add_result(self, name, text):
        part = {'functionResponse': {'name': name, 'response': {'output': text}}}
        if self.items[-1]['role'] == 'user':
            self.items[-1]['parts'].append(part)
        else:
            self.items.append({'role': 'user', 'parts': [part]})


class Listed(Gemini):
    """A stream that is one JSON array; texts are kept as one."""

    def path(self):
        return super().path().replace('?alt=sse', '')

    def chunks(self, data):
        chunks = json.loads(data)
        return chunks if self.is_stream else [chunks]

    def keep(self, parts):
        words = ''.join(part.get('text', '') for part in parts)
        calls = [part for part in parts if 'functionCall' in part]
        return super().keep(([{'text': words}] if words else []) + calls)


class Wrapped(Gemini):
    """As gemini-cli with a login of Google's."""

    def path(self):
        return '/v1internal:' + super().path().partition(':')[2]

    def body(self):
        return {'model': self.model, 'project': 'p', 'request': super().body()}

    def chunks(self, data):
        return [chunk['response'] for chunk in super().chunks(data)]


class Chained(Responses):
    """The provider holds the history."""

    def begin(self, words):
        self.previous = None
        return super().begin(words)

    def body(self):
        body = {**super().body(), 'store': True}
        if self.previous:
            body['previous_response_id'] = self.previous
        return body

    def read_whole(self, answer):
        self.previous, self.items = answer['id'], []
        result = super().read_whole(answer)
        self.items = []
        return result


KINDS = ((Chat, 'gpt-4o-mini'), (Messages, 'claude-sonnet-4-5'), (Messages, 'claude-opus-5-5'),
         (Responses, 'gpt-5'), (Bare, 'gpt-5'), (Gemini, 'gemini-3.8-flash'),
         (Listed, 'gemini-3.8-flash'), (Wrapped, 'gemini-3.8-flash'))


def serve(folder, upstream, *arguments, **more):
    config = f'listen: 127.0.0.1:0\npolicies: {write_policies(folder)}\npolicy: short\n'
    google = f'http://127.0.0.1:{upstream.port}'
    config += (f'upstreams:\n  gemini: {{base_url: {google}}}\n'
               f'  codeassist: {{base_url: {google}}}\n')
    return Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', *arguments,
                config=config, **more)


def words_of(*words):
    """What a command of the program prints."""
    return subprocess.run([os.environ.get('WEIR', 'build/weir'), *words], check=False, text=True,
                          capture_output=True, timeout=PATIENCE_SECONDS).stdout


def list_of(body):
    return body.get('messages') or body.get('input') or body.get('contents')


def bodies_of(record, session):
    bodies = [json.loads(line['body']) if isinstance(line['body'], str) else line['body']
              for line in whole_lines(record) if line['session'] == session]
    return [body.get('request', body) for body in bodies]


def without_markers(value):
    if isinstance(value, dict):
        return {key: without_markers(item) for key, item in value.items() if key != 'cache_control'}
    return [without_markers(item) for item in value] if isinstance(value, list) else value


def extends(bodies):
    """Whether each request begins with all of the one before: nothing that was sent changes."""
    lists = [without_markers(list_of(body)) for body in bodies]
    return all(later[:len(earlier)] == earlier for earlier, later in zip(lists, lists[1:]))


def same_tools(bodies):
    return len({json.dumps(body['tools']) for body in bodies}) == 1


def recalls_of_page(weir):
    rows = json.loads(weir.get('/weir/v1/traffic/rows')[1])['rows']
    return sum(row.get('recalls', 0) for row in rows)


def check(agent, name, bodies, wanted):
    """What holds of every session that ended well."""
    ok(f'{name}: all answers came', set(agent.statuses), {200})
    ok(f'{name}: nothing of ours is shown', agent.saw_ours(), False)
    ok(f'{name}: its tool is offered from the first request on, the same in all',
       same_tools(bodies) and 'weir_recall' in json.dumps(bodies[0]['tools']))
    ok(f'{name}: requests extend each other', extends(bodies))
    ok(f'{name}: what was recalled went to the model', all(
        text in json.dumps(bodies[-1]) for text in wanted))


def recalls_are_hidden(folder, upstream, record):
    """A call of our tool alone, in the middle of a session and at its end, words before it."""
    weir = serve(folder, upstream)
    refused = upstream.stats()['refused']
    for kind, model in KINDS:
        for is_stream in (False, True):
            name = f'{kind.__name__} {model}{" stream" if is_stream else ""}'
            agent = kind(weir, '[turns 6] [aloud] [recall 88-90 at 3] [recall 100-101] Find it.',
                         is_stream, model, name)
            words = agent.work()
            bodies = bodies_of(record, name)
            ok(f'{name}: the model comes to its end', words and words.strip().endswith('results.'))
            ok(f'{name}: the client ran its own calls alone', agent.files, 5)
            check(agent, name, bodies, ('line 88 of file 0', 'line 100 of file 0'))
    ok('the strict upstream refused nothing', upstream.stats()['refused'] - refused, 0)
    weir.lines()  # of all requests so far
    lines = weir.log_lines()
    ok('legs are in the log', sum(line.get('own_recall_leg', 0) for line in lines), 4 * len(KINDS))
    ok('with what they recalled', sum(line.get('own_recalls', 0) for line in lines), 4 * len(KINDS))
    ok('and nothing was missed', sum(line.get('own_recall_misses', 0) for line in lines), 0)
    ok('metrics know', weir.metric('weir_own_recalls_total'), 4.0 * len(KINDS))
    wait_for(lambda: recalls_of_page(weir) >= 4 * len(KINDS))  # rows are written a moment later
    ok('the page counts each once', recalls_of_page(weir), 4 * len(KINDS))
    why = words_of('why', 'codex:Chat gpt-4o-mini', '--store', weir.store)
    ok('`weir why` shows what the agent does not see',
       "the proxy's own recall" in why and 'leg 1 of one answer' in why)
    weir.stop()


def calls_beside_the_clients_wait(folder, upstream, record):
    weir = serve(folder, upstream)
    refused = upstream.stats()['refused']
    for kind, model in KINDS:
        for is_stream in (False, True):
            name = f'beside {kind.__name__} {model}{" stream" if is_stream else ""}'
            agent = kind(weir, '[turns 6] [recall 88-90 at 2 beside] Find it.', is_stream, model,
                         name)
            agent.work()
            check(agent, name, bodies_of(record, name), ('line 88 of file 0',))
            ok(f'{name}: the client ran its own calls alone', agent.files, 5)
    ok('nobody was refused', upstream.stats()['refused'] - refused, 0)
    weir.stop()


def exchanges_outlive_a_restart(folder, upstream, record):
    """The next request may come to another process: what it lacks is put back from the store."""
    for kind, model in KINDS:
        name = f'restart {kind.__name__} {model}'
        first = serve(folder, upstream)
        agent = kind(first, '[turns 6] [recall 88-90 at 2] Find it.', True, model, name)
        for _ in range(4):
            words, calls = agent.ask()
            for call_id in calls:
                agent.add_result(call_id, file_text(agent.files))
                agent.files += 1
        first.stop()
        agent.weir = serve(folder, upstream, store=first.store)
        agent.work()
        check(agent, name, bodies_of(record, name), ('line 88 of file 0',))
        agent.weir.stop()


def what_does_not_match_is_not_put_back(folder, upstream, record):
    weir = serve(folder, upstream)
    agent = Chat(weir, '[turns 4] [recall 88-90] Find it.', False, 'gpt-4o-mini', 'edited')
    agent.work()
    agent.items[-1]['content'] = 'Somebody has written this instead.'
    agent.items.append({'role': 'user', 'content': 'Go on.'})
    agent.ask()
    first = next(body for body in bodies_of(record, 'edited') if 'Go on.' in json.dumps(body))
    ok('an edited answer has nothing put back', 'line 88 of file 0' in json.dumps(first), False)
    ok('and is accepted', agent.statuses[-1], 200)
    weir.stop()


def what_costs_too_much_leaves(folder, upstream, record):
    """A large text, late in a long session: to read it in every request from now on is dearer than
    to recall it again. A small one stays."""
    weir = serve(folder, upstream)
    refused = upstream.stats()['refused']
    for kind, model in ((Chat, 'gpt-4o-mini'), (Messages, 'claude-sonnet-4-5'),
                        (Responses, 'gpt-5'), (Gemini, 'gemini-3.8-flash')):
        for lines, leaves in (('1-700', True), ('88-90', False)):
            name = f'{kind.__name__} {lines}'
            agent = kind(weir, f'[turns 34] [aloud] [recall {lines} at 30] Find it.', True, model,
                         name)
            agent.file_lines = 700
            agent.work(40)
            bodies = bodies_of(record, name)
            at = next(i for i, body in enumerate(bodies) if 'line 89 of file 0' in json.dumps(body))
            ok(f'{name}: {"left out" if leaves else "kept"} by the next request',
               'line 89 of file 0' in json.dumps(bodies[at + 1]), not leaves)
            ok(f'{name}: and ever after', 'line 89 of file 0' in json.dumps(bodies[-1]), not leaves)
            ok(f'{name}: what stood before it has not changed',
               without_markers(list_of(bodies[at - 1])),
               without_markers(list_of(bodies[at + 1]))[:len(list_of(bodies[at - 1]))])
            ok(f'{name}: nothing of ours is shown', agent.saw_ours(), False)
    ok('nothing is refused for it', upstream.stats()['refused'] - refused, 0)
    weir.lines()
    ok('the log says so', any(line.get('own_recalls_left_out') for line in weir.log_lines()))
    weir.stop()


def who_gets_one(folder, upstream, record):
    def tools_sent(session, headers=None, config=(), **more):
        weir = serve(folder, upstream, *config)
        agent = Chat(weir, 'Good morning.', False, 'gpt-4o-mini', session)
        body = {**agent.body(), **more}
        weir.post(agent.PATH, body, {**agent.headers, **(headers or {})})
        weir.stop()
        return json.dumps(bodies_of(record, session)[-1].get('tools'))
    recall = {'type': 'function', 'function': {'name': 'mcp__weir__weir_recall',
                                               'parameters': {'type': 'object'}}}
    own = '"name": "weir_recall"'
    ok('a client without a recall tool gets ours', own in tools_sent('a'))
    ok('one that brings its own does not', own in tools_sent('b', tools=[recall]), False)
    ok('unless it is wanted', own in tools_sent('c', tools=[recall], config=('--recall', 'own')))
    named = {'type': 'function', 'function': {'name': 'weir_recall'}}
    ok('two of one name are never sent', tools_sent('c2', tools=[named], config=(
        '--recall', 'own')).count(own), 1)
    ok('nor where it is not wanted', own in tools_sent('d', config=('--recall', 'client')), False)
    ok('nor by a header', own in tools_sent('e', headers={'x-weir-recall': 'off'}), False)
    ok('nor without tools', own in tools_sent('f', tools=None), False)
    ok('nor where the model may not call', own in tools_sent('g', tool_choice='none'), False)
    ok('nor where several answers are wanted', own in tools_sent('h', n=2), False)
    ok('nor in shadow', own in tools_sent('i', config=('--mode', 'shadow')), False)
    ok('nor where nothing is taken out', own in tools_sent('j', config=('--policy', 'exact')),
       False)
    old = Chat(None, 'Good morning.', False, 'm', 'k').items + [
        {'role': 'assistant', 'content': 'Good morning.'}, {'role': 'user', 'content': 'Go on.'}]
    ok('nor in the middle of a conversation', own in tools_sent('k', messages=old), False)


def who_gets_one_of_google_s(folder, upstream, record):
    def tools_sent(session, **more):
        weir = serve(folder, upstream)
        agent = Gemini(weir, 'Good morning.', False, 'gemini-3.8-flash', session)
        weir.post(agent.path(), {**agent.body(), **more}, agent.headers)
        weir.stop()
        return json.dumps(bodies_of(record, session)[-1].get('tools'))
    own = '"name": "weir_recall"'
    ok('gemini: a client without a recall tool gets ours', own in tools_sent('ga'))
    ok('gemini: not where the model may not call', own in tools_sent('gb', toolConfig={
        'functionCallingConfig': {'mode': 'NONE'}}), False)
    ok('gemini: nor where several answers are wanted', own in tools_sent('gc', generationConfig={
        'candidateCount': 2}), False)
    ok('gemini: nor without declarations', own in tools_sent('gd', tools=[{'googleSearch': {}}]),
       False)


def chains_go_on_from_the_inner_answer(folder, upstream, record):
    """The model of the upstream sees what a request holds, so its wishes stand in a result."""
    def begin(name, is_stream, wishes):
        agent = Chained(weir, '[turns 1] Find it.', is_stream, 'gpt-5', name)
        for call_id in agent.ask()[1]:
            agent.add_result(call_id, wishes + file_text(0))
        return agent
    weir = serve(folder, upstream)
    refused = upstream.stats()['refused']
    for is_stream in (False, True):
        name = f'chained {is_stream}'
        agent = begin(name, is_stream, '[turns 1] [recall 88-90] ')
        agent.ask()
        shown = agent.previous
        agent.items = [{'type': 'message', 'role': 'user', 'content': 'Go on.'}]
        agent.ask()
        bodies = bodies_of(record, name)
        ok(f'{name}: a leg has what was recalled', 'line 88 of file 0' in json.dumps(bodies[2]))
        ok(f'{name}: the next request goes on from another answer than the client was shown',
           bodies[3]['previous_response_id'] not in (shown, None))
        ok(f'{name}: all answers came', set(agent.statuses), {200})
        ok(f'{name}: nothing of ours is shown', agent.saw_ours(), False)
        agent.headers['x-weir-mode'] = 'exact'
        agent.items = [{'type': 'message', 'role': 'user', 'content': '[turns 1] Once more.'}]
        agent.previous = shown
        agent.ask()
        ok(f'{name}: so does one that is to go as it came',
           (agent.statuses[-1], bodies_of(record, name)[-1]['previous_response_id']),
           (200, bodies[3]['previous_response_id']))
        name += ' beside'
        agent = begin(name, is_stream, '[turns 2] [recall 88-90 at 1 beside] ')
        for call_id in agent.ask()[1]:
            agent.add_result(call_id, file_text(1))
        agent.ask()
        ok(f'{name}: a result that waited comes with the client\'s',
           'line 88 of file 0' in json.dumps(bodies_of(record, name)[-1]['input']))
        ok(f'{name}: all answers came', set(agent.statuses), {200})
    ok('the provider knows every answer that is named', upstream.stats()['refused'] - refused, 0)
    weir.stop()


def counts_are_of_what_is_sent(folder, upstream, record):
    weir = serve(folder, upstream)
    agent = Messages(weir, '[turns 5] [recall 88-90 at 2] Find it.', False, 'claude-sonnet-4-5',
                     'counted')
    body = {key: agent.body()[key] for key in ('model', 'messages', 'tools')}
    weir.post(agent.PATH + '/count_tokens', body, agent.headers)
    ok('a count before the first request has our tool',
       'weir_recall' in json.dumps(bodies_of(record, 'counted')[-1]['tools']))
    agent.work()
    sent = bodies_of(record, 'counted')[-1]
    body = {key: agent.body()[key] for key in ('model', 'messages', 'tools')}
    body['messages'] = body['messages'][:-1]
    status = weir.post(agent.PATH + '/count_tokens', body, agent.headers)[0]
    counted = bodies_of(record, 'counted')[-1]
    ok('a count later has the exchanges too', (status, without_markers(counted['messages'])),
       (200, without_markers(sent['messages'])))
    weir.stop()


def usage_is_of_one_answer(folder, upstream, record):
    """Outputs are added up; the input is the last leg's, so that a context gauge does not jump."""
    weir = serve(folder, upstream)
    agent = Chat(weir, '[turns 2] [recall 88-90] Find it.', False, 'gpt-4o-mini', 'usage')
    agent.work()
    shown, lines = agent.usages[-1], [line for line in weir.log(4)]
    legs = lines[-2:]
    ok('the client sees the input of the last leg', shown['prompt_tokens'],
       legs[1]['usage_input_tokens'])
    ok('and the outputs of both', shown['completion_tokens'],
       sum(leg['usage_output_tokens'] for leg in legs))
    weir.stop()
    weir = serve(folder, upstream)
    agent = Gemini(weir, '[turns 2] [recall 88-90] Find it.', True, 'gemini-3.8-flash', 'usage 2')
    agent.work()
    shown, legs = agent.usages[-1], [line for line in weir.log(4)][-2:]
    ok('gemini: the client sees the prompt of the last leg', shown['promptTokenCount'],
       legs[1]['usage_input_tokens'])
    ok('gemini: outputs of both, words and thoughts apart',
       (shown['candidatesTokenCount'] + shown['thoughtsTokenCount'], shown['thoughtsTokenCount']),
       (sum(leg['usage_output_tokens'] for leg in legs), 6))
    ok('gemini: and the total is of these', shown['totalTokenCount'], shown['promptTokenCount'] +
       shown['candidatesTokenCount'] + shown['thoughtsTokenCount'])
    weir.stop()


def main():
    with Folder() as folder:
        record = os.path.join(folder, 'record.jsonl')
        upstream = Upstream(folder, '--record', record)
        for case in (who_gets_one, who_gets_one_of_google_s, recalls_are_hidden,
                     calls_beside_the_clients_wait, exchanges_outlive_a_restart,
                     what_does_not_match_is_not_put_back,
                     what_costs_too_much_leaves, chains_go_on_from_the_inner_answer,
                     counts_are_of_what_is_sent, usage_is_of_one_answer):
            if len(sys.argv) < 2 or case.__name__ in sys.argv[1:]:
                case(folder, upstream, record)
        upstream.stop()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

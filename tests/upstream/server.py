#!/usr/bin/env python3
"""A scripted upstream: all four APIs, strict about their laws (laws.py), playing an agent's model.

    server.py PORT_FILE [--window TOKENS] [--script FILE | --scripts FILE] [--loaded TOKENS]
              [--record FILE] [--cache] [--blind]

It listens on a free port of loopback and writes the number to PORT_FILE. A conversation asks for
`[turns N]` in its first user message: the model then calls a tool N times, one file after the
other (`[in FOLDER]`: below it; `[tool NAME]`: this one, be it one that runs commands), and ends
with words; with `[recall A-B]` it first asks weir_recall for these lines of what was left out
first. `[recall A-B at N]` asks when there are N results, `[recall A-B at N beside]` beside the call
of that turn; with `[aloud]` words stand before calls. With `[apart]` recalls are no turns: the
results of other tools alone are counted, so that a session with recalls comes to the same end as
one without.

Headers make trouble on demand: x-test-status, x-test-break (after how many events the connection
is cut), x-test-delay-ms, x-test-events, x-test-encoding, x-test-no-cache (nothing is read from a
cache).

A script is a JSON list of what the model does, step by step, in each session (x-weir-session or
session-id):
{"name", "arguments"} is a call, {"words"} ends a loop. --scripts is for agents that run one after
the other without such a header: an object of lists, the one whose key is in the conversation is
played, and a conversation without a result begins it anew.
--loaded makes it a local server that has
loaded its models with a window of so many tokens and cuts longer prompts without a word.
--cache plays a prompt cache: the front that a request shares with an earlier one is read from it,
the rest is written; without it half of every prompt is said to be read.
--blind is a model that takes no images.
--record keeps every request, a JSON object a line: api, session, is_refused, body (as it came).

What came can be asked for: GET /__last (the last body, as it came), /__last_head (JSON), /__stats,
/__kept/KEY (the last body that came with x-test-key: KEY). GET /__origin/HOST says where ChatGPT's
backend is to be, for a client that asks.
"""
import ctypes.util
import gzip
import http.server
import json
import os
import re
import select
import socket
import socketserver
import sys
import threading
import time
import zlib

import clouds
import gemini
import laws
import ollama

APIS = {'/chat/completions': 'chat', '/responses': 'responses', '/responses/compact': 'responses',
        '/responses/input_tokens': 'responses', '/messages': 'messages',
        '/messages/count_tokens': 'messages', ':generateContent': 'gemini',
        ':streamGenerateContent': 'gemini', ':countTokens': 'gemini', '/api/chat': 'ollama'}
COUNTS = ('/responses/input_tokens', '/messages/count_tokens', ':countTokens')

IMAGES = re.compile(rb'"(image_url|input_image|image|inlineData|images)"')


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.responses, self.conversations = {}, {}
        self.window_tokens = 0
        self.is_blind = False
        self.origin = 'https://chatgpt.com'
        self.last_body, self.last_head, self.kept = b'', {}, {}
        self.stats = {'requests': 0, 'refused': 0, 'cancelled': 0, 'open': 0, 'connections': 0,
                      'turn_states': 0, 'cut': 0}
        self.number = 0
        self.script, self.scripts, self.steps, self.loaded_tokens = None, None, {}, 0
        self.record_path = None
        self.has_cache, self.cached = False, set()

    def record(self, api, session, raw, is_refused):
        if self.record_path:
            with self.lock, open(self.record_path, 'a', encoding='utf-8') as file:
                file.write(json.dumps({'api': api, 'session': session, 'is_refused': is_refused,
                                       'body': raw.decode('utf-8', 'replace')}) + '\n')

    def next_step(self, session):
        with self.lock:
            at = self.steps.get(session, 0)
            self.steps[session] = at + 1
            return self.script[at] if at < len(self.script) else {'words': 'Done.'}

    def next_of_scripts(self, body):
        """The script whose key the first words of the user hold."""
        text, is_first = all_text(body), not done_turns(body)
        key = next((key for key in self.scripts if key in text), None)
        with self.lock:
            at = 0 if is_first else self.steps.get(key, 0)
            self.steps[key] = at + 1
            steps = self.scripts.get(key, [])
            return steps[at] if at < len(steps) else {'words': 'Done.'}

    def read_cache(self, body):
        """Bytes of the longest front that an earlier body had too, in whole messages."""
        key = next((k for k in ('messages', 'input', 'contents') if k in body), None)
        items = body[key] if key and isinstance(body[key], list) else []
        rest = re.sub(r'(, )?"cache_control": \{[^}]*\}', '', json.dumps({**body, key: None}))
        front, read, total = hash(rest), 0, len(rest)
        with self.lock:
            for item in items:
                item = re.sub(r'(, )?"cache_control": \{[^}]*\}', '', json.dumps(item))
                front, total = hash((front, item)), total + len(item)
                read = total if front in self.cached else read
                self.cached.add(front)
        return read

    def next_number(self):
        with self.lock:
            self.number += 1
            return self.number

    def count(self, name, by=1):
        with self.lock:
            self.stats[name] += by


STATE = State()


# ---- the model ----

def all_text(body):
    for key in ('messages', 'input', 'contents'):
        value = body.get(key)
        if isinstance(value, str):
            return value
        if value:
            return json.dumps(value)
    return ''


def wanted_turns(body):
    match = re.search(r'\[turns (\d+)\]', all_text(body))
    return int(match.group(1)) if match else 0


def done_turns(body):
    if '[COMPLETED AGENT LOOP' in all_text(body):  # of which only a summary is left
        return wanted_turns(body) + (recalls_apart(body) or 0)
    if 'contents' in body:
        return gemini.done_turns(body)
    if 'messages' in body:
        count = 0
        for message in body['messages']:
            if message['role'] == 'tool':
                count += 1
            elif message['role'] == 'user' and isinstance(message.get('content'), list):
                count += sum(b.get('type') == 'tool_result' for b in message['content'])
        return count
    items = body.get('input')
    if not isinstance(items, list):
        return 0
    return sum(str(item.get('type', '')).endswith('_output') for item in items)


def called_names(body):
    """Of all calls in the history, in order."""
    for message in body.get('messages') or []:
        for call in message.get('tool_calls') or []:
            yield call['function']['name']
        content = message.get('content')
        for block in content if isinstance(content, list) else []:
            if block.get('type') == 'tool_use':
                yield block['name']
    for content in body.get('contents') or []:
        yield from (part['functionCall']['name'] for part in content['parts']
                    if 'functionCall' in part)
    items = body.get('input')
    for item in items if isinstance(items, list) else []:
        if item.get('type') == 'function_call':
            yield item['name']


def recalls_apart(body):
    """How many recalls there were; None: they are turns like others."""
    if '[apart]' not in all_text(body):
        return None
    return sum(name.endswith('weir_recall') for name in called_names(body))


def tools_of(body):
    return gemini.tools(body) if 'contents' in body else body.get('tools') or []


def choose_tool(body):
    """A tool that reads files, else the first that is no recall: its name as the request spells
    it, and its parameters."""
    tools = {}
    for tool in tools_of(body):
        function = tool.get('function', tool)
        schema = function.get('parameters') or function.get('input_schema') or {}
        if function.get('name') and 'recall' not in function['name']:
            tools[function['name']] = schema.get('properties') or {}
    wanted = re.search(r'\[tool (\w+)\]', all_text(body))
    for name in (wanted.group(1) if wanted else '', 'Read', 'read', 'read_file'):
        if name in tools:
            return name, tools[name]
    return next(iter(tools.items()), ('read_file', {}))


def arguments_for(properties, done, folder=''):
    """A call that such a tool understands: a command with a long output, or a file."""
    command = f'cat logs/run_{done}.log'
    if 'cmd' in properties:
        return {'cmd': command}
    if properties.get('command', {}).get('type') == 'array':
        return {'command': ['sh', '-c', command]}
    if 'command' in properties:
        return {'command': command, 'description': 'counts'}
    key = next((k for k in ('path', 'filePath', 'file_path') if k in properties), 'path')
    return {key: os.path.join(folder, f'src/file_{done}.py')}


def recall_tool(body):
    """The namespace and the name of weir_recall as the request spells it; None: it has none."""
    for tool in tools_of(body):
        for inner in tool.get('tools') or [tool]:
            name = inner.get('function', inner).get('name') or ''
            if name.endswith('weir_recall'):
                return tool['name'] if tool.get('tools') else None, name
    return None


SUMMARY = 'THE EXTRACT'


def extract_in(body):
    """A model that is asked for a summary repeats the extract it was shown."""
    if 'contents' in body:
        text = body['contents'][0]['parts'][0]['text']
    else:
        text = body['messages'][0]['content'] if 'messages' in body else body['input']
    return text.partition(SUMMARY)[2].partition('THE CONVERSATION')[0].strip()


def usage_of(body_bytes, answer):
    return body_bytes // laws.BYTES_A_TOKEN, len(answer) // laws.BYTES_A_TOKEN + 1


class Turn:
    """What the model says next: calls, or its last words."""

    def __init__(self, body, raw, session=''):
        recalls = recalls_apart(body)
        done, wanted = done_turns(body) - (recalls or 0), wanted_turns(body)
        self.number = STATE.next_number()
        self.body, self.model = body, body['model']
        self.call_id = f'call_{self.number}' if done < wanted else None
        self.name, properties = choose_tool(body)
        folder = re.search(r'\[in ([^\]]+)\]', all_text(body))
        self.arguments = json.dumps(arguments_for(properties, done,
                                                  folder.group(1) if folder else ''))
        self.words = f'Done after {done} results.'
        self.namespace = self.beside = None
        self.aloud = f'Let me see {self.number}.' if '[aloud]' in all_text(body) else ''
        if SUMMARY in all_text(body):
            self.call_id, self.words = None, extract_in(body)
        elif STATE.scripts is not None:
            self.play(STATE.next_of_scripts(body))
        elif STATE.script is not None:
            self.play(STATE.next_step(session))
        else:
            self.recall(body, done, wanted, recalls)
        self.input_tokens, self.output_tokens = usage_of(len(raw), self.words)
        self.cached_tokens, self.written_tokens = self.input_tokens // 2, None
        if STATE.has_cache:
            read = STATE.read_cache(body) // laws.BYTES_A_TOKEN
            self.cached_tokens = min(read, self.input_tokens)
            self.written_tokens = self.input_tokens - self.cached_tokens

    def recall(self, body, done, wanted, recalls):
        handle, tool = re.search(r'wr_[0-9a-f]{20}', all_text(body)), recall_tool(body)
        asked = re.findall(r'\[recall (\d+-\d+)(?: at (\d+))?( beside)?\]', all_text(body))
        for lines, at, beside in asked if recalls is None else asked[recalls:]:
            if not handle or not tool or done != (int(at) if at else wanted):
                continue
            arguments = json.dumps({'handle': handle.group(), 'lines': lines})
            if beside and self.call_id:
                self.beside = (f'call_{self.number}b', tool[1], arguments)
                continue
            self.call_id = f'call_{self.number}'
            self.namespace, self.name = tool
            self.arguments = arguments

    def calls(self):
        """(id, name, arguments) of each."""
        first = [(self.call_id, self.name, self.arguments)] if self.call_id else []
        return first + ([self.beside] if self.beside else [])

    def play(self, step):
        self.call_id = f'call_{self.number}' if 'name' in step else None
        self.name, self.words = step.get('name', ''), step.get('words', '')
        self.arguments = json.dumps(step.get('arguments', {}))


# ---- Chat Completions ----

def chat_usage(turn):
    return {'prompt_tokens': turn.input_tokens, 'completion_tokens': turn.output_tokens,
            'total_tokens': turn.input_tokens + turn.output_tokens,
            'prompt_tokens_details': {'cached_tokens': turn.cached_tokens, 'cache_write_tokens': 7}}


def chat_calls(turn):
    return [{'id': call_id, 'type': 'function', 'function': {'name': name, 'arguments': arguments}}
            for call_id, name, arguments in turn.calls()]


def chat_whole(turn):
    message = {'role': 'assistant', 'content': turn.words}
    if turn.call_id:
        message = {'role': 'assistant', 'content': turn.aloud or None,
                   'tool_calls': chat_calls(turn)}
    return {'id': f'chatcmpl-{turn.number}', 'object': 'chat.completion', 'created': 1,
            'model': turn.model, 'usage': chat_usage(turn),
            'choices': [{'index': 0, 'message': message, 'logprobs': None,
                         'finish_reason': 'tool_calls' if turn.call_id else 'stop'}]}


def chat_events(turn):
    def chunk(delta, finish=None, **more):
        return None, {'id': f'chatcmpl-{turn.number}', 'object': 'chat.completion.chunk',
                      'created': 1, 'model': turn.model,
                      'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}], **more}
    yield chunk({'role': 'assistant', 'content': None if turn.call_id else ''})
    words = turn.aloud if turn.call_id else turn.words
    for word in words.split(' ') if words else []:
        yield chunk({'content': word + ' '})
    for index, call in enumerate(chat_calls(turn)):
        arguments = call['function']['arguments']
        yield chunk({'tool_calls': [{'index': index, **call, 'function': {
            'name': call['function']['name'], 'arguments': ''}}]})
        for at in range(0, len(arguments), 7):
            yield chunk({'tool_calls': [{'index': index, 'function': {
                'arguments': arguments[at:at + 7]}}]})
    yield chunk({}, 'tool_calls' if turn.call_id else 'stop')
    if (turn.body.get('stream_options') or {}).get('include_usage'):
        yield None, {'id': f'chatcmpl-{turn.number}', 'object': 'chat.completion.chunk',
                     'created': 1, 'model': turn.model, 'choices': [], 'usage': chat_usage(turn)}
    yield None, '[DONE]'


# ---- Responses ----

def response_items(turn):
    n = turn.number
    yield {'type': 'reasoning', 'id': f'rs_{n}', 'summary': [],
           'encrypted_content': laws.seal(f'rs_{n}', f'thoughts {n}')}
    words = turn.aloud if turn.call_id else turn.words
    if words:
        yield {'type': 'message', 'id': f'msg_{n}', 'role': 'assistant', 'status': 'completed',
               'content': [{'type': 'output_text', 'text': words, 'annotations': []}]}
    for index, (call_id, name, arguments) in enumerate(turn.calls()):
        yield {'type': 'function_call', 'id': f'fc_r{n}_{index}', 'call_id': call_id,
               'name': name, 'arguments': arguments, 'status': 'completed',
               **({'namespace': turn.namespace} if turn.namespace else {})}


def responses_whole(turn, items=None, status='completed'):
    items = list(response_items(turn)) if items is None else items
    usage = {'input_tokens': turn.input_tokens, 'output_tokens': turn.output_tokens,
             'total_tokens': turn.input_tokens + turn.output_tokens,
             'input_tokens_details': {'cached_tokens': turn.cached_tokens, 'cache_write_tokens': 5,
                                      'cache_write_tokens_details': {'ttl_30m_tokens': 5,
                                                                     'ttl_12h_tokens': 0}},
             'output_tokens_details': {'reasoning_tokens': 1}}
    calls = [call_id for call_id, _, _ in turn.calls()]
    STATE.responses[f'resp_{turn.number}'] = calls
    conversation = turn.body.get('conversation')
    if conversation:
        conversation = conversation if isinstance(conversation, str) else conversation['id']
        STATE.conversations.setdefault(conversation, set()).update(calls)
    return {'id': f'resp_{turn.number}', 'object': 'response', 'created_at': 1, 'status': status,
            'conversation': {'id': conversation} if conversation else None,
            'model': turn.model, 'output': items, 'parallel_tool_calls': True, 'error': None,
            'tools': [], 'usage': usage if status == 'completed' else None}


def responses_events(turn):
    number = 0

    def event(kind, **more):
        nonlocal number
        number += 1
        return kind, {'type': kind, 'sequence_number': number, **more}
    yield event('response.created', response=responses_whole(turn, [], 'in_progress'))
    items = list(response_items(turn))
    for index, item in enumerate(items):
        begun = {'message': {'content': [], 'status': 'in_progress'},
                 'function_call': {'arguments': '', 'status': 'in_progress'}}
        yield event('response.output_item.added', output_index=index,
                    item={**item, **begun.get(item['type'], {})})
        if item['type'] == 'message':
            part = item['content'][0]
            yield event('response.content_part.added', item_id=item['id'], output_index=index,
                        content_index=0, part={**part, 'text': ''})
            for word in part['text'].split(' '):
                yield event('response.output_text.delta', item_id=item['id'], output_index=index,
                            content_index=0, delta=word + ' ')
            yield event('response.output_text.done', item_id=item['id'], output_index=index,
                        content_index=0, text=part['text'])
            yield event('response.content_part.done', item_id=item['id'], output_index=index,
                        content_index=0, part=part)
        elif item['type'] == 'function_call':
            yield event('response.function_call_arguments.delta', item_id=item['id'],
                        output_index=index, delta=item['arguments'])
            yield event('response.function_call_arguments.done', item_id=item['id'],
                        output_index=index, arguments=item['arguments'])
        yield event('response.output_item.done', output_index=index, item=item)
    yield event('response.completed', response=responses_whole(turn, items))


# ---- Messages ----

def message_blocks(turn):
    is_asked = (turn.body.get('thinking') or {}).get('type') == 'enabled'
    if is_asked or turn.model in laws.BINDING_MODELS:
        thinking = f'Thinking about turn {turn.number}.'
        whole = {**turn.body, 'messages': turn.body['messages'] + [
            {'role': 'assistant', 'content': []}]}
        prefix = laws.prefix_of(whole, len(whole['messages']) - 1, 0)
        yield {'type': 'thinking', 'thinking': thinking,
               'signature': laws.issue(turn.model, thinking, prefix)}
        laws.THOUGHT_CALLS.update(call_id.replace('call', 'toolu')
                                  for call_id, _, _ in turn.calls())
    words = turn.aloud if turn.call_id else turn.words
    if words:
        yield {'type': 'text', 'text': words}
    for call_id, name, arguments in turn.calls():
        yield {'type': 'tool_use', 'id': call_id.replace('call', 'toolu'), 'name': name,
               'input': json.loads(arguments)}


def message_usage(turn, output_tokens):
    written = 9 if turn.written_tokens is None else turn.written_tokens
    plain = turn.input_tokens - turn.cached_tokens - (turn.written_tokens or 0)
    return {'input_tokens': plain, 'output_tokens': output_tokens,
            'cache_creation_input_tokens': written, 'cache_read_input_tokens': turn.cached_tokens,
            'cache_creation': {'ephemeral_5m_input_tokens': written,
                               'ephemeral_1h_input_tokens': 0}}


def messages_whole(turn):
    return {'id': f'msg_{turn.number}', 'type': 'message', 'role': 'assistant',
            'model': turn.model, 'content': list(message_blocks(turn)),
            'stop_reason': 'tool_use' if turn.call_id else 'end_turn', 'stop_sequence': None,
            'usage': message_usage(turn, turn.output_tokens)}


def block_events(index, block):
    def delta(**value):
        return 'content_block_delta', {'type': 'content_block_delta', 'index': index,
                                       'delta': value}
    empty = {'text': {'type': 'text', 'text': ''},
             'thinking': {'type': 'thinking', 'thinking': '', 'signature': ''},
             'tool_use': {**block, 'input': {}}}[block['type']]
    yield 'content_block_start', {'type': 'content_block_start', 'index': index,
                                  'content_block': empty}
    if block['type'] == 'text':
        for word in block['text'].split(' '):
            yield delta(type='text_delta', text=word + ' ')
    elif block['type'] == 'thinking':
        yield delta(type='thinking_delta', thinking=block['thinking'])
        yield delta(type='signature_delta', signature=block['signature'])
    else:
        text = json.dumps(block['input'])
        for at in range(0, len(text), 7):
            yield delta(type='input_json_delta', partial_json=text[at:at + 7])
    yield 'content_block_stop', {'type': 'content_block_stop', 'index': index}


def messages_events(turn):
    whole = messages_whole(turn)
    yield 'message_start', {'type': 'message_start', 'message': {
        **whole, 'content': [], 'stop_reason': None, 'usage': message_usage(turn, 1)}}
    yield 'ping', {'type': 'ping'}
    for index, block in enumerate(whole['content']):
        yield from block_events(index, block)
    yield 'message_delta', {'type': 'message_delta', 'usage': whole['usage'], 'delta': {
        'stop_reason': whole['stop_reason'], 'stop_sequence': None}}
    yield 'message_stop', {'type': 'message_stop'}


WHOLE = {'chat': chat_whole, 'responses': responses_whole, 'messages': messages_whole,
         'gemini': lambda turn: gemini.whole(turn, laws), 'ollama': ollama.whole}
EVENTS = {'chat': chat_events, 'responses': responses_events, 'messages': messages_events,
          'gemini': lambda turn: gemini.events(turn, laws)}


# ---- HTTP ----

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = 0

    def handle(self):
        try:
            super().handle()
        except (OSError, ValueError):  # whoever sent it has gone
            self.close_connection = True

    def setup(self):
        super().setup()
        STATE.count('connections')
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *args):
        pass

    def answer(self, status, content, kind='application/json', **headers):
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        if self.headers.get('x-test-encoding') == 'gzip':
            raw = gzip.compress(raw)
            headers['Content-Encoding'] = 'gzip'
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(raw)))
        self.send_header('request-id', 'req_test')
        self.send_header('x-codex-turn-state', 'turn-state-1')
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(raw)

    def read_body(self):
        if 'chunked' in self.headers.get('Transfer-Encoding', ''):
            parts = []
            while True:
                size = int(self.rfile.readline().split(b';')[0], 16)
                parts.append(self.rfile.read(size))
                self.rfile.readline()
                if not size:
                    return b''.join(parts)
        wanted = int(self.headers.get('Content-Length') or 0)
        raw = self.rfile.read(wanted)
        if len(raw) < wanted:
            raise OSError('whoever sent it was killed')
        return raw

    def do_GET(self):
        if self.path == '/__last':
            self.answer(200, STATE.last_body, 'application/octet-stream')
        elif self.path.startswith('/__kept/'):
            self.answer(200, STATE.kept.get(self.path[len('/__kept/'):], b''),
                        'application/octet-stream')
        elif '/__origin/' in self.path:
            STATE.origin = 'https://' + self.path.partition('/__origin/')[2]
            self.answer(200, {})
        elif self.path.endswith('/wham/accounts/check'):
            self.answer(200, {'accounts': [{
                'id': self.headers.get('chatgpt-account-id'), 'plan_type': 'pro',
                'workspace_backend_origin': STATE.origin,
                'account_routing_override': 'NO_CONSTRAINT'}]})
        elif self.path == '/__last_head':
            self.answer(200, STATE.last_head)
        elif self.path == '/api/ps' and STATE.loaded_tokens:
            self.answer(200, {'models': [{'name': 'local-model:latest',
                                          'context_length': STATE.loaded_tokens}]})
        elif self.path == '/__stats':
            self.answer(200, STATE.stats)
        else:
            self.answer(200, {'object': 'list', 'data': [], 'path': self.path})

    do_DELETE = do_GET

    def do_HEAD(self):
        self.send_response(200)
        self.send_header('Content-Length', '123')
        self.end_headers()

    def do_POST(self):
        raw = self.read_body()
        path = self.path.partition('?')[0]
        door = clouds.door(path)
        api = door.api if door else next((APIS[end] for end in APIS if path.endswith(end)), None)
        STATE.count('requests')
        STATE.last_body = raw
        STATE.count('turn_states', self.headers.get('x-codex-turn-state') == 'turn-state-1')
        if self.headers.get('x-test-key'):
            STATE.kept[self.headers['x-test-key']] = raw
        STATE.last_head = {'method': self.command, 'path': self.path,
                           'headers': [list(h) for h in self.headers.items()]}
        if self.headers.get('x-test-delay-ms'):
            time.sleep(int(self.headers['x-test-delay-ms']) / 1000)
        if self.headers.get('x-test-status'):
            self.answer(int(self.headers['x-test-status']), {'error': {
                'type': 'overloaded_error', 'code': 'as_asked', 'message': 'as asked'}},
                retry_after='7')
        elif not api:
            self.answer(200, {'path': self.path, 'bytes': len(raw)})
        elif door:
            self.serve_cloud(door, raw)
        else:
            self.serve(api, path, raw)

    def serve_cloud(self, door, raw):
        """At a cloud's door: its rules first, then those of the API."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        session = headers.get('x-weir-session', '')
        try:
            door.enter(self.command, self.path, headers, raw)
            window = int(headers.get('x-test-window') or STATE.window_tokens)
            body = laws.check(door.api, json.dumps(door.body(raw)).encode(),
                              {'anthropic-version': '2023-06-01', **headers}, STATE, window,
                              door.is_count, door.model)
        except clouds.Refused as refused:
            STATE.count('refused')
            self.answer(refused.status, refused.body, **refused.headers)
            return
        except laws.Refusal as refusal:
            STATE.count('refused')
            status, said, more = door.refusal(refusal, door.api)
            self.answer(status, said, **more)
            return
        turn = Turn(body, raw, session)
        events = EVENTS[door.api](turn)
        if door.is_count:
            self.answer(200, {'totalTokens' if door.api == 'gemini' else 'input_tokens':
                              turn.input_tokens})
        elif door.stream_type and door.is_stream:
            self.stream(door.frames(events), door.stream_type)
        elif door.is_stream or body.get('stream'):
            self.stream(events)
        else:
            self.answer(200, door.whole(WHOLE[door.api](turn)))

    def serve(self, api, path, raw):
        is_count = path.endswith(COUNTS)
        session = self.headers.get('x-weir-session') or self.headers.get('session-id', '')
        try:
            if self.headers.get('Content-Encoding'):
                raw = self.decode(raw)
            window = int(self.headers.get('x-test-window') or STATE.window_tokens)
            named = re.search(r'odels/([^:/]+):', path)
            body = laws.check(api, raw, self.headers, STATE, window, is_count,
                              named.group(1) if named else None)
            if STATE.is_blind and IMAGES.search(raw):
                raise laws.Refusal(400, 'this model does not support image input')
        except laws.Refusal as refusal:
            STATE.count('refused')
            STATE.record(api, session, raw, True)
            self.answer(refusal.status, refusal.body(api))
            return
        STATE.record(api, session, raw, False)
        if STATE.loaded_tokens and len(raw) // laws.BYTES_A_TOKEN > STATE.loaded_tokens:
            STATE.count('cut')
        turn = Turn(body, raw, session)
        if self.headers.get('x-test-no-cache'):
            turn.cached_tokens = 0
        if is_count:
            self.answer(200, {'totalTokens' if api == 'gemini' else 'input_tokens':
                              turn.input_tokens})
        elif path.endswith(':streamGenerateContent') and 'alt=sse' not in self.path:
            self.answer(200, [data for _, data in EVENTS[api](turn)])
        elif api == 'ollama' and body.get('stream', True):
            self.stream((json.dumps(line).encode() + b'\n' for line in ollama.lines(turn)),
                        'application/x-ndjson')
        elif body.get('stream') or path.endswith(':streamGenerateContent'):
            self.stream(EVENTS[api](turn))
        else:
            self.answer(200, WHOLE[api](turn))

    def decode(self, raw):
        if self.headers['Content-Encoding'] == 'gzip':
            return gzip.decompress(raw)
        if self.headers['Content-Encoding'] == 'zstd':
            return unpack_zstd(raw)
        raise laws.Refusal(400, 'The request body encoding is not supported',
                           code='request_body_encoding_unsupported')

    def stream(self, events, kind='text/event-stream; charset=utf-8'):
        STATE.count('open')
        try:
            self.send_response(200)
            self.send_header('Content-Type', kind)
            self.send_header('Transfer-Encoding', 'chunked')
            self.send_header('x-codex-turn-state', 'turn-state-1')
            if self.headers.get('x-test-encoding') == 'gzip':
                self.send_header('Content-Encoding', 'gzip')
            self.end_headers()
            self.send_events(events)
        except OSError:
            STATE.count('cancelled')
            self.close_connection = True
        finally:
            STATE.count('open', -1)

    def send_events(self, events):
        pause = int(self.headers.get('x-test-event-ms') or 0) / 1000
        cut = int(self.headers.get('x-test-break') or 0)
        packer = gzip_packer() if self.headers.get('x-test-encoding') == 'gzip' else None
        for n, event in enumerate(events):
            if cut and n == cut:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            raw = event if isinstance(event, bytes) else event_text(*event)
            self.chunk(packer(raw) if packer else raw)
            if pause:
                self.wait(pause)
        self.wfile.write(b'0\r\n\r\n')

    def wait(self, seconds):
        """Ends early where nobody waits for what comes next."""
        if select.select([self.connection], [], [], seconds)[0]:
            if not self.connection.recv(1, socket.MSG_PEEK):
                raise OSError('whoever asked has gone')
            time.sleep(seconds)

    def chunk(self, raw):
        if raw:
            self.wfile.write(b'%x\r\n%s\r\n' % (len(raw), raw))


def event_text(name, data):
    text = data if isinstance(data, str) else json.dumps(data)
    return ((f'event: {name}\n' if name else '') + f'data: {text}\n\n').encode()


def unpack_zstd(raw):
    """By the system's library, where there is one."""
    name = ctypes.util.find_library('zstd')
    unpacked = ctypes.create_string_buffer(64 * 1024 * 1024)
    size = 1 << 64
    if name:
        zstd = ctypes.CDLL(name)
        zstd.ZSTD_decompress.restype = ctypes.c_size_t
        zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
        size = zstd.ZSTD_decompress(unpacked, len(unpacked), raw, len(raw))
    if size > len(unpacked):
        raise laws.Refusal(400, 'The request body could not be decoded',
                           code='request_body_encoding_invalid')
    return unpacked.raw[:size]


def gzip_packer():
    """Packs a stream piece by piece, each piece complete so far."""
    packer = zlib.compressobj(wbits=31)
    return lambda raw: packer.compress(raw) + packer.flush(zlib.Z_SYNC_FLUSH)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 512


def end_with_parent():
    """Whoever started this is gone: nobody asks any more."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def main():
    threading.Thread(target=end_with_parent, daemon=True).start()
    STATE.window_tokens = int(option('--window') or 0)
    STATE.loaded_tokens = int(option('--loaded') or 0)
    STATE.record_path = option('--record')
    STATE.has_cache = '--cache' in sys.argv
    STATE.is_blind = '--blind' in sys.argv
    if option('--script'):
        with open(option('--script'), encoding='utf-8') as file:
            STATE.script = json.load(file)
    if option('--scripts'):
        with open(option('--scripts'), encoding='utf-8') as file:
            STATE.scripts = json.load(file)
    server = Server(('127.0.0.1', 0), Handler)
    with open(sys.argv[1] + '.part', 'w', encoding='ascii') as file:
        file.write(str(server.server_address[1]))
    os.rename(sys.argv[1] + '.part', sys.argv[1])
    server.serve_forever()


main()

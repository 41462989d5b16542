"""Sessions that are steered while they run: the four APIs, a provider that caches, and the proxy
between them."""
import json
import os
import subprocess

from harness import PATIENCE_SECONDS, Weir, wait_for
from scripted import Scripted, chat, messages, responses
from sessions import file_text

PROGRAM = os.environ.get('WEIR', 'build/weir')
POLICIES = """policies:
  patient:
    what: nothing happens unless it is asked for
    stages:
      - {stage: deepen, keep_turns: 1, over: 50, margin_pct: 100000, quiet_turns: 100000,
         gain_bp: 10000}
  eager:
    what: the same, and what comes is cut
    stages:
      - {stage: cap, max_tokens: 300, keep: head}
      - {stage: deepen, keep_turns: 1, over: 50, margin_pct: 100000, quiet_turns: 100000,
         gain_bp: 10000}
"""


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


# ---- the APIs ----

class Chat:
    PATH, MODEL, KEY, HEADERS = '/v1/chat/completions', 'gpt-5', 'messages', {}
    STEP = 128  # tokens are read from the cache in such pieces
    TOOLS = [{'type': 'function', 'function': {'name': 'weir_recall', 'parameters': {
        'type': 'object'}}}, {'type': 'function', 'function': {'name': 'read_file', 'parameters': {
            'type': 'object'}}}]

    def begin(self):
        return [{'role': 'user', 'content': 'Find the bug.'}]

    def user(self, words):
        return [{'role': 'user', 'content': words}]

    def read(self, n):
        return [{'role': 'assistant', 'content': None, 'tool_calls': [
            {'id': f'call_{n}', 'type': 'function', 'function': {
                'name': 'read_file', 'arguments': json.dumps({'path': f'src/f{n}.py'})}}]},
                {'role': 'tool', 'tool_call_id': f'call_{n}', 'content': file_text(n)}]

    PARTS = None  # where an item has its parts
    HAS_PRICE = True

    def begun(self, items, before):
        """The first item as far as it is the other's."""
        if not items or not before or not isinstance(items[0].get(self.PARTS), list):
            return []
        parts = [a for i, a in enumerate(items[0][self.PARTS]) if unmarked(
            items[0][self.PARTS][:i + 1]) == unmarked(before[0][self.PARTS][:i + 1])]
        return [{**items[0], self.PARTS: parts}] if parts else []

    def body(self, items):
        return {'model': self.MODEL, self.KEY: items, 'tools': self.TOOLS}

    def answer(self, **usage):
        usage.pop('written', 0)
        return chat(**usage) if usage else chat()


class Responses(Chat):
    PATH, KEY = '/v1/responses', 'input'
    TOOLS = [{'type': 'function', 'name': name, 'parameters': {'type': 'object'}}
             for name in ('weir_recall', 'read_file')]

    def read(self, n):
        return [{'type': 'function_call', 'call_id': f'call_{n}', 'name': 'read_file',
                 'arguments': json.dumps({'path': f'src/f{n}.py'})},
                {'type': 'function_call_output', 'call_id': f'call_{n}', 'output': file_text(n)}]

    def body(self, items):
        return {**super().body(items), 'store': False}

    def answer(self, **usage):
        usage.pop('written', 0)
        return responses(**usage)


class Messages(Chat):
    PATH, MODEL, STEP, PARTS = '/v1/messages', 'claude-sonnet-4-5', 1, 'content'
    HEADERS = {'anthropic-version': '2023-06-01', 'x-api-key': 'k'}
    TOOLS = [{'name': 'weir_recall', 'input_schema': {'type': 'object'}},
             {'name': 'read_file', 'input_schema': {'type': 'object'}}]

    def read(self, n):
        return [{'role': 'assistant', 'content': [
            {'type': 'tool_use', 'id': f'call_{n}', 'name': 'read_file',
             'input': {'path': f'src/f{n}.py'}}]},
                {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': f'call_{n}',
                                              'content': file_text(n)}]}]

    def user(self, words):
        return [{'role': 'assistant', 'content': 'Well.'}, {'role': 'user', 'content': words}]

    def body(self, items):
        last = items[-1]['content']
        if isinstance(last, list):  # as agents do, the newest is marked
            last = last[:-1] + [{**last[-1], 'cache_control': {'type': 'ephemeral'}}]
        system = [{'type': 'text', 'text': 'You fix bugs.',
                   'cache_control': {'type': 'ephemeral'}}]
        return {**super().body(items[:-1] + [{**items[-1], 'content': last}]), 'max_tokens': 99,
                'system': system}

    def answer(self, **usage):
        return messages(**usage)


class Thinking(Messages):
    """A model that binds its signed thinking to all that stands before it."""
    MODEL = 'claude-opus-5-5'

    def read(self, n):
        call, result = super().read(n)
        call['content'].insert(0, {'type': 'thinking', 'thinking': f'hm {n}',
                                   'signature': f'signature-{n}'})
        return [call, result]


class Gemini(Chat):
    PATH, MODEL, KEY = '/v1beta/models/gemini-2.5-pro:generateContent', 'gemini-2.5-pro', 'contents'
    STEP, PARTS = 1, 'parts'
    TOOLS = [{'functionDeclarations': [{'name': 'weir_recall'}, {'name': 'read_file'}]}]

    def begin(self):
        return [{'role': 'user', 'parts': [{'text': 'Find the bug.'}]}]

    def user(self, words):
        return [{'role': 'model', 'parts': [{'text': 'Well.'}]},
                {'role': 'user', 'parts': [{'text': words}]}]

    def read(self, n):
        return [{'role': 'model', 'parts': [{'functionCall': {
            'name': 'read_file', 'args': {'path': f'src/f{n}.py'}}}]},
                {'role': 'user', 'parts': [{'functionResponse': {
                    'name': 'read_file', 'response': {'output': file_text(n)}}}]}]

    def body(self, items):
        return {self.KEY: items, 'tools': self.TOOLS}

    def answer(self, **usage):
        said = {}
        if usage:
            said = {'usageMetadata': {'promptTokenCount': usage['prompt'],
                                      'candidatesTokenCount': 5,
                                      'cachedContentTokenCount': usage['read']}}
        return 200, {'candidates': [{'content': {'role': 'model', 'parts': [{'text': 'Done.'}]},
                                     'finishReason': 'STOP'}], **said}


class Converse(Chat):
    MODEL = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
    PATH = f'/model/{MODEL.replace(":", "%3A")}/converse'
    STEP, PARTS, POINT = 1, 'content', {'cachePoint': {'type': 'default'}}
    TOOLS = {'tools': [{'toolSpec': {'name': name, 'inputSchema': {'json': {'type': 'object'}}}}
                       for name in ('weir_recall', 'read_file')]}

    def begin(self):
        return [{'role': 'user', 'content': [{'text': 'Find the bug.'}]}]

    def user(self, words):
        return [{'role': 'assistant', 'content': [{'text': 'Well.'}]},
                {'role': 'user', 'content': [{'text': words}]}]

    def read(self, n):
        return [{'role': 'assistant', 'content': [{'toolUse': {
            'toolUseId': f'call_{n}', 'name': 'read_file', 'input': {'path': f'src/f{n}.py'}}}]},
                {'role': 'user', 'content': [{'toolResult': {
                    'toolUseId': f'call_{n}', 'content': [{'text': file_text(n)}]}}]}]

    def body(self, items):
        last = {**items[-1], 'content': items[-1]['content'] + [self.POINT]}
        return {'messages': items[:-1] + [last], 'toolConfig': self.TOOLS,
                'system': [{'text': 'You fix bugs.'}, self.POINT]}

    def answer(self, prompt=100, read=0, written=0):
        return 200, {'output': {'message': {'role': 'assistant', 'content': [{'text': 'Done.'}]}},
                     'stopReason': 'end_turn', 'metrics': {'latencyMs': 1},
                     'usage': {'inputTokens': prompt - read - written, 'outputTokens': 5,
                               'totalTokens': prompt + 5, 'cacheReadInputTokens': read,
                               'cacheWriteInputTokens': written}}


class Ollama(Chat):
    """Without a price: what is said and paid is nothing."""
    PATH, MODEL, HAS_PRICE = '/api/chat', 'gpt-oss:20b', False

    def read(self, n):
        return [{'role': 'assistant', 'content': '', 'tool_calls': [
            {'function': {'name': 'read_file', 'arguments': {'path': f'src/f{n}.py'}}}]},
                {'role': 'tool', 'tool_name': 'read_file', 'content': file_text(n)}]

    def body(self, items):
        return {**super().body(items), 'stream': False, 'options': {'num_ctx': 131072}}

    def answer(self, prompt=100, **_):
        return 200, {'model': self.MODEL, 'created_at': '2026-01-01T00:00:00Z', 'done': True,
                     'message': {'role': 'assistant', 'content': 'Done.'}, 'done_reason': 'stop',
                     'prompt_eval_count': prompt, 'eval_count': 5}


APIS = [Chat, Responses, Messages, Gemini, Converse, Ollama]


# ---- a provider that caches ----

class Provider(Scripted):
    """Counts as `weir inspect` does, and reads what the last request began with from its cache."""

    def __init__(self, api):
        super().__init__()
        self.api, self.counts, self.before = api, False, None

    def next(self, raw):
        with self.lock:
            body = json.loads(raw)
            self.bodies.append(body)
        return self.api.answer(**self.usage(raw, body)) if self.counts else self.api.answer()

    def tokens(self, items, body):
        done = subprocess.run([PROGRAM, 'inspect', '--json', '--model', self.api.MODEL, '-'],
                              input=json.dumps({**body, self.api.KEY: items}),
                              capture_output=True, text=True, check=False)
        totals = json.loads(done.stdout)['totals']
        return totals['tokens'] + totals['overhead_tokens']

    def usage(self, raw, body):
        items, read = body[self.api.KEY], 0
        prompt = self.tokens(items, body)
        if self.before:
            same = 0
            while same < len(self.before) and unmarked(items[same:same + 1]) == unmarked(
                    self.before[same:same + 1]):
                same += 1
            read = prompt if same == len(items) else self.tokens(
                items[:same] + self.api.begun(items[same:], self.before[same:]), body)
            read -= read % self.api.STEP
        self.before = items
        return {'prompt': prompt, 'read': read, 'written': prompt - read}


class Talk:
    """One session through the proxy."""

    def __init__(self, folder, api, name, *arguments, config='', store=None):
        self.api, self.name, self.provider = api, name, Provider(api)
        path = os.path.join(folder, f'{name}.yaml')
        with open(path, 'w', encoding='ascii') as file:
            file.write(POLICIES)
        self.weir = Weir(folder, '--upstream', f'http://127.0.0.1:{self.provider.port}', *arguments,
                         config=f'listen: 127.0.0.1:0\npolicies: {path}\npolicy: patient\n{config}',
                         store=store)
        self.items, self.reads, self.headers = api.begin(), 0, {}

    def ask(self):
        """What the upstream got of the conversation."""
        status, data, _ = self.weir.post(self.api.PATH, self.api.body(self.items), {
            **self.api.HEADERS, 'x-weir-session': self.name, **self.headers})
        if status != 200:
            print(data)
        return self.provider.bodies[-1][self.api.KEY] if status == 200 else status

    def read(self):
        self.items = self.items + self.api.read(self.reads)
        self.reads += 1
        return self.ask()

    def command(self, *arguments):
        return run(*arguments, '--store', self.weir.store)

    def plan(self):
        """As the last request left it."""
        turns, last_ms = [None], self.last()['time_ms']

        def is_new():
            status, out, _ = self.command('plan', self.name, '--json')
            found = json.loads(out)['steering'] if not status else {}
            turns[0] = found
            return found.get('plan') and found['plan']['time_ms'] >= last_ms
        wait_for(is_new)
        return turns[0]

    def last(self):
        """The log's line of the last request."""
        self.weir.lines()
        return [line for line in self.weir.log_lines() if line.get('api') != 'mcp'][-1]

    def stop(self):
        self.weir.stop()
        self.provider.stop()


def unmarked(value):
    """Without cache markers, which may move."""
    if isinstance(value, list):
        return [unmarked(v) for v in value if not isinstance(v, dict) or 'cachePoint' not in v]
    if isinstance(value, dict):
        return {k: unmarked(v) for k, v in value.items() if k != 'cache_control'}
    return value


def extends(before, after):
    return unmarked(after[:len(before)]) == unmarked(before)


def steps_money(talk):
    """What the ledger says that the session's steps have cost."""
    requests = talk.weir.lines()

    def rows():
        found = json.loads(talk.command('sessions', '--json')[1])
        return found['requests'] >= requests and found
    return wait_for(rows)['steps_micro_usd']

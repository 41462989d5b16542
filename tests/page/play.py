"""Sessions through `weir serve`, before a provider with a prompt cache: what the page is shown on.

  play.py STORE [REQUESTS]     fills a store with that many requests (500), and says where to look

Sessions are the recorded ones of ../shared/traces where those are, else made ones. The provider
speaks Anthropic's Messages and counts four bytes as a token; what it says that it read from its
cache is what two prompts in a row really share.
"""
import glob
import http.server
import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
import harness  # noqa: E402

TRACES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'shared',
                      'traces', 'normalized')
SYSTEM = 'You are a coding agent. Work in small steps and say what you did.\n' * 40
TOOL_NAMES = ('Bash', 'Read', 'Edit', 'Grep', 'Write', 'TodoWrite', 'Glob', 'weir_recall')


def tools():
    return [{'name': name, 'description': f'The tool {name}. ' * 20,
             'input_schema': {'type': 'object', 'properties': {'path': {'type': 'string'}}}}
            for name in TOOL_NAMES]


class Provider:
    """Keeps the last body of every request, by the order they came, and the last prompt of each
    session, to know what the next one shares with it."""

    def __init__(self):
        provider = self
        self.bodies = []
        self.prompts = {}
        self.lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                answer = provider.answer(body, self.headers.get('x-claude-code-session-id', ''))
                self.send_response(200)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, body, session):
        request = json.loads(body)
        parts = [json.dumps([request.get('system'), request.get('tools')])]
        parts += [json.dumps(message) for message in request['messages']]
        prompt = '\0'.join(part.replace(', "cache_control": {"type": "ephemeral"}', '')
                           for part in parts)
        with self.lock:
            self.bodies.append(body)
            last = self.prompts.get(session, '')
            self.prompts[session] = prompt
        shared = len(os.path.commonprefix([last, prompt])) // 4
        total = len(prompt) // 4
        usage = {'input_tokens': 3, 'output_tokens': 180, 'cache_read_input_tokens': shared,
                 'cache_creation_input_tokens': max(0, total - shared - 3)}
        return json.dumps({'id': 'msg_1', 'type': 'message', 'role': 'assistant',
                           'model': request['model'], 'stop_reason': 'end_turn',
                           'content': [{'type': 'text', 'text': 'done'}],
                           'usage': usage}).encode()

    def stop(self):
        self.server.shutdown()


def to_messages(lines):
    """Chat messages as Anthropic's: results are blocks of the user's, calls of the model's."""
    out = []

    def add(role, blocks):
        if out and out[-1]['role'] == role:
            out[-1]['content'] += blocks
        elif blocks:
            out.append({'role': role, 'content': list(blocks)})

    for m in lines:
        text = m.get('content') or ''
        if m['role'] == 'tool':
            add('user', [{'type': 'tool_result', 'tool_use_id': m['tool_call_id'],
                          'content': text or '(empty)'}])
        elif m['role'] == 'assistant':
            blocks = [{'type': 'text', 'text': text}] if text.strip() else []
            for call in m.get('tool_calls') or []:
                try:
                    arguments = json.loads(call['function']['arguments'])
                except ValueError:
                    arguments = {}
                blocks.append({'type': 'tool_use', 'id': call['id'],
                               'name': call['function']['name'],
                               'input': arguments if isinstance(arguments, dict) else {}})
            add('assistant', blocks)
        elif m['role'] == 'user' and text.strip():
            add('user', [{'type': 'text', 'text': text}])
    return out


def lawful_ends(messages):
    """Where a request may end: behind the user's, with every call answered."""
    ends, open_calls = [], set()
    for i, m in enumerate(messages):
        for block in m['content']:
            if block['type'] == 'tool_use':
                open_calls.add(block['id'])
            elif block['type'] == 'tool_result':
                open_calls.discard(block['tool_use_id'])
        if m['role'] == 'user' and not open_calls:
            ends.append(i + 1)
    return ends


def recorded_sessions(count, requests_each):
    found = []
    for path in sorted(glob.glob(os.path.join(TRACES, '*.jsonl'))):
        with open(path, encoding='utf-8') as file:
            messages = to_messages([json.loads(line) for line in file])
        while messages and messages[0]['role'] != 'user':
            messages.pop(0)
        ends = lawful_ends(messages)
        if len(ends) >= requests_each and len(json.dumps(messages)) < 1500000:
            found.append((os.path.basename(path)[:-6], messages, ends))
        if len(found) == count:
            break
    return found


def made_session(n, turns):
    """Reads, tests and searches, as an agent makes them."""
    messages = [{'role': 'user', 'content': [{
        'type': 'text', 'text': f'The nightly build {n} is red, find out why and fix it.'}]}]
    for i in range(turns):
        name, arguments, text = (
            ('Bash', {'command': 'make test'},
             ''.join(f'ok {k} test_{k} passed in 0.0{k % 10}s\n' for k in range(150)) +
             f'FAIL test_{i}: expected 3, got 4 at src/a{i}.c:12\n151 tests, 1 failed\n'),
            ('Read', {'file_path': f'/src/file{i}.c'},
             ''.join(f'{k}\tint function_{i}_{k}(int v) {{ return v + {k}; }}\n'
                     for k in range(120))),
            ('Grep', {'pattern': 'function_', 'path': '/src'},
             ''.join(f'/src/file{k % 9}.c:{k}:int function_{i}_{k}(int v)\n' for k in range(90))),
        )[i % 3]
        messages.append({'role': 'assistant', 'content': [
            {'type': 'text', 'text': f'Step {i}.'},
            {'type': 'tool_use', 'id': f'toolu_{n}_{i}', 'name': name, 'input': arguments}]})
        messages.append({'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': f'toolu_{n}_{i}', 'content': text}]})
        if i % 12 == 11:
            messages.append({'role': 'assistant', 'content': [
                {'type': 'text', 'text': 'That part is done.'}]})
            messages.append({'role': 'user', 'content': [
                {'type': 'text', 'text': f'Good. Now the next one, number {i}.'}]})
    return f'made-{n}', messages, lawful_ends(messages)


def sessions(count, requests_each):
    found = recorded_sessions(count, requests_each)
    return found + [made_session(n, requests_each + 2) for n in range(count - len(found))]


def body_of(messages, model, system=SYSTEM):
    return {'model': model, 'max_tokens': 8000, 'system': [{'type': 'text', 'text': system}],
            'tools': tools(), 'messages': messages}


def headers_of(name):
    return {'anthropic-version': '2023-06-01', 'x-api-key': 'k', 'user-agent': 'claude-cli/2.1.0',
            'x-claude-code-session-id': name}


def play(weir, name, messages, ends, requests_each, model, breaks_at=None):
    """One request after the other. `breaks_at`: from that one on the agent has other
    instructions, and so breaks the cache."""
    for n, end in enumerate(ends[:requests_each]):
        system = SYSTEM if breaks_at is None or n < breaks_at else 'It is now 12:31. ' + SYSTEM
        status, answer, _ = weir.post('/v1/messages', body_of(messages[:end], model, system),
                                      headers_of(name))
        if status != 200:
            raise RuntimeError(f'{name} {n}: {status} {answer[:300]}')


def ask_again(weir, provider, name, messages, model):
    """The model asks for two originals again: one that is there, which it gets, and one that never
    was. Gives how many requests that took."""
    there = re.search(rb'wr_[0-9a-f]{20}', provider.bodies[-1]).group().decode()
    for n, (handle, is_missing) in enumerate([(there, False), ('wr_' + '0' * 20, True)]):
        status, text, _ = weir.get('/weir/v1/traffic/original?handle=' + handle)
        text = text.decode() if status == 200 else f'{handle}: never stored'
        messages = messages + [
            {'role': 'assistant', 'content': [{'type': 'tool_use', 'id': f'toolu_again_{n}',
                                               'name': 'weir_recall',
                                               'input': {'handle': handle}}]},
            {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': f'toolu_again_{n}',
                                          'is_error': is_missing, 'content': text}]}]
        weir.post('/v1/messages', body_of(messages, model), headers_of(name))
    return 2


MODELS = ('claude-sonnet-5-5', 'claude-opus-4-5-20251101', 'claude-haiku-4-5')


def fill(weir, provider, requests=500, each=36):
    """Gives how many requests there were, and in which session something was asked for again."""
    count, again = 0, None
    for n, (name, messages, ends) in enumerate(sessions((requests + each - 1) // each, each)):
        some = min(each, requests - count, len(ends))
        play(weir, name, messages, ends, some, MODELS[n % 3], 20 if n % 4 == 1 else None)
        count += some
        if not again and n % 4 != 1 and re.search(rb'wr_[0-9a-f]{20}', provider.bodies[-1]):
            count += ask_again(weir, provider, name, messages[:ends[some - 1]], MODELS[n % 3])
            again = 'claude:' + name
    return count, again


def many(weir, count):
    """That many sessions of one small request each, from eight clients."""
    def client(numbers):
        for n in numbers:
            weir.post('/v1/messages', {
                'model': MODELS[n % 3], 'max_tokens': 100,
                'messages': [{'role': 'user', 'content': f'Question {n}, a short one.'}]},
                headers_of(f'many-{n}'))
    clients = [threading.Thread(target=client, args=(range(k, count, 8),)) for k in range(8)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()


def serve(folder, provider, store=None, config='', arguments=()):
    return harness.Weir(folder, '--upstream', f'http://127.0.0.1:{provider.port}/v1', *arguments,
                        config='listen: 127.0.0.1:0\n' + config, store=store)


def main():
    store = sys.argv[1]
    os.makedirs(store, exist_ok=True)
    provider = Provider()
    weir = serve(store, provider, store=store)
    print(fill(weir, provider, int(sys.argv[2]) if len(sys.argv) > 2 else 500)[0], 'requests')
    print(f'http://127.0.0.1:{weir.port}/weir/')
    if len(sys.argv) > 3:
        input('Enter ends it. ')
    weir.stop()


if __name__ == '__main__':
    main()

"""`weir simulate --through`: proxies that pass on, cut, ask, stay silent, and Weir's own."""
import http.client
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

from harness import PATIENCE_SECONDS, Checks, Weir, deaf_port, free_port

CHECK = Checks()
ok = CHECK.ok
LOOPS, READS = 4, 3
SAME = ('cost_usd', 'floor_multiple', 'requests', 'prompt_tokens', 'cached_share',
        'written_tokens', 'evidence', 'recalls', 'recalled_tokens', 'steps')


def call(i, loop):
    return {'id': f'c{loop}_{i}', 'type': 'function', 'function': {
        'name': 'read_file', 'arguments': json.dumps({'path': f'src/part_{loop}_{i}.py'})}}


def result(i, loop):
    return ''.join(f'def sluice_{loop}_{i}_{n}(level):  # opens gate {n}, caf\u00e9\n'
                   for n in range(150))


def write_log(path):
    """Loops of reads; each ends with words that quote a line, the last one from the first loop."""
    messages = []
    for loop in range(LOOPS):
        messages.append({'role': 'user', 'content': f'Look at part {loop}.'})
        for i in range(READS):
            messages.append({'role': 'assistant', 'content': '', 'tool_calls': [call(i, loop)]})
            messages.append({'role': 'tool', 'tool_call_id': f'c{loop}_{i}',
                             'content': result(i, loop)})
        messages.append({'role': 'assistant', 'content': f'See `sluice_{loop}_0_75`.'})
    messages.append({'role': 'user', 'content': 'And before that?'})
    messages.append({'role': 'assistant', 'content': 'It was `sluice_0_1_70`.'})
    with open(path, 'w', encoding='utf-8') as file:
        for message in messages:
            file.write(json.dumps(message) + '\n')


def write_claude_log(path):
    """The same as Claude Code logs it: a block a line."""
    count = [0]

    def entry(kind, message):
        count[0] += 1
        return {'type': kind, 'uuid': f'u{count[0]}', 'sessionId': 's', 'isSidechain': False,
                'timestamp': f'2026-01-01T00:{count[0] // 60:02}:{count[0] % 60:02}Z',
                'message': message}

    def output(number, block):
        return entry('assistant', {'id': f'm{number}', 'role': 'assistant',
                                   'model': 'claude-sonnet-5-5', 'content': [block]})

    lines = []
    for loop in range(LOOPS):
        lines.append(entry('user', {'role': 'user', 'content': f'Look at part {loop}.'}))
        for i in range(READS):
            name = f'{loop}_{i}'
            lines.append(output(name, {'type': 'text', 'text': 'I read.'}))
            lines.append(output(name, {'type': 'tool_use', 'id': f'c{name}', 'name': 'Read',
                                       'input': {'path': f'src/part_{name}.py'}}))
            lines.append(entry('user', {'role': 'user', 'content': [
                {'type': 'tool_result', 'tool_use_id': f'c{name}', 'content': result(i, loop)}]}))
        lines.append(output(f'{loop}_end', {'type': 'text', 'text': f'See `sluice_{loop}_0_75`.'}))
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(line) + '\n' for line in lines)


def write_codex_log(path):
    lines = [{'type': 'session_meta', 'payload': {'id': 's', 'instructions': 'Work.'}}]

    def item(payload):
        lines.append({'type': 'response_item', 'payload': payload})

    for loop in range(LOOPS):
        item({'type': 'message', 'role': 'user',
              'content': [{'type': 'input_text', 'text': f'Look at part {loop}.'}]})
        for i in range(READS):
            name = f'{loop}_{i}'
            item({'type': 'function_call', 'call_id': f'c{name}', 'name': 'shell',
                  'arguments': json.dumps({'command': f'cat src/part_{name}.py'})})
            item({'type': 'function_call_output', 'call_id': f'c{name}',
                  'output': result(i, loop)})
        item({'type': 'message', 'role': 'assistant',
              'content': [{'type': 'output_text', 'text': f'See `sluice_{loop}_0_75`.'}]})
    for second, line in enumerate(lines):
        line['timestamp'] = f'2026-01-01T00:{second // 60:02}:{second % 60:02}Z'
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(line) + '\n' for line in lines)


class Proxy:
    """A proxy that does `change` to each body, and `before` it whatever it likes."""

    def __init__(self, change=None, before=None, is_silent=False):
        self.upstream = free_port()
        self.heads = []
        self.posts = []
        self.answers = []
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['content-length']))
                proxy.heads.append(dict(self.headers))
                proxy.posts.append((self.path, json.loads(body)))
                if is_silent:
                    self.answer(200, b'{"choices":[]}')
                    return
                if before:
                    proxy.ask(before(json.loads(body)), self.path)
                if change:
                    body = json.dumps(change(json.loads(body))).encode()
                status, data = proxy.ask(body, self.path)
                proxy.answers.append(json.loads(data))
                self.answer(status, data)

            def answer(self, status, data):
                self.send_response(status)
                self.send_header('content-length', str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}/v1'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ask(self, body, path):
        connection = http.client.HTTPConnection('127.0.0.1', self.upstream,
                                                timeout=PATIENCE_SECONDS)
        connection.request('POST', path, body,
                           {'content-type': 'application/json'})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def run(*arguments):
    done = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'simulate', *arguments],
                          capture_output=True, text=True, timeout=2 * PATIENCE_SECONDS,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def measure(log, url, port, *arguments, name='rival'):
    code, out, err = run(log, '--json', '--through', url, '--upstream', str(port), '--name', name,
                         '--policy', 'exact', *arguments)
    ok(f'{name}: measured', (code, err), (0, ''))
    return {lane['policy']: lane for lane in json.loads(out)['policies']} if not code else None


def passed_on(log):
    proxy = Proxy()
    lanes = measure(log, proxy.url, proxy.upstream, '--header', 'x-key: own', name='pass')
    proxy.stop()
    for field in SAME:
        ok(f'passed on: {field} as of exact', lanes['pass'][field], lanes['exact'][field])
    ok('passed on: nothing rewritten', lanes['pass']['steps_by_reason'], {})
    ok('a header of the user reaches the proxy', {h.get('x-key') for h in proxy.heads}, {'own'})
    ok('one session has one name', len({h['session-id'] for h in proxy.heads}), 1)


def spelt_anew(log):
    """Parsed and written again: the same words cost the same."""
    proxy = Proxy(change=lambda body: body)
    lanes = measure(log, proxy.url, proxy.upstream, name='spelt')
    proxy.stop()
    ok('spelt anew: the same cost but for blanks in the tools',
       abs(lanes['spelt']['cost_usd'] / lanes['exact']['cost_usd'] - 1) < 0.002)
    ok('spelt anew: nothing lost', lanes['spelt']['evidence'], lanes['exact']['evidence'])


def markers(value):
    if isinstance(value, dict):
        return ('cache_control' in value) + sum(markers(v) for v in value.values())
    return sum(markers(v) for v in value) if isinstance(value, list) else 0


def without_markers(value):
    if isinstance(value, dict):
        return {k: without_markers(v) for k, v in value.items() if k != 'cache_control'}
    return [without_markers(v) for v in value] if isinstance(value, list) else value


def of_claude_code(folder):
    """A log of Claude Code is posted as Messages, with the markers that pay for its cache."""
    log = os.path.join(folder, 'claude.jsonl')
    write_claude_log(log)
    proxy = Proxy()
    lanes = measure(log, proxy.url, proxy.upstream, name='claude')
    proxy.stop()
    path, body = proxy.posts[-1]
    ok('claude code: posted as Messages', {path for path, _ in proxy.posts}, {'/v1/messages'})
    ok('claude code: markers behind the tools and the last block',
       (markers(body['tools'][-1]), markers(body['messages'][-1]['content'][-1]), markers(body)),
       (1, 1, 2))
    ok('claude code: as a client of that API sends it',
       (body['max_tokens'] > 0, proxy.heads[-1].get('anthropic-version')), (True, '2023-06-01'))
    ok('claude code: one output is one request', len(proxy.posts), LOOPS * (READS + 1))
    first = proxy.answers[0]
    ok('claude code: answered in that API', ([b['type'] for b in first['content']],
                                             first['stop_reason']),
       (['text', 'tool_use'], 'tool_use'))
    for field in ('requests', 'evidence', 'recalls', 'steps'):
        ok(f'claude code: {field} as of exact', lanes['claude'][field], lanes['exact'][field])
    ok('claude code: priced as exact is',
       abs(lanes['claude']['cost_usd'] / lanes['exact']['cost_usd'] - 1) < 0.005)
    proxy = Proxy(change=without_markers)
    bare = measure(log, proxy.url, proxy.upstream, name='bare')['bare']
    proxy.stop()
    ok('claude code: who loses the markers pays for it',
       (bare['cached_share'], bare['cost_usd'] > 2 * lanes['exact']['cost_usd']), (0, True))
    proxy = Proxy(change=cut_messages)
    lanes = measure(log, proxy.url, proxy.upstream, name='cut')
    proxy.stop()
    ok('claude code: what was cut is lost', lanes['cut']['evidence']['lost'], LOOPS)


def cut_messages(body):
    for message in body['messages']:
        for block in message['content']:
            if block['type'] == 'tool_result':
                block['content'] = block['content'][:200]
    return body


def of_codex(folder):
    """A log of Codex is posted as Responses."""
    log = os.path.join(folder, 'codex.jsonl')
    write_codex_log(log)
    proxy = Proxy()
    lanes = measure(log, proxy.url, proxy.upstream, name='codex')
    proxy.stop()
    path, body = proxy.posts[-1]
    ok('codex: posted as Responses', {path for path, _ in proxy.posts}, {'/v1/responses'})
    ok('codex: its items', [i['type'] for i in body['input'][-3:]],
       ['message', 'function_call', 'function_call_output'][-3:]
       if READS == 1 else ['function_call_output', 'function_call', 'function_call_output'])
    ok('codex: answered in that API', proxy.answers[0]['output'][0]['type'], 'function_call')
    for field in ('requests', 'evidence', 'recalls', 'steps'):
        ok(f'codex: {field} as of exact', lanes['codex'][field], lanes['exact'][field])
    ok('codex: priced as exact is',
       abs(lanes['codex']['cost_usd'] / lanes['exact']['cost_usd'] - 1) < 0.005)


def cut(body):
    for message in body['messages']:
        if message['role'] == 'tool':
            message['content'] = message['content'][:200]
    return body


def cut_short(log):
    proxy = Proxy(change=cut)
    lanes = measure(log, proxy.url, proxy.upstream, name='cut')
    proxy.stop()
    ok('cut: cheaper', lanes['cut']['cost_usd'] < lanes['exact']['cost_usd'] / 2)
    ok('cut: what was quoted is lost', lanes['cut']['evidence']['lost'], LOOPS + 1)
    ok('cut: saved tokens are counted', lanes['cut']['saved_prompt_tokens'] > 10000)


def slide(body):
    results = [m for m in body['messages'] if m['role'] == 'tool']
    for message in results[:-2]:
        message['content'] = '(old)'
    return body


def sliding(log):
    """A boundary that moves with every result rewrites what was sent."""
    proxy = Proxy(change=slide)
    lanes = measure(log, proxy.url, proxy.upstream, name='slide')
    proxy.stop()
    ok('slide: rewrites are counted', lanes['slide']['steps_by_reason'],
       {'rewritten': LOOPS * READS - 2})


def asking(log):
    """A question of its own before every request is paid for."""
    proxy = Proxy(before=lambda body: json.dumps({
        'model': 'small', 'messages': [{'role': 'user', 'content': 'Sum up: ' + 'word ' * 2000}]}))
    lanes = measure(log, proxy.url, proxy.upstream, name='asks')
    proxy.stop()
    requests = lanes['exact']['requests']
    ok('asks: its questions are requests', lanes['asks']['requests'], 2 * requests)
    ok('asks: and paid for', lanes['asks']['prompt_tokens'] - lanes['exact']['prompt_tokens'] >
       2000 * requests)
    ok('asks: the answers are those recorded', lanes['asks']['evidence'],
       lanes['exact']['evidence'])


def of_weir(log, folder):
    """Through `weir serve` the figures are those of its policy run here, but for the clock."""
    for policy in ('guarded-mid', 'tiered', 'lean'):
        port = free_port()
        weir = Weir(folder, '--policy', policy, '--upstream', f'http://127.0.0.1:{port}/v1')
        lanes = measure(log, f'http://127.0.0.1:{weir.port}/v1', port, '--policy', policy,
                        '--store', weir.store, '--model', 'gpt-5.5', '--window', '922000',
                        name='weir')
        for field in SAME:
            ok(f'weir serve, {policy}: {field} as run here', lanes['weir'][field],
               lanes[policy][field])
        if policy != 'tiered':
            ok(f'weir serve, {policy}: it was at work', lanes['weir']['saved_prompt_tokens'] > 0)
            ok(f'weir serve, {policy}: handles lead somewhere', lanes['weir']['recalls'] > 0)
        weir.stop()


def wrong_calls(log):
    port = free_port()
    silent = Proxy(is_silent=True)
    with socket.create_server(('127.0.0.1', 0)) as taken, deaf_port() as deaf:
        url = f'http://127.0.0.1:{deaf.getsockname()[1]}/v1'
        for words, arguments in (
                ('no answer', ('--through', url, '--upstream', str(port))),
                ('nothing arrived at port', ('--through', silent.url, '--upstream', str(port))),
                ('--through wants --upstream', ('--through', url)),
                ('--through wants the URL', ('--through', '127.0.0.1:1', '--upstream', '1')),
                ('--upstream wants a number', ('--through', url, '--upstream', '0')),
                ('are for --through', ('--upstream', '9001')),
                ("wants 'Name: value'", ('--through', url, '--upstream', str(port), '--header',
                                         'nothing')),
                ("'auto': give the rival", ('--through', url, '--upstream', str(port), '--name',
                                            'auto')),
                ('cannot listen', ('--through', url, '--upstream',
                                   str(taken.getsockname()[1])))):
            code, out, err = run(log, '--policy', 'exact', *arguments)
            ok(f'{words}: exit 2, one line', (code, out, err.count('\n'), words in err),
               (2, '', 1, True))
    silent.stop()


def main():
    folder = tempfile.mkdtemp()
    log = os.path.join(folder, 'log.jsonl')
    try:
        write_log(log)
        passed_on(log)
        spelt_anew(log)
        cut_short(log)
        sliding(log)
        asking(log)
        of_claude_code(folder)
        of_codex(folder)
        of_weir(log, folder)
        wrong_calls(log)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""LiteLLM's gateway with Weir where its `headroom` guardrail expects a compressor, and Portkey's
open one with Weir as its webhook.

    run_gateway.py CLIENTS_DIR    where they are or are to be installed (pip, npm)

WEIR names the program, GATEWAY_LOG a file for what the gateway logs. A long tool result goes
through the real gateway to a scripted upstream, in Chat Completions and in Anthropic's Messages:
it must arrive shorter, with the gateway's retrieve tool beside it. In the former the model asks
for the original by that tool: the gateway must get it from Weir and ask again with it; the client
sees one answer; the second turn repeats the bytes of the first. Behind Portkey's the client has the
recall tool itself. Says aloud what cannot be installed; without LiteLLM all is skipped (exit 77).
"""
import hashlib
import http.client
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'upstream'))
from harness import STARTED, Checks, Folder, Weir, free_port, wait_for  # noqa: E402
from scripted import Scripted, chat, messages  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
LOG = ''.join(f'{i:05d} src/mod_{i % 7}.py: item {i * 7919 % 1000} is fine\n' for i in range(900))
HASH = hashlib.sha256(LOG.encode()).hexdigest()[:20]
KEY = 'sk-gateway-0123456789'
START_SECONDS = 600  # to load it takes 14 s of the processor, which may be busy


def python_of(clients):
    place = os.path.join(clients, 'python-gateway')
    python = os.path.join(place, 'bin', 'python')
    if not os.path.exists(os.path.join(place, 'installed')):
        subprocess.run([sys.executable, '-m', 'venv', place], check=True)
        # Its adapter asks for a way back since 1.109; what else it needs is of any age.
        done = [subprocess.run([python, '-m', 'pip', 'install', '--quiet', *words]).returncode
                for words in (['litellm[proxy]'], ['--no-deps', 'litellm>=1.109'])]
        if any(done):
            print('skipped: LiteLLM cannot be installed by pip')
            sys.exit(77)
        open(os.path.join(place, 'installed'), 'w', encoding='ascii').close()
    return python


def portkey_of(clients):
    """Its start script, or None."""
    place = os.path.join(clients, 'portkey')
    script = os.path.join(place, 'node_modules/@portkey-ai/gateway/build/start-server.js')
    if not os.path.exists(script):
        os.makedirs(place, exist_ok=True)
        try:
            subprocess.run(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix',
                            place, '@portkey-ai/gateway@1.15'], check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
    return script


def start_gateway(python, folder, weir, upstream):
    port = free_port()
    config = os.path.join(folder, 'litellm.yaml')
    with open(config, 'w', encoding='ascii') as file:
        json.dump({
            'model_list': [{'model_name': 'chat', 'litellm_params': {
                'model': 'openai/gpt-4o', 'api_key': 'k',
                'api_base': f'http://127.0.0.1:{upstream.port}/v1'}},
                           {'model_name': 'messages', 'litellm_params': {
                               'model': 'anthropic/claude-sonnet-4-5', 'api_key': 'k',
                               'api_base': f'http://127.0.0.1:{upstream.port}'}}],
            'guardrails': [{'guardrail_name': 'weir', 'litellm_params': {
                'guardrail': 'headroom', 'mode': 'pre_call', 'default_on': True,
                'api_base': f'http://127.0.0.1:{weir.port}'}}],
            'general_settings': {'master_key': KEY}}, file)  # JSON is YAML
    said = os.environ.get('GATEWAY_LOG')
    log = open(said or os.path.join(folder, 'litellm.log'), 'w', encoding='utf-8')
    process = subprocess.Popen(
        [os.path.join(os.path.dirname(python), 'litellm'), '--config', config, '--host',
         '127.0.0.1', '--port', str(port),
         *(['--detailed_debug'] if said else [])], stdout=log, stderr=log, cwd=folder,
        env={**os.environ, 'LITELLM_LOCAL_MODEL_COST_MAP': 'True', 'HOME': folder,
             'LITELLM_TELEMETRY': 'False'})
    STARTED.append(process)

    def answers():
        if process.poll() is not None:
            log.flush()
            with open(log.name, encoding='utf-8') as file:
                raise RuntimeError('the gateway ended: ' + file.read()[-2000:])
        try:
            return ask(port, 'GET', '/health/liveliness', None)[0] == 200
        except OSError:
            return False
    if not wait_for(answers, START_SECONDS):
        raise RuntimeError('the gateway does not start')
    return port, process


def ask(port, method, path, body):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=120)
    connection.request(method, path, body and json.dumps(body),
                       {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + KEY,
                        'anthropic-version': '2023-06-01'})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data


CHAT = [{'role': 'user', 'content': 'What is in the log?'},
        {'role': 'assistant', 'content': None, 'tool_calls': [
            {'id': 'c1', 'type': 'function',
             'function': {'name': 'bash', 'arguments': '{"command": "cat log.txt"}'}}]},
        {'role': 'tool', 'tool_call_id': 'c1', 'content': LOG},
        {'role': 'assistant', 'content': 'Items.'}, {'role': 'user', 'content': 'Which is 450?'}]
BLOCKS = [{'role': 'user', 'content': 'What is in the log?'},
          {'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 'c1', 'name': 'bash',
                                             'input': {'command': 'cat log.txt'}}]},
          {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 'c1',
                                        'content': LOG}]},
          {'role': 'assistant', 'content': 'Items.'}, {'role': 'user', 'content': 'Which is 450?'}]
CHAT_TOOL = {'type': 'function', 'function': {'name': 'bash', 'description': 'Runs.',
                                              'parameters': {'type': 'object', 'properties': {}}}}
BLOCK_TOOL = {'name': 'bash', 'description': 'Runs.',
              'input_schema': {'type': 'object', 'properties': {}}}


def play_chat(port, upstream):
    path = '/v1/chat/completions'
    upstream.bodies.clear()
    upstream.say(chat(calls=[('call_r', 'headroom_retrieve', {'hash': HASH})], prompt=900),
                 chat('It is item 450.', prompt=900))
    body = {'model': 'chat', 'max_tokens': 100, 'messages': CHAT, 'tools': [CHAT_TOOL]}
    status, data = ask(port, 'POST', path, body)
    ok(f'{path}: an answer', (status, b'It is item 450.' in data), (200, True))
    ok(f'{path}: the tool of the gateway is not seen', b'headroom_retrieve' in data, False)
    ok(f'{path}: two requests', len(upstream.bodies), 2)
    first, second = upstream.bodies[0], upstream.bodies[-1]
    text = first['messages'][2]['content']
    print(f'{path}: {len(LOG)} bytes of log went on as {len(text)}')
    ok(f'{path}: the log is shorter', len(text) < len(LOG) // 4)
    ok(f'{path}: its marker names the tool', 'headroom_retrieve {"hash":"%s"}' % HASH in text)
    ok(f'{path}: which is offered', 'headroom_retrieve' in json.dumps(first.get('tools', [])))
    ok(f'{path}: the original came back', json.dumps(LOG)[1:-1] in json.dumps(second))
    upstream.say(chat('Fine.', prompt=900))
    longer = CHAT + [{'role': 'assistant', 'content': 'It is item 450.'},
                     {'role': 'user', 'content': 'Thanks.'}]
    ask(port, 'POST', path, {**body, 'messages': longer})
    ok(f'{path}: later it is the same bytes', upstream.bodies[-1]['messages'][:len(CHAT)],
       first['messages'])


def play_messages(port, upstream):
    path = '/v1/messages'
    upstream.bodies.clear()
    upstream.say(messages('It is item 450.', prompt=900))
    status, data = ask(port, 'POST', path, {'model': 'messages', 'max_tokens': 100,
                                            'messages': BLOCKS, 'tools': [BLOCK_TOOL]})
    ok(f'{path}: an answer', (status, b'It is item 450.' in data), (200, True))
    sent = json.dumps(upstream.bodies[0])
    print(f'{path}: {len(LOG)} bytes of log went on as {len(sent)} with the rest of the request')
    ok(f'{path}: the log is shorter', len(sent) < len(LOG) // 3)
    ok(f'{path}: its marker names the tool, which is offered',
       (HASH in sent, '"headroom_retrieve"' in sent), (True, True))


def play_portkey(script, folder, weir, upstream):
    port = free_port()
    with open(os.path.join(folder, 'portkey.log'), 'w', encoding='utf-8') as log:
        process = subprocess.Popen(['node', script, f'--port={port}', '--headless'], stdout=log,
                                   stderr=log, stdin=subprocess.DEVNULL)
    STARTED.append(process)
    config = {'provider': 'openai', 'custom_host': f'http://127.0.0.1:{upstream.port}/v1',
              'input_guardrails': [{'deny': False, 'default.webhook': {
                  'webhookURL': f'http://127.0.0.1:{weir.port}/weir/v1/webhook'}}]}

    def talk(chat_messages):
        """The messages that the provider gets."""
        upstream.bodies.clear()
        upstream.say(chat('Fine.', prompt=900))
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=120)
        recall = {'type': 'function', 'function': {'name': 'weir_recall', 'parameters': {
            'type': 'object', 'properties': {'handle': {'type': 'string'}}}}}
        connection.request('POST', '/v1/chat/completions', json.dumps({
            'model': 'gpt-4o', 'messages': chat_messages, 'tools': [CHAT_TOOL, recall]}), {
                'Content-Type': 'application/json', 'Authorization': 'Bearer k',
                'x-portkey-config': json.dumps(config)})
        answer = connection.getresponse()
        ok('portkey: an answer', (answer.status, b'Fine.' in answer.read()), (200, True))
        connection.close()
        return upstream.bodies[-1]['messages']

    def answers():
        try:
            connection = http.client.HTTPConnection('127.0.0.1', port, timeout=10)
            connection.request('GET', '/')
            return connection.getresponse().status < 500
        except OSError:
            return False
    if not wait_for(answers):
        raise RuntimeError("Portkey's gateway does not start")
    sent = talk(CHAT)
    print(f'portkey: {len(LOG)} bytes of log went on as {len(sent[2]["content"])}')
    ok('portkey: the log is shorter, with its handle',
       (len(sent[2]['content']) < len(LOG) // 4, HASH in sent[2]['content']), (True, True))
    ok('portkey: the rest is as it came', sent[:2] + sent[3:], CHAT[:2] + CHAT[3:])
    status, data, _ = weir.post('/weir/v1/recall', {'handle': 'wr_' + HASH})
    ok('portkey: the original comes back', (status, json.loads(data)['text'] == LOG), (200, True))
    longer = CHAT + [{'role': 'assistant', 'content': 'It is item 450.'},
                     {'role': 'user', 'content': 'Thanks.'}]
    ok('portkey: later it is the same', talk(longer)[:len(CHAT)], sent)
    process.kill()
    process.wait()


def main():
    python = python_of(os.path.abspath(sys.argv[1]))
    with Folder() as folder:
        upstream = Scripted()
        weir = Weir(folder, '--upstream', 'openai=http://127.0.0.1:1',
                    config='listen: 127.0.0.1:0\npolicy: auto\n')
        port, gateway = start_gateway(python, folder, weir, upstream)
        play_chat(port, upstream)
        play_messages(port, upstream)
        gateway.kill()
        gateway.wait()
        script = portkey_of(os.path.abspath(sys.argv[1]))
        if script:
            play_portkey(script, folder, weir, upstream)
        else:
            print("skipped: Portkey's gateway cannot be installed by npm")
        weir.stop()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

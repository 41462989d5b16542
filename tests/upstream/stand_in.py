#!/usr/bin/env python3
"""An agent that is none: it looks for its settings where the agent it is named after would, writes
down what it found, and talks to the model there.

Its name chooses the agent. In the environment: STAND_IN_OUT, the file for what it found (JSON);
STAND_IN_DO, what to do: `requests N`, `talk FILE` (a request of Chat Completions, sent a turn at a
time), `exit N`, `kill N`, `signals` (writes each that comes to stdout, ends with status 7 at
SIGTERM).
"""
import json
import os
import re
import signal
import sys
import urllib.request

NAME = os.path.basename(sys.argv[0])
ENV = os.environ


def option(name):
    """codex's `-c NAME=VALUE`; the last one counts."""
    found = [a[len(name) + 1:] for a in sys.argv if a.startswith(name + '=')]
    return json.loads(found[-1]) if found else None


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def word(front):
    return next((a[len(front):] for a in sys.argv if a.startswith(front)), None)


def settings():
    """Addresses by provider, and what starts the MCP process."""
    if NAME == 'codex':
        mcp = [option('mcp_servers.weir.command'), *(option('mcp_servers.weir.args') or [])]
        addresses = {'openai': option('openai_base_url')}
        for a in sys.argv:
            match = re.match(r'model_providers\.([\w-]+)\.base_url="(.*)"$', a)
            if match:
                addresses[match.group(1)] = match.group(2)
        return addresses, mcp, ENV.get('WEIR_TOKEN')
    if NAME == 'claude':
        servers = json.loads(read(word('--mcp-config=')))['mcpServers']['weir']
        return ({'anthropic': ENV.get('ANTHROPIC_BASE_URL')},
                [servers['command'], *servers['args']], servers['env'].get('WEIR_TOKEN'))
    if NAME == 'opencode':
        config = json.loads(ENV['OPENCODE_CONFIG_CONTENT'])
        addresses = {'openai': ENV.get('OPENAI_BASE_URL')}
        for name, provider in config['provider'].items():
            addresses[name] = provider['options']['baseURL']
        return (addresses, config['mcp']['weir']['command'],
                config['mcp']['weir']['environment'].get('WEIR_TOKEN'))
    if NAME == 'pi':
        text = read(sys.argv[sys.argv.index('-e') + 1])
        pairs = json.loads('[' + re.search(r'of \[(.*?)\]\) pi', text).group(1) + ']')
        call = re.search(r'spawn\((.*?), \[(.*?)\]', text)
        return (dict(pairs), [json.loads(call.group(1)), *json.loads('[' + call.group(2) + ']')],
                ENV.get('WEIR_TOKEN'))
    if NAME == 'qwen':
        servers = json.loads(read(ENV['QWEN_CODE_SYSTEM_DEFAULTS_PATH']))['mcpServers']['weir']
        return ({'openai': ENV.get('OPENAI_BASE_URL')}, [servers['command'], *servers['args']],
                servers['env'].get('WEIR_TOKEN'))
    if NAME == 'cline':
        settings = json.loads(read(ENV['CLINE_PROVIDER_SETTINGS_PATH']))
        return {'mine': settings['providers']['a']['settings']['baseUrl']}, None, None
    if NAME == 'droid':
        models = json.loads(read(sys.argv[sys.argv.index('--settings') + 1]))
        return {'mine': models['customModels'][0]['baseUrl']}, None, None
    if NAME == 'crush':
        return {'openai': ENV['OPENAI_API_ENDPOINT']}, None, None
    variable = {'copilot': 'COPILOT_PROVIDER_BASE_URL', 'gemini': 'GOOGLE_GEMINI_BASE_URL',
                'aider': 'OPENAI_API_BASE'}.get(NAME, 'OPENAI_BASE_URL')
    return {'openai': ENV.get(variable)}, None, None


def ask(address, number):
    """One request of the API that this agent speaks; its status."""
    words = f'Question {number} of {NAME}.'
    chat = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': words}]}
    headers = {'Content-Type': 'application/json', 'User-Agent': NAME + '/1.0'}
    if NAME == 'codex':
        path, body = '/responses', {'model': 'gpt-5', 'input': words}
    elif NAME == 'claude':
        path = '/v1/messages'
        body = {**chat, 'model': 'claude-sonnet-4-5', 'max_tokens': 9}
        headers['anthropic-version'] = '2023-06-01'
    elif NAME == 'gemini':
        content = {'parts': [{'text': words}]}
        path, body = '/v1beta/models/m:generateContent', {'contents': [content]}
        if number % 2:  # what Weir does not read
            path, body = '/v1beta/models/m:embedContent', {'content': content}
    else:
        path, body = '/chat/completions', chat
    request = urllib.request.Request(address + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def talk(address, path):
    """A conversation as an agent has it; the statuses of its requests."""
    session, statuses = json.loads(read(path)), []
    messages = session['messages']
    roles = [message['role'] for message in messages] + ['assistant']
    for count in range(1, len(messages) + 1):
        if roles[count] != 'assistant' or roles[count - 1] == 'assistant':
            continue
        body = json.dumps({**session, 'messages': messages[:count]}).encode()
        request = urllib.request.Request(address + '/chat/completions', body,
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request, timeout=120) as answer:
            answer.read()
            statuses.append(answer.status)
    return statuses


def show_signals():
    """One line a signal, so that who reads can wait for it."""
    def seen(number, _frame):
        os.write(1, (signal.Signals(number).name + '\n').encode())
        if number == signal.SIGTERM:
            os._exit(7)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                   signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT):
        signal.signal(number, seen)
    os.write(1, b'ready\n')
    while True:
        signal.pause()


def main():
    addresses, mcp, token = settings()
    what, _, number = ENV.get('STAND_IN_DO', 'exit 0').partition(' ')
    found = {'name': NAME, 'argv': sys.argv[1:], 'addresses': addresses, 'mcp': mcp,
             'token': token, 'statuses': [], 'pid': os.getpid(), 'parent': os.getppid(),
             'cwd': os.getcwd(), 'env': {k: v for k, v in ENV.items() if 'BASE' in k}}
    if what == 'requests':
        for name, address in addresses.items():
            if address and name in ENV.get('STAND_IN_ASK', 'openai anthropic mine').split():
                found['statuses'] += [ask(address, n) for n in range(int(number))]
    if what == 'talk':
        found['statuses'] = talk(addresses['openai'], number)
    with open(ENV['STAND_IN_OUT'] + '.part', 'w', encoding='utf-8') as file:
        json.dump(found, file)
    os.rename(ENV['STAND_IN_OUT'] + '.part', ENV['STAND_IN_OUT'])
    if what == 'signals':
        show_signals()
    if what == 'kill':
        os.kill(os.getpid(), int(number))
    return int(number) if what == 'exit' else 0


if __name__ == '__main__':
    sys.exit(main())

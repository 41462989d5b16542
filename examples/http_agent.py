#!/usr/bin/env python3
"""A whole agent over HTTP: `weir serve` keeps its session, this asks the model and runs the tool.

  http_agent.py SERVER SESSION COMMAND TASK...

SERVER is http://127.0.0.1:4141 or the like. COMMAND is the way to a model, as for tiny_agent.c: it
gets a Chat Completions request on stdin and prints the answer (examples/pretend_model plays one).
What is said and done is in the session's journal before the next thing happens: a run that was
killed goes on when it is started again with the same SESSION.
"""
import json
import subprocess
import sys
import urllib.error
import urllib.request

TOOLS = [{'name': 'read_file', 'description': 'Read a text file.',
          'schema': {'type': 'object', 'properties': {'path': {'type': 'string'}},
                     'required': ['path']}}]
TURNS_MAX = 20


class Session:
    def __init__(self, server, name):
        self.url, self.name = f'{server}/weir/v1/sessions', name

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(),
                                         {'Content-Type': 'application/json'})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def open(self):
        try:
            self.post('', {'id': self.name, 'model': 'gpt-5', 'tools': TOOLS,
                           'system': 'You read files and say what is in them.'})
        except urllib.error.HTTPError as error:
            if error.code != 409:  # it is there already, and goes on
                raise

    def tell(self, *events):
        """Appends events; the calls that wait for a result then."""
        return self.post(f'/{self.name}/events', {'events': events})['pending']

    def request(self):
        return self.post(f'/{self.name}/render', {'dialect': 'chat'})['body']


def ask(command, body):
    body = json.dumps(body, separators=(',', ':'))
    return subprocess.run(command, shell=True, input=body, capture_output=True, text=True,
                          check=True).stdout


def run(call):
    try:
        with open(json.loads(call['arguments'])['path'], encoding='utf-8') as file:
            return {'kind': 'result', 'call_id': call['id'], 'text': file.read()}
    except (OSError, ValueError, KeyError) as error:
        return {'kind': 'result', 'call_id': call['id'], 'text': f'Error: {error}',
                'is_error': True}


def main():
    if len(sys.argv) < 5:
        sys.exit('usage: http_agent.py SERVER SESSION COMMAND TASK...')
    session = Session(sys.argv[1], sys.argv[2])
    session.open()
    pending = session.tell({'kind': 'user', 'text': ' '.join(sys.argv[4:])})
    for _ in range(TURNS_MAX):
        while pending:
            pending = session.tell(run(pending[0]))
        answer = ask(sys.argv[3], session.request())
        pending = session.tell({'kind': 'assistant', 'dialect': 'chat', 'body': json.loads(answer)})
        if not pending:
            print(json.loads(answer)['choices'][0]['message']['content'])
            return
    sys.exit('http_agent.py: it did not come to an end')


main()

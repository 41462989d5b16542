"""Sessions whose lines in the log are looked at, for the cases about quality."""
import json
import os
import subprocess

import scripted
from harness import PATIENCE_SECONDS, Weir, wait_for
from sessions import POLICIES, chat_tools

PROGRAM = os.environ.get('WEIR', 'build/weir')
SIGN = 'task_quality_'


def weir_json(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, check=False)
    return done.returncode, (json.loads(done.stdout) if done.stdout.startswith(('{', '['))
                             else done.stdout or None), done.stderr


def signs(line):
    found = {k[len(SIGN):]: v for k, v in line.items() if k.startswith(SIGN)}
    for name in ('task_completed', 'final_total_input_tokens',
                 'additional_turns_before_completion'):
        found.pop(name, None)
    return found


class Session:
    """A session over Chat Completions: it grows, and its last log line can be asked for."""
    count = 0

    def __init__(self, weir, model='gpt-4o-mini', policy=None, name=None, headers=None):
        Session.count += 1
        self.weir, self.model = weir, model
        self.name = name or f'session-{Session.count}'
        self.headers = {'x-weir-session': self.name, **(headers or {})}
        if policy:
            self.headers['x-weir-policy'] = policy
        self.messages = [{'role': 'system', 'content': 'You fix bugs.'},
                         {'role': 'user', 'content': 'Find the bug.'}]
        self.tools = chat_tools()
        self.sent = self.calls = 0

    def say(self, words):
        self.messages.append({'role': 'user', 'content': words})

    def answer(self, words):
        self.messages.append({'role': 'assistant', 'content': words})

    def call(self, name, arguments, result):
        self.calls += 1
        call = f'{self.name}-{self.calls}'
        self.messages.append({'role': 'assistant', 'content': None, 'tool_calls': [
            {'id': call, 'type': 'function', 'function': {
                'name': name, 'arguments': json.dumps(arguments)}}]})
        self.messages.append({'role': 'tool', 'tool_call_id': call, 'content': result})

    def post(self, **headers):
        """Sends what there is."""
        self.sent += 1
        self.status, self.body, _ = self.weir.post('/v1/chat/completions', {
            'model': self.model, 'messages': self.messages, 'tools': self.tools},
            {**self.headers, **headers})

    def ask(self, **headers):
        """The same; gives its line of the log."""
        self.post(**headers)
        return self.line()

    def line(self):
        def mine():
            lines = [line for line in self.weir.log(1)
                     if line.get('session', '').rpartition(':')[2] == self.name]
            return lines if len(lines) >= self.sent else None
        return (wait_for(mine) or [{}])[-1]


def serve(folder, upstream, policy='short', extra='', **more):
    path = os.path.join(folder, 'policies.yaml')
    with open(path, 'w', encoding='ascii') as file:
        file.write(POLICIES)
    config = f'listen: 127.0.0.1:0\npolicies: {path}\npolicy: {policy}\n{extra}'
    return Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', config=config,
                **more)


def cached_session(weir, upstream, model='gpt-5', **more):
    """A session whose provider has 6000 tokens of it in its cache."""
    session = Session(weir, model, **more)
    session.call('read_file', {'path': 'src/a.py'}, 'short')
    session.call('read_file', {'path': 'src/b.py'}, 'short too')
    upstream.say(scripted.chat(prompt=6000))
    session.ask()
    session.call('read_file', {'path': 'src/c.py'}, 'short again')
    return session


def bust_of(line):
    return tuple(line.get(k) for k in ('cache_expected_tokens', 'cache_bust_tokens',
                                       'cache_bust_cause', 'cache_bust_at'))

"""Conversations as agents hold them: several sessions on the same first turns, forks, late ones."""
import copy
import json
import random

WORDS = ('error', 'value', 'index', 'module', 'return', 'handler', 'buffer', 'socket', 'parser',
         'request', 'token', 'window', 'cache', 'branch', 'commit', 'thread', 'config', 'folder')


def result_text(rng, name):
    """What a tool printed: a listing, a file, a log, long enough to be cut, or not."""
    lines = rng.choice((5, 60, 150, 400, 900))
    kind = rng.randrange(3)
    made = []
    for n in range(lines):
        word, number = rng.choice(WORDS), rng.randrange(100000)
        made.append((f'src/{name}/{word}_{number}.py',
                     f'def {word}_{n}_{number}(value):  # line {n} of {name}',
                     f'12:00:{n % 60:02d} INFO {word}: step {n} took {number} us')[kind])
    return '\n'.join(made) + '\n'


class Turn:
    """A call and its result, now and then words of the user behind it."""

    def __init__(self, rng, branch, number):
        self.call = f'call_{branch}_{number}'
        self.path = f'src/{branch}_{number}.py'
        self.text = result_text(rng, f'{branch}_{number}')
        self.words = f'Go on with part {number} of {branch}.' if rng.random() < 0.2 else ''


def tools(api, is_own):
    """Of a client that has a recall tool, or one that is to be given the proxy's own."""
    names = ('read_file',) if is_own else ('read_file', 'weir_recall')
    if api == 'messages':
        return [{'name': name, 'description': 'does', 'input_schema': {'type': 'object'}}
                for name in names]
    return [{'type': 'function', 'function': {'name': name, 'parameters': {'type': 'object'}}}
            for name in names]


def chat_turn(turn):
    arguments = json.dumps({'path': turn.path})
    made = [{'role': 'assistant', 'content': None, 'tool_calls': [
        {'id': turn.call, 'type': 'function',
         'function': {'name': 'read_file', 'arguments': arguments}}]},
        {'role': 'tool', 'tool_call_id': turn.call, 'content': turn.text}]
    if turn.words:
        made += [{'role': 'assistant', 'content': 'Done.'}, {'role': 'user', 'content': turn.words}]
    return made


def messages_turn(turn):
    made = [{'role': 'assistant', 'content': [
        {'type': 'tool_use', 'id': turn.call, 'name': 'read_file', 'input': {'path': turn.path}}]},
        {'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': turn.call, 'content': turn.text}]}]
    if turn.words:
        made += [{'role': 'assistant', 'content': 'Done.'}, {'role': 'user', 'content': turn.words}]
    return made


class Session:
    def __init__(self, name, api, words, turns, first):
        self.name, self.api, self.words, self.turns, self.first = name, api, words, turns, first
        self.is_own = False

    def ask_alone(self):
        """From its first turn on, which decides what tools a session has; the model's calls have
        ids of their own, as each answer of a provider does."""
        self.first, self.turns = 0, [copy.copy(turn) for turn in self.turns]
        for turn in self.turns:
            turn.call = f'{turn.call}_{self.name}'

    def body(self, count):
        """The request that has `count` turns behind it."""
        make = messages_turn if self.api == 'messages' else chat_turn
        said = [{'role': 'user', 'content': self.words}]
        if self.api == 'chat':
            said.insert(0, {'role': 'system', 'content': 'You fix bugs.'})
        for turn in self.turns[:count]:
            said += make(turn)
        model = 'claude-sonnet-4-5' if self.api == 'messages' else 'gpt-4o-mini'
        body = {'model': model, 'messages': said, 'tools': tools(self.api, self.is_own)}
        if self.api == 'messages':
            body['max_tokens'] = 1000
        return json.dumps(body).encode()

    def path(self):
        return '/v1/messages' if self.api == 'messages' else '/v1/chat/completions'


def make_sessions(rng, sessions_count, turns_count):
    """One conversation: the first session holds it from its start, others come in later with the
    same turns under names of their own, or leave it at a fork."""
    api = rng.choice(('chat', 'chat', 'messages'))
    trunk = [Turn(rng, 'trunk', n) for n in range(turns_count)]
    words = f'Find bug {rng.randrange(10 ** 9)}.'
    made = [Session('trunk', api, words, trunk, 0)]
    for n in range(1, sessions_count):
        first = rng.choice((0, rng.randrange(turns_count), turns_count - 2))
        turns = trunk
        if rng.random() < 0.5:
            fork = rng.randrange(1, turns_count)
            turns = trunk[:fork] + [Turn(rng, f'fork{n}', k) for k in range(turns_count - fork)]
        made.append(Session(f'other{n}', api, words, turns, first))
    return made


def session_after(first):
    """One that begins when the trouble is over, with a result that is long enough to be cut."""
    turn = Turn(random.Random('after'), 'after', 0)
    turn.text = ''.join(f'def after_{n}(value):  # line {n}\n' for n in range(400))
    session = Session('after', first.api, 'Find the last bug.', [turn], 0)
    session.is_own = first.is_own
    return session


def originals(sessions):
    """By the call's id: the text that its result had."""
    return {turn.call: turn.text.encode() for s in sessions for turn in s.turns}

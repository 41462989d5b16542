#!/usr/bin/env python3
"""What people say of sessions that run (docs/steer.md), end to end: plan, pin, undo, exact, pause,
by the command line and over HTTP, in all APIs. What the upstream got is compared request by
request; what was said to cost is compared with what the ledger says that it did.

    steer_cases.py [CASE...]
"""
import json
import os
import sys

from harness import Folder, Weir, wait_for
from sessions import CHECK, file_text, ok
from steer_talk import APIS, Chat, Messages, Talk, Thinking, extends, steps_money, unmarked

READS = 12


# ---- cases ----

def a_session_is_steered(folder, api):
    name = api.__name__
    talk = Talk(folder, api(), name.lower())
    for _ in range(READS):
        sent = talk.read()
    ok(f'{name}: nothing is taken unasked', unmarked(sent), talk.items)

    said = talk.plan()
    ok(f'{name}: the plan has pieces', said['plan']['next']['pieces_count'] > 5)
    ok(f'{name}: of a tool and a path', {'read_file'} == {
        p['tool'] for p in said['plan']['next']['pieces']})
    kept = said['plan']['next']['pieces'][2]
    status, out, err = talk.command('pin', talk.name, str(kept['segment']))
    ok(f'{name}: a piece of the plan is pinned', (status, err), (0, ''))
    before = sent
    sent = talk.read()
    ok(f'{name}: a pin of what is there changes no byte', extends(before, sent))

    status, out, err = talk.command('plan', talk.name, '--now')
    ok(f'{name}: the price is said first', (status, 'written into the cache' in err), (1, True))
    ok(f'{name}: --now', talk.command('plan', talk.name, '--now', '--yes')[0], 0)
    before, sent = sent, talk.read()
    ok(f'{name}: the step is taken', (talk.last()['step_reason'], len(json.dumps(sent)) <
                                      len(json.dumps(before)) / 2), ('asked', True))
    whole = [n for n in range(READS) if json.dumps(file_text(n))[1:-1] in json.dumps(sent)]
    ok(f'{name}: but of what is pinned', kept['path'].split('/f')[1] in
       [f'{n}.py' for n in whole])
    before, sent = sent, talk.read()
    ok(f'{name}: the next request begins with it', extends(before, sent))

    said = talk.plan()
    out_first = said['plan']['out']['pieces'][0]
    status, out, err = talk.command('pin', talk.name, out_first['path'])
    ok(f'{name}: what is out is pinned', (status, 'comes back with the next step' in out),
       (0, True))
    before, sent = sent, talk.read()
    ok(f'{name}: which changes no byte either', extends(before, sent))
    return talk, sent


def it_is_undone(talk, sent, name):
    """The whole way back, its price, and messages as they came."""
    talk.provider.counts = True
    talk.read()
    before = talk.read()
    paid = steps_money(talk)
    said = talk.plan()
    ok(f'{name}: there is a step to take back', said['plan']['undo'] is not None)
    status, _, err = talk.command('undo', talk.name)
    ok(f'{name}: undo says its price first', (status, 'are written into' in err), (1, True))
    status, out, _ = talk.command('undo', talk.name, '--yes', '--json')
    price = json.loads(out)['price']
    ok(f'{name}: it costs something', price.get('cost_micro_usd', 0) > 0, talk.api.HAS_PRICE)
    sent = talk.read()
    ok(f'{name}: what the step took is there again', unmarked(sent), talk.items)
    ok(f'{name}: as a declared step', talk.last()['step_reason'], 'undone')
    paid = steps_money(talk) - paid
    ok(f'{name}: the price that was said is the price that was paid',
       abs(paid - price.get('cost_micro_usd', 0)) <= 2 or (paid, price))
    talk.provider.counts = False


def it_goes_as_it_came(talk, name):
    talk.command('plan', talk.name, '--now', '--yes')
    sent = talk.read()
    ok(f'{name}: a step is taken', talk.last()['step_reason'], 'asked')
    talk.plan()
    ok(f'{name}: exact', talk.command('exact', talk.name, '--yes')[0], 0)
    before, sent = sent, talk.read()
    ok(f'{name}: everything is sent as it came', unmarked(sent), talk.items)
    ok(f'{name}: which is a step', talk.last()['step_reason'], 'policy')
    before, sent = sent, talk.read()
    ok(f'{name}: and goes on so', (extends(before, sent), unmarked(sent)), (True, talk.items))
    ok(f'{name}: resume', talk.command('resume', talk.name)[0], 0)
    before, sent = sent, talk.read()
    ok(f'{name}: what went whole stays whole', extends(before, sent))
    talk.plan()
    talk.command('plan', talk.name, '--now', '--yes')
    before, sent = sent, talk.read()
    ok(f'{name}: until the next step', (talk.last()['step_reason'], len(json.dumps(sent)) <
                                        len(json.dumps(before)) / 2), ('asked', True))


def a_session_is_undone(folder, api):
    talk, sent = a_session_is_steered(folder, api)
    it_is_undone(talk, sent, api.__name__)
    it_goes_as_it_came(talk, api.__name__)
    talk.stop()


# ---- bound thinking ----

def agent_says(talk, **arguments):
    _, data, _ = talk.weir.post('/mcp', {
        'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call',
        'params': {'name': 'weir_steer', 'arguments': arguments}}, {
            'MCP-Protocol-Version': '2025-11-25', 'Accept': 'application/json'})
    result = json.loads(data)['result']
    return result['isError'], result['content'][0]['text']


def thoughtless(items):
    """Without thinking, which a step takes from before the user's newest message."""
    return [{**item, 'content': [part for part in item['content']
                                 if part['type'] != 'thinking']}
            if isinstance(item['content'], list) else item for item in unmarked(items)]


def all_say(talk, waits):
    """What command line, HTTP and MCP say of orders that wait."""
    found = talk.plan()
    over_http = json.loads(talk.weir.get(f'/weir/v1/plan?session={talk.name}')[1])['steering']
    return (found['waits_for'], over_http['waits_for'],
            'pending: what was said' in talk.command('plan', talk.name)[1],
            'Pending: it waits' in agent_says(talk, do='plan', session=talk.name)[1]) == (
                ('user', 'user', True, True) if waits else (None, None, False, False))


def it_waits_for_the_user(talk, sent, words, reason):
    """An order that is given inside a loop; gives what is sent when the user has spoken."""
    talk.plan()
    label = ' '.join(words)
    status, out, err = talk.command(words[0], talk.name, *words[1:])
    ok(f'{label}: is said to be pending', (status, err, 'pending until then' in out),
       (0, '', True))
    for _ in range(2):
        before, sent = sent, talk.read()
        ok(f'{label}: changes no byte inside the loop', (extends(before, sent),
                                                         talk.last()['step']), (True, False))
        ok(f'{label}: is shown as pending everywhere', all_say(talk, True))
    talk.items = talk.items + talk.api.user('And now?')
    before, sent = sent, talk.ask()
    ok(f'{label}: happens when the user speaks', (talk.last().get('step_reason'),
                                                  extends(before, sent)),
       (reason, reason is None))
    ok(f'{label}: and waits no longer', all_say(talk, False))
    before, sent = sent, talk.read()
    ok(f'{label}: and holds', extends(before, sent))
    return sent


def bound_thinking_waits(folder):
    talk = Talk(folder, Thinking(), 'bound')
    for _ in range(8):
        sent = talk.read()
    sent = it_waits_for_the_user(talk, sent, ('plan', '--now', '--yes'), 'asked')
    small = len(json.dumps(sent))
    sent = it_waits_for_the_user(talk, sent, ('undo', '--yes'), 'undone')
    ok('all came back, and no summary of it is left', thoughtless(sent), thoughtless(talk.items))
    sent = it_waits_for_the_user(talk, sent, ('plan', '--now', '--yes'), 'asked')
    sent = it_waits_for_the_user(talk, sent, ('pin', 'src/f1.py', '--now', '--yes'), 'pinned')
    ok('what was pinned is back, and nothing else', (
        json.dumps(file_text(1))[1:-1] in json.dumps(sent),
        json.dumps(file_text(2))[1:-1] in json.dumps(sent)), (True, False))
    sent = it_waits_for_the_user(talk, sent, ('exact', '--yes'), 'policy')
    ok('all goes as it came, but for the thinking that was signed over something else',
       thoughtless(sent), thoughtless(talk.items))
    ok('which is more', len(json.dumps(sent)) > 2 * small)
    talk.command('resume', talk.name)
    for _ in range(2):
        before, sent = sent, talk.read()
        ok('after resume what went whole stays whole', (extends(before, sent),
                                                        talk.last()['step']), (True, False))
    talk.stop()


def pause_keeps_the_tool(folder):
    """Pause and exact send messages as they came; our tool definition stays to the session's end;
    after resume, what went whole stays whole until the next step."""
    talk = Talk(folder, Chat(), 'paused', config='recall: own\n')
    talk.headers = {'x-weir-policy': 'eager'}
    talk.api.TOOLS = [t for t in Chat.TOOLS if t['function']['name'] != 'weir_recall']
    talk.ask()
    tools = talk.provider.bodies[-1]['tools']
    ok('the tool is ours', [t['function']['name'] for t in tools if t not in talk.api.TOOLS],
       ['weir_recall'])
    talk.read()
    sent = talk.read()
    ok('what comes is cut', sent[-1] != talk.items[-1])
    for words in (('pause',), ('exact', '--yes')):
        label = words[0]
        talk.plan()
        ok(f'{label}: said', talk.command(words[0], talk.name, *words[1:])[0], 0)
        sent = talk.read()
        ok(f'{label}: messages go as they came', sent, talk.items)
        ok(f'{label}: which is a step', talk.last()['step_reason'], 'policy')
        sent = talk.read()
        ok(f'{label}: and go on so', (sent, talk.last()['step']), (talk.items, False))
        ok(f'{label}: our tool definition stays', talk.provider.bodies[-1]['tools'], tools)
        ok(f'{label}: resumed', talk.command('resume', talk.name)[0], 0)
        before, sent = sent, talk.read()
        ok(f'{label}: what went whole stays whole', (extends(before, sent), talk.last()['step']),
           (True, False))
        ok(f'{label}: what comes is cut again', sent[-1] != talk.items[-1])
        ok(f'{label}: the tool is still there', talk.provider.bodies[-1]['tools'], tools)
        talk.plan()
        talk.command('plan', talk.name, '--now', '--yes')
        before, sent = sent, talk.read()
        ok(f'{label}: until the next step', (talk.last()['step_reason'], len(json.dumps(sent)) <
                                             len(json.dumps(before)) / 2), ('asked', True))
    talk.stop()


def said_over_http(folder):
    talk = Talk(folder, Chat(), 'http')
    for _ in range(READS):
        sent = talk.read()
    talk.plan()

    def post(path, body, headers=None):
        status, data, _ = talk.weir.post('/weir/v1/' + path, body, headers)
        return status, json.loads(data)

    status, said = post('plan', {'session': 'http'})
    ok('without a confirmation the price is told',
       (status, said['said'], said['price'] is not None), (200, False, True))
    ok('the page of another site may not', post('pause', {}, {'Origin': 'http://evil.example'})[0],
       403)
    ok('a pin over HTTP', post('pin', {'session': 'weir:http', 'tool': 'read_file'})[1]['steering'][
        'pins'], [{'tool': 'read_file'}])
    ok('taken back', post('unpin', {'session': 'http', 'tool': 'read_file'})[1]['steering']['pins'],
       [])
    ok('which can be done once', post('unpin', {'session': 'http', 'tool': 'read_file'})[0], 404)
    ok('nobody else', post('pin', {'session': 'nobody', 'path': 'a.c'})[0], 404)
    ok('two things at once', post('pin', {'session': 'http', 'path': 'a', 'tool': 'b'})[0], 400)
    ok('no object', post('pin', [1])[0], 400)
    ok('another method', talk.weir.get('/weir/v1/undo')[0], 405)
    ok('the step is confirmed', post('plan', {'session': 'http', 'confirm': True})[1]['said'])
    sent = talk.read()
    ok('and taken', talk.last()['step_reason'], 'asked')
    ok('everything is paused', post('pause', {})[1]['steering']['all_paused'])
    sent = talk.read()
    ok('then it goes as it came', sent, talk.items)
    ok('that is asked for', json.loads(talk.weir.get('/weir/v1/pause')[1])['steering'],
       {'exact': False, 'all_paused': True})
    ok('and over', post('resume', {})[1]['steering']['all_paused'], False)
    before, sent = sent, talk.read()
    ok('what went whole stays whole', extends(before, sent))
    it_is_said_by_the_agent(talk)
    talk.stop()


def new_sessions_get_a_policy(folder):
    """The page's "use for new sessions": what begins later gets it, in every process."""
    talk = Talk(folder, Chat(), 'before')
    talk.read()

    def post(body, headers=None):
        status, data, _ = talk.weir.post('/weir/v1/policy', body, headers)
        return status, json.loads(data)

    def policy_of(name):
        talk.name, talk.items, talk.reads = name, Chat().begin(), 0
        sent = talk.read()
        return talk.last()['policy'], sent[-1] != talk.items[-1]

    ok('as configured', post({'policy': None}), (200, {
        'policy': 'patient', 'configured': 'patient', 'is_wanted': False, 'is_typed': False,
        'rules': 0}))
    ok('no such policy', post({'policy': 'nosuch'})[0], 400)
    ok('none named', (post({})[0], post({'policy': 7})[0], post([1])[0]), (400, 400, 400))
    ok('the page of another site may not', post({'policy': 'eager'}, {
        'Origin': 'http://evil.example'})[0], 403)
    ok('one is wanted', post({'policy': 'eager'}), (200, {
        'policy': 'eager', 'configured': 'patient', 'is_wanted': True, 'is_typed': False,
        'rules': 0}))
    sent = talk.read()
    ok('who had begun goes on', (talk.last()['policy'], unmarked(sent)), ('patient', talk.items))
    ok('who begins gets it', policy_of('after'), ('eager', True))
    before = talk.provider.bodies[-1][talk.api.KEY]
    after = talk.read()
    ok('and keeps it', (talk.last()['policy'], extends(before, after)), ('eager', True))
    items, store = talk.items, talk.weir.store
    talk.stop()
    talk = Talk(folder, Chat(), 'after', store=store)  # policy_of and post speak to this one
    talk.items, talk.reads = items, 2
    before, after = after, talk.read()
    ok('after a restart too', (talk.last()['policy'], extends(before, after)), ('eager', True))
    ok('it is still wanted', policy_of('later'), ('eager', True))
    ok('it is taken back', post({'policy': None})[1]['is_wanted'], False)
    ok('then it is as configured', policy_of('last'), ('patient', False))
    ok('wanted once more', post({'policy': 'eager'})[0], 200)
    talk.stop()
    talk = Talk(folder, Chat(), 'typed', '--policy', 'exact', store=store)
    ok('what was typed wins', policy_of('typed'), ('exact', False))
    status, said = post({'policy': 'eager'})
    ok('and that is said', (status, '--policy exact' in said['error']['message']), (409, True))
    got = json.loads(talk.weir.get('/weir/v1/policy')[1])
    ok('asked, too', (got['policy'], got['is_wanted'], got['is_typed']), ('exact', False, True))
    ok('another method', talk.weir.request('DELETE', '/weir/v1/policy')[0], 405)
    talk.stop()


def it_is_said_by_the_agent(talk):
    def call(**arguments):
        return agent_says(talk, **arguments)
    ok('the agent pins', call(do='pin', path='src/f3.py')[1].splitlines()[-1], 'pin path src/f3.py')
    ok('and sees the plan', '"next":' in call(do='plan')[1])
    ok('what it cannot do it is told', call(do='dance')[0])
    talk.plan()
    ok('a price is told first', 'confirm: true' in call(do='now')[1])
    ok('and paid', 'said' in call(do='now', confirm=True)[1])
    sent = json.dumps(talk.read())
    ok('what it pinned stays', [n for n in range(6) if json.dumps(file_text(n))[1:-1] in sent], [3])


# ---- from "what did it take?" to "keep that" ----

class Parser(Chat):
    """Its first read is of the file that docs/steer.md shows."""

    def read(self, n):
        text = json.dumps(super().read(n))
        return json.loads(text.replace('src/f0.py', 'src/parser.c'))


def the_page_shows(page):
    """The commands of the first example of a page, and what it shows of their output."""
    with open(page, encoding='utf-8') as file:
        lines = file.read().partition('```console\n')[2].partition('```')[0].splitlines()
    return ([line[2:].split() for line in lines if line.startswith('$ ')],
            [line for line in lines if not line.startswith('$ ')])


def two_commands_keep_it(folder):
    commands, shown = the_page_shows('docs/steer.md')
    ok('the page has two commands', [c[:2] for c in commands], [['weir', 'plan'], ['weir', 'pin']])
    talk = Talk(folder, Parser(), commands[0][2] + '-9c41')
    for _ in range(READS):
        talk.read()
    talk.plan()
    talk.command('plan', talk.name, '--now', '--yes')
    sent = talk.read()
    text = json.dumps(file_text(0))[1:-1]
    ok('a step has taken it', (text in json.dumps(sent), talk.last()['step_reason']),
       (False, 'asked'))
    talk.plan()
    status, out, err = talk.command(*commands[0][1:])
    piece = [line for line in out.splitlines() if 'src/parser.c' in line]
    ok('the first command says so, with its number', (status, err, [
        line.split()[0] for line in piece]), (0, '', ['#' + commands[1][3]]))
    ok('as the page shows it', [line.split()[4:7] for line in shown if 'src/parser.c' in line],
       [piece[0].split()[4:7]])
    status, out, err = talk.command(*commands[1][1:])
    ok('the second keeps it', (status, err, 'handle' in out), (0, '', True))
    before, sent = sent, talk.read()
    ok('which changes nothing at once', extends(before, sent))
    talk.plan()
    talk.command('plan', talk.name, '--now', '--yes')
    sent = talk.read()
    ok('with the next step it is back, and stays', text in json.dumps(sent))
    talk.stop()


# ---- rules ----

def accepted(talk, name, path, text):
    """The lines that `weir rules --accept` adds to a file, which must keep all others."""
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)
    status, _, err = talk.command('rules', '--accept', name, '--config', path)
    with open(path, encoding='ascii') as file:
        lines = file.read().splitlines()
    added = [line for line in lines if line not in text.splitlines()]
    ok(f'{name}: nothing else changes', [line for line in lines if line not in added],
       text.splitlines())
    return status, [line.strip() for line in added], err


def a_file_keeps_its_comments(talk, folder):
    path = os.path.join(folder, 'own.yaml')
    texts = ['# mine\nlisten: 127.0.0.1:0 # here\nrollout: # of mine\n    # the first\n'
             '    - {tool: Bash, mode: off}\n# the end\n', 'listen: 127.0.0.1:0\n', '']
    for text in texts:
        for name, rule in (('read_file', '- {tool: "read_file", mode: off}'),
                           ('src/*.py', '- {path: "src/*.py", mode: off}'),
                           ('path:Makefile', '- {path: "Makefile", mode: off}'),
                           ('tool:fs.read', '- {tool: "fs.read", mode: off}'),
                           ('a "b" \\c.txt', '- {path: "a \\"b\\" \\\\c.txt", mode: off}')):
            front = [] if 'rollout:' in text else ['rollout:']
            ok(f'{name}: it is accepted', accepted(talk, name, path, text)[:2], (0, front + [rule]))
    ok('once', talk.command('rules', '--accept', 'a "b" \\c.txt', '--config', path)[0], 2)
    status, added, err = accepted(talk, 'src/*.py', path, 'rollout: [{tool: Bash, mode: off}]\n')
    ok('a list in brackets is left to its owner, who is told the line',
       (status, added, '{path: "src/*.py", mode: off}' in err), (2, [], True))
    ok('nothing is no name', talk.command('rules', '--accept', 'path:', '--config', path)[0], 2)


def what_is_pinned_often_becomes_a_rule(folder):
    talk = Talk(folder, Chat(), 'rule-0')
    pins = [('src/f4.py',), ('/home/me/work/src/f4.py',), ('src/f4.py', 'src/*')]
    for i in range(3):
        talk.name, talk.items, talk.reads = f'rule-{i}', talk.api.begin(), 0
        for _ in range(6):
            talk.read()
        piece = [p for p in talk.plan()['plan']['next']['pieces'] if p['path'] == 'src/f2.py'][0]
        for words in (('--tool', 'read_file'), (str(piece['segment']),), *((p,) for p in pins[i])):
            ok('it is pinned', talk.command('pin', talk.name, *words)[0], 0)
        listed = talk.command('rules')[1]
        ok('a tool is listed when it is pinned often', 'tool  read_file ' in listed, i == 2)
        ok('so is a path', 'path  src/f4.py ' in listed, i == 2)
        ok('and one that was pinned by its number', 'path  src/f2.py ' in listed, i == 2)
        ok('a pattern counts for what it fits', 'path  src/*  pinned in 3 sessions' in listed,
           i == 2)
    talk.command('unpin', talk.name, 'src/*')
    ok('what is taken back is not proposed', 'src/*' in talk.command('rules')[1], False)
    a_file_keeps_its_comments(talk, folder)
    talk.stop()


def rules_hold(folder, name, rule, whole):
    """A session that began before the rule, which stays as it is, and two after it: nothing that
    the rule names is taken, whatever step is."""
    talk = Talk(folder, Messages(), name)
    for _ in range(6):
        talk.read()
    talk.plan()
    talk.command('plan', name, '--now', '--yes')
    old = talk.items, talk.read()
    with open(talk.weir.config_path, encoding='utf-8') as file:
        config = file.read().partition('policies:')[2].partition('limits:')[0]
    config = 'policies:' + config
    talk.weir.stop()
    talk.weir = Weir(folder, '--upstream', f'http://127.0.0.1:{talk.provider.port}',
                     config='listen: 127.0.0.1:0\n' + config + f'rollout:\n  - {rule}\n',
                     store=talk.weir.store)
    talk.reads, before = len(old[0]) // 2 + 1, old[1]
    ok(f'{name}: a session that runs keeps what it was sent', extends(before, talk.read()))
    for policy in ('patient', 'guarded-mid'):  # results one by one, and whole loops
        talk.items, talk.reads, talk.name = talk.api.begin(), 0, f'{name}-{policy}'
        talk.headers = {'x-weir-policy': policy}
        for _ in range(6):
            sent = talk.read()
        ok(f'{talk.name}: nothing is taken yet', unmarked(sent), talk.items)
        talk.plan()
        talk.command('plan', talk.name, '--now', '--yes')
        talk.items = talk.items + talk.api.user('And now?')
        sent = json.dumps(talk.ask())
        there = [n for n in range(6) if json.dumps(file_text(n))[1:-1] in sent]
        ok(f'{talk.name}: something is, but what the rule names', there, whole)
        again = json.dumps(talk.read())
        ok(f'{talk.name}: and goes on so', [n for n in there if json.dumps(file_text(n))[1:-1]
                                            not in again], [])
    talk.stop()


CASES = {'two_commands': (two_commands_keep_it,), 'http': (said_over_http,),
         'policy': (new_sessions_get_a_policy,),
         'bound': (bound_thinking_waits,),
         'pause': (pause_keeps_the_tool,), 'rules': (what_is_pinned_often_becomes_a_rule,),
         'rule_path': (rules_hold, 'path', '{path: "src/f2.py", mode: off}', [2]),
         'rule_tool': (rules_hold, 'tool', '{tool: read_file, mode: off}', list(range(6))),
         **{f'steer_{api.__name__}': (a_session_is_undone, api) for api in APIS}}


def main(names):
    with Folder() as folder:
        for name, (case, *more) in CASES.items():
            if not names or name in names:
                case(folder, *more)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

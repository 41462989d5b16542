#!/usr/bin/env python3
"""MCP servers as tools of `weir agent`: what they give, what is asked, and what they can break."""
import json
import os
import re
import socket
import subprocess
import sys

from agent_home import WEIR, Home, Terminal, call, write_file
from harness import Checks, Folder, Upstream, wait_for

CHECK = Checks()
ok = CHECK.ok
PEER = os.path.abspath('tests/upstream/mcp_peer.py')
WAIT_SECONDS = 4  # for one that hangs; one that is well may take seconds to start


class Play:
    """An agent with these servers, whose model does these steps."""

    def __init__(self, folder, servers, steps, **env):
        self.folder, self.env = folder, env
        self.log = os.path.join(folder, f'peer-{id(self)}')
        self.home = Home(folder, **env)
        for server in servers.values():
            if 'command' in server:
                server.setdefault('env', {})['PEER_LOG'] = self.log
        self.config = write_file(folder, 'c.yaml', json.dumps({'mcp_servers': servers}))
        self.upstream = Upstream(folder, '--script',
                                 write_file(folder, 'script', json.dumps(steps)))

    def run(self, *arguments):
        self.code, self.out, self.err = self.home.run(
            self.upstream, 'chat', '-p', 'Do it.', '--session', 's', '--config', self.config,
            *arguments)
        self.upstream.stop()
        found = self.home.events('s')
        self.results = [e for e in found if e['kind'] == 'result']
        self.tools = [p.split('=')[0] for e in found if e['kind'] == 'tools'
                      for p in e['pieces'].split()]
        return self


def peer(*words, **more):
    return {'command': [sys.executable, PEER, *words], **more}


def stdio(folder):
    p = Play(folder, {'peer': peer(env={'MINE': '${SECRET_OF_MINE}'})}, [
        call('mcp__peer__echo', text='héllo "you"\n2'), call('mcp__peer__noise'),
        call('mcp__peer__ask'), call('mcp__peer__image'), call('mcp__peer__fail'),
        call('mcp__peer__a_b___'), call('mcp__peer__env'), {'words': 'Done.'}],
        SECRET_OF_MINE='s3cret', OTHER_TOKEN='t0ken').run('--yes')
    ok('stdio: it is done', (p.code, 'not there' in p.err), (0, False))
    ok('stdio: tools of both pages are offered behind ours', [
        t for t in p.tools if t.startswith('mcp__')][:2], ['mcp__peer__echo', 'mcp__peer__big'])
    ok('stdio: a name that no API takes is rewritten', 'mcp__peer__a_b___' in p.tools)
    texts = [r['text'] for r in p.results]
    ok('stdio: text comes back as it is', texts[0], 'echo: héllo "you"\n2')
    ok('stdio: what is no message is left aside', texts[1], 'noise: done')
    ok('stdio: a server that asks is answered, and goes on', texts[2], 'ask: done')
    ok('stdio: what is no text is named', texts[3], '[image, image/png, 3 bytes: not shown]')
    ok('stdio: a failure is one', (texts[4], p.results[4]['is_error']), ('this went wrong', True))
    ok('stdio: and called by its own', texts[5], 'a b/ü: done')
    env = json.loads(texts[6])
    ok('stdio: it gets the variables it was given, and no other key',
       (env.get('MINE'), env.get('OTHER_TOKEN')), ('s3cret', None))
    with open(p.log, encoding='utf-8') as file:
        said = [json.loads(line) for line in file]
    ok('stdio: its questions are refused by the book', [
        (m['id'], 'error' in m) for m in said if 'method' not in m],
        [('q1', True), ('q2', False)])
    ok('stdio: the handshake is whole', [m['method'] for m in said[:2]],
       ['initialize', 'notifications/initialized'])


def large(folder):
    p = Play(folder, {'peer': peer()}, [call('mcp__peer__big'), {'words': 'Done.'}]).run('--yes')
    ok('large: a large result is a file too', 'read_file pages it]' in p.results[0]['text'])


def trouble(folder):
    """Each costs its own call, is told, and the rest goes on."""
    p = Play(folder, {
        'dead': {'command': ['/nonexistent/server']}, 'garbage': peer('--garbage'),
        'old': peer('--old'), 'peer': peer(timeout_seconds=WAIT_SECONDS)}, [
            call('mcp__peer__die'), call('mcp__peer__echo', text='again'),
            call('mcp__peer__hang'), call('mcp__dead__x'), {'words': 'Done.'}]).run('--yes')
    ok('trouble: it is done', p.code, 0)
    for name, why in (('dead', 'it has ended: /nonexistent/server: No such file'),
                      ('garbage', 'it has ended'), ('old', 'not known: 1999-01-01')):
        line = [x for x in p.err.splitlines() if f"MCP server '{name}' is not there" in x]
        ok(f'trouble: {name} is told in one line', len(line) == 1 and why in line[0])
    texts = [r['text'] for r in p.results]
    ok('trouble: a server that dies is told with its last words', texts[0],
       "Error: the MCP server 'peer' did not answer this call: it has ended: out of luck")
    ok('trouble: and is started again', texts[1], 'echo: again')
    ok('trouble: one that hangs is left', texts[2],
       "Error: the MCP server 'peer' did not answer this call: "
       f'no answer came for {WAIT_SECONDS} s')
    ok('trouble: a tool that is not there is none', 'there is no tool' in texts[3])
    with open(p.log + '.pids', encoding='ascii') as file:
        pids = file.read().split()
    # On a busy machine one that is slow to start is started once more.
    ok('trouble: no server is left running', (len(pids) >= 3, [
        pid for pid in pids if os.path.exists(f'/proc/{pid}')]), (True, []))


def hostile(folder):
    """What a server logs, or says of itself, fills no disk and steers no terminal; and it does not
    outlive its agent."""
    p = Play(folder, {'peer': peer(), 'rude': peer('--garbage')}, [
        call('mcp__peer__loud'), call('mcp__peer__rude'), {'words': 'Done.'}]).run('--yes')
    texts = [r['text'] for r in p.results]
    ok('hostile: it is done', p.code, 0)
    ok('hostile: of what it logs little is kept', int(texts[0]) < 2 << 20)
    ok('hostile: its reasons are one clean line', (
        texts[1].startswith("Error: the MCP server 'peer' did not answer this call: it refused: "),
        '\n' in texts[1], '\ufffd' in texts[1], '\x1b' in p.err), (True, False, False, False))
    p = Play(folder, {'peer': peer('--stay')}, [call('mcp__peer__hang')])
    agent = p.home.start(p.upstream, 'chat', '-p', 'Do it.', '--yes', '--config', p.config)

    def text(name):
        return open(name, encoding='utf-8').read() if os.path.exists(name) else ''
    ok('hostile: it is called', bool(wait_for(lambda: '"hang"' in text(p.log))))
    pid = text(p.log + '.pids').split()[0]
    agent.kill()
    agent.communicate()
    ok('hostile: and ends with an agent that is killed', bool(wait_for(
        lambda: not os.path.exists(f'/proc/{pid}'))))
    p.upstream.stop()


def settings(folder):
    home = Home(folder)
    upstream = Upstream(folder, '--script', write_file(folder, 'script', '[{"words":"Hi."}]'))
    for text, why in (
            ('mcp_servers: {a: {}}', 'line 1, column 15: a server of tools has a command or a url'),
            ('mcp_servers: {a: {command: x, ur: y}}', "'ur' is nothing that a server of tools"),
            ('mcp_servers: {a b: {command: x}}', "a server's name has letters, digits"),
            ('mcp_servers: {a: {command: "${NOT_SET_AT_ALL}"}}', 'NOT_SET_AT_ALL is not set'),
            ('mcp_servers: {a: {command: x, timeout_seconds: 0}}', 'timeout_seconds is from 1')):
        code, _, err = home.run(upstream, 'chat', '-p', 'Hi.', '--config',
                                write_file(folder, 'c.yaml', text))
        ok(f'settings: {text}', (code, why in err, err.count('\n')), (2, True, 1))
    upstream.stop()


def consent(folder):
    """Every call asks, with its arguments; "always" holds for that tool; `allow` asks nothing."""
    p = Play(folder, {'peer': peer(allow=['noise'])}, [
        call('mcp__peer__echo', text='one'), call('mcp__peer__noise'),
        call('mcp__peer__echo', text='two'), call('mcp__peer__fail'), {'words': 'All done.'}])
    term = Terminal(p.home, p.home.command(p.upstream, 'chat', '--session', 's', '--config',
                                           p.config), columns=100, rows=50)
    ok('consent: it is there', term.shows('ctx '))
    term.type('Go.', 'Enter')
    ok('consent: it asks', bool(wait_for(term.is_asked)))
    ok('consent: and shows what it would send', 'text: one' in term.screen() and
       'always: mcp__peer__echo' in term.screen())
    term.type('a', 'Enter')
    ok('consent: what is not covered asks again', bool(wait_for(
        lambda: '● mcp__peer__fail' in term.screen() and term.is_asked())))
    ok('consent: the rest went on', 'echo: two' in term.screen() and
       'noise: done' in term.screen())
    term.type('', 'Escape')
    ok('consent: no is no', term.shows('the user did not allow this call'))
    ok('consent: it ends', term.shows('All done.'))
    term.type('/tools', 'Enter')
    ok('consent: /tools lists the servers', term.shows('peer  12 tools'))
    term.type('', 'C-d')
    ok('consent: it leaves', term.shows('left with 0'))
    term.close()
    p.upstream.stop()


def over_http(folder):
    server = subprocess.Popen([sys.executable, PEER, '--http'], stdout=subprocess.PIPE, text=True)
    port = server.stdout.readline().strip()
    url = f'http://127.0.0.1:{port}/mcp'
    late = f'no answer came for {WAIT_SECONDS} s'
    bad = {'hang': late, 'noise': late, 'image': 'it gave no answer'}
    key = {'url': url, 'headers': {'X-Key': 'open sesame'}}
    p = Play(folder, {'web': {**key, 'timeout_seconds': WAIT_SECONDS}, 'slow': key,
                      'shut': {'url': url}, 'none': {'url': 'http://127.0.0.1:1/mcp'}}, [
        call('mcp__slow__loud'),
        call('mcp__web__echo', text='over HTTP'), call('mcp__web__ask'), call('mcp__web__die'),
        call('mcp__web__echo', text='again')] + [call(f'mcp__web__{name}') for name in bad] + [
        {'words': 'Done.'}]).run('--yes')
    loud, *texts = [r['text'] for r in p.results]
    ok('http: it is done', p.code, 0)
    ok('http: loud: it answered with more than', 'it answered with more than' in loud or loud)
    ok('http: text comes back', texts[:2], ['echo: over HTTP', 'ask: done'])
    ok('http: a session that is over is told', 'it answered 404' in texts[2])
    ok('http: and begun anew', texts[3], 'echo: again')
    for (name, why), text in zip(bad.items(), texts[4:]):
        ok(f'http: {name}: {why}', why in text or text)
    ok('http: a refusal is told', "'shut' is not there: it answered 401" in p.err and
       "'none' is not there: " in p.err)
    server.kill()
    server.wait()


def own_server(folder):
    """`weir mcp` itself, over both ways, as one would write it."""
    serve = subprocess.Popen([WEIR, 'serve', '--listen', '127.0.0.1:0', '--store',
                              os.path.join(folder, 'store-mcp')], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    port = re.search(r'127\.0\.0\.1:(\d+)', serve.stdout.readline()).group(1)
    handle = 'wr_' + '0' * 20
    p = Play(folder, {'weir': {'command': [WEIR, 'mcp']},
                      'far': {'url': f'http://127.0.0.1:{port}/mcp'}}, [
        call('mcp__weir__weir_recall', handle=handle), call('mcp__far__weir_recall', handle=handle),
        {'words': 'Done.'}]).run('--yes')
    ok('own: it is done', (p.code, 'not there' in p.err), (0, False))
    ok('own: its tools are offered', [t for t in p.tools if t.startswith('mcp__')], [
        f'mcp__{name}__{tool}' for name in ('weir', 'far') for tool in
        ('weir_recall', 'weir_context', 'weir_steer')])
    ok('own: and say what they do not have', [handle in r['text'] and r['is_error']
                                              for r in p.results], [True, True])
    serve.terminate()
    serve.wait()


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def official(folder):
    """The SDK's own server, over both ways; MCP_EVERYTHING names the program."""
    program, port = os.environ.get('MCP_EVERYTHING'), free_port()
    if not program:
        print('skipped: the official server is not there; make test-mcp-servers fetches it')
        return
    web = subprocess.Popen([program, 'streamableHttp'], env={**os.environ, 'PORT': str(port)},
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_up():
        with socket.socket() as one:
            return one.connect_ex(('127.0.0.1', port)) == 0
    ok('official: it listens', bool(wait_for(is_up)))
    p = Play(folder, {'near': {'command': [program]},
                      'far': {'url': f'http://127.0.0.1:{port}/mcp'}}, [
        step for name in ('near', 'far') for step in (
            call(f'mcp__{name}__echo', message='hello'), call(f'mcp__{name}__get-sum', a=2, b=3),
            call(f'mcp__{name}__get-sum', a='x'))] + [{'words': 'Done.'}]).run('--yes')
    texts = [r['text'] for r in p.results]
    ok('official: it is done', (p.code, 'not there' in p.err), (0, False))
    for at, name in ((0, 'stdio'), (3, 'HTTP')):
        ok(f'official: {name}', texts[at:at + 2], ['Echo: hello', 'The sum of 2 and 3 is 5.'])
        ok(f'official: {name}: a wrong call fails', p.results[at + 2]['is_error'])
    web.terminate()
    web.wait()


def main():
    """Names on the command line choose among the cases."""
    with Folder() as folder:
        for case in (stdio, large, trouble, hostile, settings, consent, over_http, own_server,
                     official):
            if len(sys.argv) == 1 or case.__name__ in sys.argv[1:]:
                case(folder)
    return CHECK.end()


sys.exit(main())

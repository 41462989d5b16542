"""The JSON of the page, who may read it, its stream; against `weir report` and the bytes sent."""
import fcntl
import http.client
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from urllib.parse import quote

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import play  # noqa: E402
from harness import Checks, Folder, wait_for  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
TRAFFIC = '/weir/v1/traffic'
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
ALPHA, BETA = 'alpha-token-0123456789', 'beta-token-0123456789'


def read(weir, path, headers=None):
    status, data, _ = weir.get(TRAFFIC + path, headers)
    return json.loads(data) if status == 200 else {'status': status}


def rows_come(weir, count):
    return wait_for(lambda: read(weir, '')['all']['requests'] >= count)


def made(weir, requests, name=0, headers=None):
    session = play.made_session(name, requests + 2)
    for end in session[2][:requests]:
        weir.post('/v1/messages', play.body_of(session[1][:end], 'claude-sonnet-5-5'),
                  {**play.headers_of(session[0]), **(headers or {})})
    return 'claude:' + session[0]


def figures(weir, provider):
    """The same numbers everywhere: here, in `weir report`, in the bytes that the provider got."""
    name = made(weir, 16)
    ok('rows come', bool(rows_come(weir, 16)))
    here = read(weir, '')
    told = json.loads(subprocess.run(
        [os.environ.get('WEIR', 'build/weir'), 'report', '--json', '--store', weir.store],
        stdout=subprocess.PIPE, check=True).stdout)
    for part in ('all', 'agents', 'models', 'hours'):
        ok(f'{part} is as `weir report` has it', here[part], told[part])
    session = read(weir, '/session?session=' + quote(name))
    rows = session['rows']
    ok('all requests are there', len(rows), 16)
    ok('money adds up', sum(r['micro_usd'] for r in rows), here['all']['micro_usd'])
    ok('and what it would have been', sum(r['unchanged_micro_usd'] for r in rows),
       here['all']['unchanged_micro_usd'])
    ok('kinds are all that was sent', [sum(r['kinds']) for r in rows], [r['sent'] for r in rows])
    ok('first words', session['words'], 'The nightly build 0 is red, find out why and fix it.')
    view = read(weir, f'/request?id={rows[-1]["id"]}')
    ok('before and after was kept', view['kept'])
    ok('the sizes are those of the bytes', view['sent_bytes'], len(provider.bodies[-1]))
    changed = [s for s in view['segments'] if s['change'] != 'same']
    ok('something was changed', len(changed) > 0)
    edited = next(s for s in changed if s['change'] == 'edited' and s.get('handle'))
    sent = weir.get(f'{TRAFFIC}/text?id={rows[-1]["id"]}&side=sent&i={edited["j"]}')
    ok('what is shown as sent was sent', json.dumps(sent[1].decode())[1:-1].encode()
       in provider.bodies[-1])
    ok('as plain text', sent[2]['content-type'], 'text/plain; charset=utf-8')
    ok('that nobody takes for something else', sent[2]['x-content-type-options'], 'nosniff')
    came = weir.get(f'{TRAFFIC}/text?id={rows[-1]["id"]}&side=came&i={edited["i"]}')[1]
    original = weir.get(f'{TRAFFIC}/original?handle={edited["handle"]}')[1]
    ok('the original is what came', original, came)
    listed = read(weir, '/originals?session=' + quote(name))['originals']
    ok('it is listed', edited['handle'] in [o['handle'] for o in listed])
    hits = read(weir, f'/search?session={quote(name)}&words={quote("TEST_77 passed")}')
    ok('a search finds it, case aside',
       hits['matches'] > 0 and 'test_77' in hits['hits'][0]['text'])
    hits = read(weir, f'/search?session={quote(name)}&pattern={quote("function_1_(7|8)0")}')
    ok('so does a pattern', hits['matches'] > 0)
    ok('a wrong pattern is refused',
       read(weir, f'/search?session={quote(name)}&pattern=(')['status'], 400)
    return rows


def live(weir, first_id):
    """A stream tells each request once, and goes on behind the row that a browser names."""
    connection = http.client.HTTPConnection('127.0.0.1', weir.port, timeout=60)
    connection.request('GET', TRAFFIC + '/live', headers={'Last-Event-ID': str(first_id)})
    stream = connection.getresponse()
    data = b''
    for events in (15, 16):
        while data.count(b'\ndata: ') < events or not data.endswith(b'\n'):
            data += stream.readline()
        if events == 15:
            made(weir, 1, 7)
    told = stream.getheader('content-type'), stream.getheader('cache-control')
    connection.close()
    ids = [int(n) for n in re.findall(rb'^id: (\d+)', data, re.M)]
    ok('each once, in order', ids, sorted(set(ids)))
    ok('behind the one that was named', ids[0] > first_id)
    last = json.loads(re.findall(rb'^data: (.*)$', data, re.M)[-1])
    ok('with its session', last['session'], 'claude:made-7')
    ok('the stream is one', told, ('text/event-stream; charset=utf-8', 'no-store'))


def files(weir):
    status, page, headers = weir.get('/weir/')
    policy = headers['content-security-policy']
    ok('the page is there', (status, headers['content-type']), (200, 'text/html; charset=utf-8'))
    ok('nothing comes from elsewhere', "default-src 'none'" in policy and 'unsafe' not in policy)
    ok('no script stands in it', re.findall(rb'<script(?![^>]*src=)', page), [])
    ok('no handler either', re.findall(rb'\son[a-z]+=', page), [])
    names = {m.decode() for m in re.findall(rb'(?:href|src)="([a-z.]+)"', page)}
    total, seen = len(page), set()
    while names:
        name = names.pop()
        status, data, headers = weir.get('/weir/' + name)
        ok(f'{name} is there', status, 200)
        ok(f'{name} has the policy', headers.get('content-security-policy'), policy)
        ok(f'{name} names no other place', re.findall(rb'https?://(?!www\.w3\.org/)', data), [])
        ok(f'{name} writes no markup',
           re.findall(rb'innerHTML|outerHTML|document\.write|eval\(', data), [])
        total += len(data)
        seen.add(name)
        names |= {m.decode() for m in re.findall(rb"from '\./([a-z.]+)'", data)} - seen
    ok('all of it is small', total < 300 * 1024)
    ok('/weir leads there', weir.get('/weir')[0::2][1].get('location'), '/weir/')
    ok('nothing else is there', weir.get('/weir/none.js')[0], 404)


def door(folder, provider):
    weir = play.serve(folder, provider, config=f'tokens: [{ALPHA}, {BETA}]\n')
    made(weir, 2, 1, {'x-weir-token': ALPHA})
    token = {'x-weir-token': ALPHA}
    ok('rows of a tenant come', bool(wait_for(
        lambda: read(weir, '', token).get('all', {}).get('requests') == 2)))
    ok('another tenant has none', read(weir, '', {'x-weir-token': BETA})['all']['requests'], 0)
    ok('nor reads a request of it',
       weir.get(TRAFFIC + '/request?id=1', {'x-weir-token': BETA})[0], 404)
    ok('the page itself is open', weir.get('/weir/')[0], 200)
    ok('its data is not', weir.get(TRAFFIC)[0], 401)
    ok('nor its stream', weir.get(TRAFFIC + '/live')[0], 401)
    status, _, headers = weir.request('POST', '/weir/v1/login', None, token)
    cookie = headers.get('set-cookie', '')
    ok('a token opens', (status, all(word in cookie for word in
                                     ('HttpOnly', 'SameSite=Strict', 'Path=/weir/'))), (204, True))
    ok('the cookie does not say it', ALPHA in cookie, False)
    ok('a wrong one does not', weir.request('POST', '/weir/v1/login', None,
                                            {'x-weir-token': 'x' * 20})[0], 401)
    bring = {'Cookie': 'a=b; ' + cookie.split(';')[0]}
    ok('the cookie is enough to read', weir.get(TRAFFIC, bring)[0], 200)
    ok('not to do something', weir.request('POST', '/weir/v1/logout', None, bring)[0], 401)
    ok('but for the page', weir.request('POST', '/weir/v1/logout', None,
                                        {**bring, 'x-weir-page': '1'})[0], 204)
    ok('nor to ask a model', weir.post('/v1/messages', {}, bring)[0], 401)
    ok('a page of another site may not ask', weir.get(TRAFFIC, {
        **bring, 'Origin': 'http://evil.example'})[0], 403)
    ok('only keys of hex', weir.get(TRAFFIC, {'Cookie': 'weir_token=zz'})[0], 401)
    weir.stop()


def originals_alone(folder, provider):
    weir = play.serve(folder, provider, config='keep: originals\n')
    name = made(weir, 3, 2)
    rows_come(weir, 3)
    ok('it says what it keeps', read(weir, '')['keep'], 'originals')
    rows = read(weir, '/session?session=' + quote(name))['rows']
    ok('figures are there', len(rows), 3)
    ok('what was said is not', read(weir, f'/request?id={rows[0]["id"]}')['kept'], False)
    ok('nor first words', read(weir, '/sessions')['sessions'][0]['words'], '')
    weir.stop()


def top(weir):
    out = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'top', '--store', weir.store],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    count = read(weir, '')['all']['requests']
    ok('`weir top` counts the same', out.startswith(f'{count} requests'))
    ok('and names the session', 'The nightly build' in out)


def documented(weir, name):
    """docs/page-api.md (and what it leads to) names every member that an answer has."""
    docs = ''
    for page in ('page-api', 'report', 'quality'):
        with open(os.path.join(ROOT, 'docs', page + '.md'), encoding='utf-8') as file:
            docs += file.read()
    named = set(re.findall(r'`([a-z_0-9]+)(?:\[\])?`', docs))

    def members(value):
        if isinstance(value, dict):
            return set(value).union(*map(members, value.values()))
        return set().union(*map(members, value)) if isinstance(value, list) else set()

    rows = read(weir, '/session?session=' + quote(name))['rows']
    for path in ('', '/sessions', '/session?session=' + quote(name), '/rows?since_ms=1', '/busts',
                 f'/request?id={rows[-1]["id"]}', '/originals?session=' + quote(name),
                 f'/search?session={quote(name)}&words=test', '/whatif'):
        found = members(read(weir, path))
        ok(f'{path.split("?")[0] or "the overview"} has members', len(found) > 3)
        ok('all of them are documented', sorted(found - named), [])


def top_on_a_terminal(weir):
    """It fits the terminal, and leaves what stood there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 10, 80, 0, 0))
    env = {k: v for k, v in os.environ.items() if k != 'COLUMNS'}
    child = subprocess.Popen([os.environ.get('WEIR', 'build/weir'), 'top', '--store', weir.store],
                             stdin=slave, stdout=slave, env={**env, 'TERM': 'xterm'})
    os.close(slave)
    shown = b''
    while b'Ctrl-C ends' not in shown:
        shown += os.read(master, 4096)
    child.send_signal(signal.SIGINT)
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    ok('`weir top` ends well', child.wait(), 0)
    picture = shown.decode().split('Ctrl-C ends')[0].split('\x1b[H')[1]
    lines = [re.sub(r'\x1b\[[0-9;?]*[A-Za-z]|\r', '', line) for line in picture.split('\n')]
    ok('it fits', (len(lines) <= 10, max(map(len, lines)) <= 80), (True, True))
    ok('on a screen of its own', shown.startswith(b'\x1b[?1049h') and
       shown.endswith(b'\x1b[?1049l'), True)


def what_if(weir, name):
    """A session under other policies, by a process of its own."""
    path = TRAFFIC + '/whatif'
    ok('the page knows that it can', read(weir, '')['whatif'])
    ok('a session that is not there', weir.post(path, {'session': 'none'})[0], 404)
    ok('no session', weir.post(path, {})[0], 400)
    ok('it begins', weir.post(path, {'session': name})[0], 200)
    ok('one at a time', weir.post(path, {'session': name})[0], 409)
    job = wait_for(lambda: (j := read(weir, '/whatif'))['is_done'] and j)
    costs = {r['policy']: r['micro_usd'] for r in job['results']}
    ok('all were played', (sorted(costs), job['error']),
       (['auto', 'careful', 'exact', 'lean'], None))
    ok('and cost something', all(costs.values()))
    ok('nothing of it stays', [f for f in os.listdir(weir.store) if 'whatif' in f], [])


def orders(weir, provider):
    """What the buttons send does what they say, seen at the provider."""
    name, messages, ends = play.made_session(5, 20)
    play.play(weir, name, messages, ends, 12, 'claude-sonnet-5-5')
    body = play.body_of(messages[:ends[12]], 'claude-sonnet-5-5')
    ok('prompts are shortened', len(provider.bodies[-1]) <
       len(json.dumps(play.body_of(messages[:ends[11]], 'claude-sonnet-5-5'))))
    ok('a foreign page may not pause', weir.post('/weir/v1/pause', {}, {
        'Origin': 'http://evil.example'})[0], 403)
    ok('pause', weir.post('/weir/v1/pause', {})[0], 200)
    weir.post('/v1/messages', body, play.headers_of(name))
    ok('everything goes as it came', json.loads(provider.bodies[-1])['messages'],
       body['messages'])
    ok('the page is told', json.loads(weir.get('/weir/v1/pause')[1])['steering']['all_paused'])
    ok('resume', weir.post('/weir/v1/resume', {})[0], 200)


def loopback(weir):
    connection = http.client.HTTPConnection('127.0.0.1', weir.port)
    connection.request('GET', TRAFFIC, headers={'Host': 'evil.example'})
    ok('a name of others that leads here is refused', connection.getresponse().status, 421)
    ok('so is a foreign page', weir.get(TRAFFIC, {'Origin': 'http://evil.example'})[0], 403)
    ok('it is read with GET', weir.post(TRAFFIC, {})[0], 405)
    ok('nothing is there', weir.get(TRAFFIC + '/none')[0], 404)


def main():
    provider = play.Provider()
    with Folder() as folder:
        weir = play.serve(folder, provider)
        rows = figures(weir, provider)
        live(weir, rows[0]['id'])
        top(weir)
        top_on_a_terminal(weir)
        documented(weir, 'claude:made-0')
        what_if(weir, 'claude:made-0')
        orders(weir, provider)
        files(weir)
        loopback(weir)
        ok('what was looked at is not logged',
           [line for line in weir.log_lines() if 'traffic' in json.dumps(line)], [])
        ok('it stops with a stream open', weir.stop(), 0)
        door(folder, provider)
        originals_alone(folder, provider)
    provider.stop()
    return CHECK.end()


sys.exit(main())

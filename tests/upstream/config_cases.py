"""What weir.yaml, its reload and the headers of a request may not say, and how they are told."""
import json
import os
import signal
import sqlite3
import subprocess
import time

from harness import FAKETIME, PATIENCE_SECONDS, Upstream, Weir, deaf_port, wait_for
from sessions import ANTHROPIC, chat_session, ok, play, serve


def refused(folder, config, *arguments):
    """Exit status and stderr of a server that does not start."""
    path = os.path.join(folder, 'refused.yaml')
    with open(path, 'w', encoding='ascii') as file:
        file.write('listen: 127.0.0.1:0\n' + config)
    command = [os.environ.get('WEIR', 'build/weir'), 'serve', '--store',
               os.path.join(folder, 'refused'), '--config', path, *arguments]
    result = subprocess.run(command, text=True, timeout=PATIENCE_SECONDS, capture_output=True,
                            check=False)
    return result.returncode, result.stderr


def wrong_names_do_not_start(folder):
    missing = os.path.join(folder, 'nosuch', 'file')
    for sentence, config, words in (
            ('a policy that is none', 'policy: nosuch\n',
             "line 2, column 9: no policy is called 'nosuch'; there are exact"),
            ("a rule's policy that is none", 'rollout: [{model: x, policy: nosuch}]\n',
             "line 2, column 30: no policy is called 'nosuch'"),
            ("a rule's upstream that is none", 'rollout: [{upstream: nosuch, mode: off}]\n',
             "line 2, column 22: no upstream is called 'nosuch'"),
            ('a log that cannot be written', f'log: {missing}\n',
             f'log {missing} cannot be written: No such file'),
            ('certificates that are not there', f'ca_file: {missing}\n',
             f'ca_file {missing} cannot be read: No such file')):
        status, errors = refused(folder, config)
        ok(f'{sentence} is refused at the start', (status, words in errors, errors.count('\n')),
           (2, True, 1))
    ok('whatever else would be wrong, what has a place names the file',
       'refused.yaml: line 2' in refused(folder, 'policy: nosuch\n')[1])
    ok('a rule may stand before its upstream', refused(
        folder, 'rollout: [{upstream: mine, policy: smart}]\npolicy: nosuch\n'
        'upstreams: {mine: {base_url: "http://127.0.0.1:1"}}\n')[1].count("called 'nosuch'"), 1)


def reload_is_told(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}/v1'
    text = f'listen: 127.0.0.1:0\nupstreams: {{openai: {{base_url: "{base}"}}}}\n'
    weir = Weir(folder, config=text + 'policy: tiered\nworkers: 2\n')

    def reload(more):
        before = len(weir.stderr())
        weir.write_config(text + more)
        weir.process.send_signal(signal.SIGHUP)
        wait_for(lambda: '\n' in weir.stderr()[before:] and (
            'is read again' in weir.stderr()[before:] or 'is refused' in weir.stderr()[before:]))
        return weir.stderr()[before:]

    def policy():
        return json.loads(weir.get('/weir/v1/health')[1])['policy']

    told = reload('policy: nosuch\nworkers: 2\n')
    ok('a reload with a policy that is none is refused with its place',
       ("line 3, column 9: no policy is called 'nosuch'" in told,
        told.count('nothing has changed')), (True, 1))
    ok('and changes nothing', policy(), 'tiered')
    told = reload('policy: auto\nrollout: [{model: x, policy: nosuch}]\nworkers: 2\n')
    ok("nor one whose rule names none", ('line 4, column 30' in told, policy()), (True, 'tiered'))
    told = reload('policy: smart\nworkers: 2\n')
    ok('a good one is one line', (told.count('\n'), 'mode active, policy smart' in told,
                                  'restart' in told), (1, True, False))
    ok('and holds', bool(wait_for(lambda: policy() == 'smart')))
    told = reload('policy: smart\nworkers: 1\n')
    ok('what waits for a restart is said', 'workers' in told and 'wait for a restart' in told)
    weir.stop()


def headers_are_obeyed_or_refused(folder, upstream):
    weir = serve(folder, upstream)
    body = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'Hello.'}]}
    before = upstream.stats()['requests']
    for header, words in (({'x-weir-policy': 'wibble'}, 'there are exact'),
                          ({'x-weir-policy': 'SHORT'}, 'short'),
                          ({'x-weir-mode': 'wibble'}, '`exact` only'),
                          ({'x-weir-recall': 'on'}, 'auto, client, own or off'),
                          ({'x-weir-mode': 'off'}, '`exact` only'),
                          ({'x-weir-mode': 'shadow'}, '`exact` only')):
        status, answer, _ = weir.post('/v1/chat/completions', body, header)
        ok(f'{header} is refused', (status, words in json.loads(answer)['error']['message']),
           (400, True))
    ok('and nothing of it was sent on', upstream.stats()['requests'], before)
    for header in ({'x-weir-policy': 'short'}, {'x-weir-policy': 'smart'}, {'x-weir-mode': 'exact'},
                   {'x-weir-mode': ''}):
        ok(f'{header} is obeyed', weir.post('/v1/chat/completions', body, header)[0], 200)
    weir.stop()


def unknown_upstreams_see_nothing(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}/v1'
    weir = Weir(folder, '--upstream', f'openai={base}', '--upstream', f'anthropic={base}',
                '--upstream', f'mine={base}')
    body = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'Hello.'}]}
    weir.post('/p/mine/chat/completions', body)
    before = upstream.stats()['requests']
    for path, headers in (('/p/NOSUCH/chat/completions', {'authorization': 'Bearer secret'}),
                          ('/p/NOSUCH/v1/messages', ANTHROPIC)):
        status, answer, _ = weir.post(path, body, headers)
        message = json.loads(answer)['error']['message']
        ok(f'{path} is not there, and is told what is',
           (status, all(name in message for name in ('openai', 'anthropic', 'mine'))), (404, True))
    ok('and nobody has seen the credential', upstream.stats()['requests'], before)
    weir.stop()


def providers_behind(upstream, *names):
    """weir.yaml with these at their own hosts, asked by way of `upstream` as their proxy."""
    hosts = {'openai': 'api.openai.com/v1', 'anthropic': 'api.anthropic.com/v1',
             'gemini': 'generativelanguage.googleapis.com',
             'vertex': 'europe-west1-aiplatform.googleapis.com'}
    return 'listen: 127.0.0.1:0\nupstreams:\n' + ''.join(
        f'  {name}: {{base_url: "http://{hosts[name]}", '
        f'proxy: "http://127.0.0.1:{upstream.port}"}}\n' for name in names)


def named_upstreams_are_asked_or_nobody(folder, upstream):
    weir = Weir(folder, config=providers_behind(upstream, 'openai', 'anthropic', 'gemini',
                                                'vertex'))
    body = {'contents': []}
    key, login = {'x-goog-api-key': 'secret'}, {'Authorization': 'Bearer ya29.secret'}
    vertex = 'http://europe-west1-aiplatform.googleapis.com'
    gemini = 'http://generativelanguage.googleapis.com'
    for path, headers, url in (
            ('/vertex/v1/publishers/google/x', key, f'{vertex}/v1/publishers/google/x'),
            ('/p/vertex/v1/publishers/google/x', key, f'{vertex}/v1/publishers/google/x'),
            ('/gemini/v1beta/x', login, f'{gemini}/v1beta/x'),
            ('/p/gemini/v1beta/x', login, f'{gemini}/v1beta/x'),
            ('/gemini/v1beta/y', key, f'{gemini}/v1beta/y'),
            ('/v1beta/x', key, f'{gemini}/v1beta/x'),
            ('/v1/projects/x', login, f'{vertex}/v1/projects/x')):
        status = weir.post(path, body, headers)[0]
        ok(f'{path} with {headers}', (status, upstream.last_path()), (200, url))
    before = upstream.stats()['requests']
    for path, headers, own in (('/anthropic/v1/x', key, 'gemini'),
                               ('/p/openai/v1/x', login, 'vertex'),
                               ('/gemini/v1beta/x', {'x-api-key': 'sk-ant-secret'}, 'anthropic')):
        status, answer, _ = weir.post(path, body, headers)
        ok(f'{path} with {headers} is refused, and told whom to name',
           (status, f'Ask for /p/{own}/'.encode() in answer, b'secret' in answer),
           (404, True, False))
    ok('and is sent to nobody', upstream.stats()['requests'], before)
    weir.stop()


def gateways_take_every_key(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}/v1'
    weir = Weir(folder, '--upstream', f'openai={base}', '--upstream', f'anthropic={base}')
    body = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'Hello.'}]}
    for path, headers in (('/v1/chat/completions', {'api-key': 'k'}),
                          ('/v1/chat/completions', {'Authorization': 'Bearer sk-or-v1-k'}),
                          ('/openai/v1/chat/completions', {'api-key': 'k'}),
                          ('/v1/messages/x', {**ANTHROPIC, 'Authorization': 'Bearer sk-or-k'})):
        status = weir.post(path, body, headers)[0]
        ok(f'{path} with {headers} goes to the gateway',
           (status, upstream.last_path()), (200, path.replace('/openai', '')))
    weir.stop()


def hosts_that_are_named_may_ask(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}/v1'
    weir = Weir(folder, '--upstream', base,
                config='listen: 127.0.0.1:0\nallow_hosts: [host.docker.internal]\n')
    for host in ('weir.localhost', 'localhost.:1', '[::ffff:127.0.0.1]:1',
                 'Host.Docker.Internal:1'):
        ok(f'the Host {host} is ours', weir.get('/v1/models', {'Host': host})[0], 200)
    status, answer = weir.get('/v1/models', {'Host': 'gateway.docker.internal'})[:2]
    ok('another is not, and told how', (status, b'`allow_hosts` of weir.yaml' in answer),
       (421, True))
    weir.stop()


def strange_credentials_are_seen_by_nobody(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}/v1'
    weir = Weir(folder, '--upstream', f'mine={base}',
                config=providers_behind(upstream, 'openai', 'anthropic'))
    body = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'Hello.'}]}
    before = upstream.stats()
    for path, headers, provider in (
            ('/v1/chat/completions', {'api-key': 'secret'}, 'azure'),
            ('/openai/deployments/d/chat/completions?api-version=1', {'api-key': 'secret'},
             'azure'),
            ('/p/openai/v1/responses', {'Authorization': 'Bearer ya29.secret'}, 'vertex'),
            ('/p/openai/v1/models?X-Amz-Signature=secret', {}, 'bedrock'),
            ('/model/m/converse', {'Authorization': 'AWS4-HMAC-SHA256 Credential=secret'},
             'bedrock'),
            ('/v1/messages', {**ANTHROPIC, 'Authorization': 'Bearer ABSKsecret'}, 'bedrock')):
        status, answer, _ = weir.post(path, body, headers)
        said = json.loads(answer)
        message = said.get('error', said)['message']  # in the shape of the path's API
        ok(f'{path} with {headers} is for {provider}, and told how',
           (status, f'upstreams: {{{provider}: {{base_url:' in message, 'secret' in message),
           (404, True, False))
    long = b'POST /v1/files HTTP/1.1\r\nHost: localhost\r\napi-key: k\r\nTransfer-Encoding: ' \
           b'chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
    ok('nor is what is streamed', weir.raw(long)[9:12], b'404')
    after = upstream.stats()
    ok('and nothing of it was sent', after['requests'], before['requests'])
    ok('which is counted', weir.metric('weir_requests_refused_total'), 7.0)
    ok('the one upstream that a path names takes them',
       weir.post('/p/mine/chat/completions', body, {'api-key': 'k'})[0], 200)
    ok('as it came', upstream.last_headers().get('api-key'), 'k')
    weir.stop()
    weir = Weir(folder, '--upstream', base)
    ok('so does the one upstream behind all',
       weir.post('/v1/chat/completions', body, {'api-key': 'k'})[0], 200)
    weir.stop()
    weir = Weir(folder, '--upstream', f'openai={base}', '--upstream', f'azure={base}')
    ok('what is configured is asked',
       weir.post('/openai/deployments/d/chat/completions', body, {'api-key': 'k'})[0], 200)
    ok('at its own path', upstream.last_path(), '/v1/openai/deployments/d/chat/completions')
    weir.stop()


def pages_of_others_may_not_ask(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}/v1'
    weir = Weir(folder, '--upstream', base, config='listen: 127.0.0.1:0\n'
                'allow_origins: ["vscode-webview://*", "https://app.example"]\n')
    body = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'Hello.'}]}
    before = upstream.stats()['requests']
    for path in ('/v1/chat/completions', '/v1/files', '/mcp', '/weir/v1/sessions'):
        for headers in ({'Origin': 'https://evil.example'}, {'Origin': 'null'},
                        {'Sec-Fetch-Site': 'cross-site'}):
            status, answer, _ = weir.post(path, body, headers)
            ok(f'{path} with {headers} is refused, and told how',
               (status, b'`allow_origins` of weir.yaml' in answer), (403, True))
    ok('and nothing of it was sent on', upstream.stats()['requests'], before)
    for headers in ({'Origin': 'http://localhost:3000'}, {'Origin': 'https://app.example'},
                    {'Origin': 'vscode-webview://1f', 'Sec-Fetch-Site': 'cross-site'}):
        ok(f'{headers} may ask', weir.post('/v1/chat/completions', body, headers)[0], 200)
    weir.stop()


def no_answer_is_no_usage(folder):
    with deaf_port() as deaf:
        port = deaf.getsockname()[1]
        weir = Weir(folder, '--upstream', f'http://127.0.0.1:{port}/v1')
        body = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'Hello.'}]}
        status, answer, _ = weir.post('/v1/chat/completions', body, {'x-weir-session': 'lost'})
        ok('whom it could not reach is named once',
           (status, json.loads(answer)['error']['message'].partition(': ')[2].partition(': ')[0]),
           (502, f'upstream (http://127.0.0.1:{port}/v1)'))
        line = weir.log(1)[-1]
        ok('what was not answered has no usage',
           (line['usage_known'], [key for key in line if key.startswith('usage_')]),
           (False, ['usage_known']))
        weir.stop()
        shown = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'context', 'lost', '--store',
                                weir.store], text=True, capture_output=True, check=False).stdout
        ok('and its context has none', ('0 tokens counted' in shown, 'lost' in shown),
           (False, True))


def errors_name_no_path(folder, upstream):
    """Certificates that are none are told to whoever asks, and not where they are."""
    path = os.path.join(folder, 'no-certificates.pem')
    with open(path, 'w', encoding='ascii') as file:
        file.write('nothing\n')
    weir = Weir(folder, '--upstream', f'https://127.0.0.1:{upstream.port}/v1',
                config=f'listen: 127.0.0.1:0\nca_file: {path}\n')
    status, answer, _ = weir.get('/v1/models')
    ok('certificates that are none are told, without their path',
       (status, folder in answer.decode(), b'CA cert' in answer), (502, False, True))
    weir.stop()


def old_sessions_leave(folder, upstream):
    """What nobody has used for `keep_days` leaves when a server starts; what is in use stays."""
    weir = serve(folder, upstream)
    for name in ('old', 'new'):
        play(weir, chat_session(4, words=f'Of the {name} one.'), {'x-weir-session': name})
    ok('both are there',
       bool(wait_for(lambda: sessions_of(weir.store) == {'weir:old', 'weir:new'})))
    weir.stop()
    with sqlite3.connect(os.path.join(weir.store, 'store.db')) as db:
        db.execute('UPDATE session SET used_ms = ? WHERE name = ?',
                   (int((time.time() - 8 * 86400) * 1000), 'weir:old'))
        uses = count_of(db, 'artifact_use')
    db.close()
    keeps = Weir(folder, store=weir.store, config='listen: 127.0.0.1:0\nstore: {keep_days: 9}\n')
    keeps.stop()
    ok('younger than that they stay', sessions_of(weir.store), {'weir:old', 'weir:new'})
    again = Weir(folder, store=weir.store, config='listen: 127.0.0.1:0\nstore: {keep_days: 7}\n')
    ok('an old session leaves at the start, which is said',
       bool(wait_for(lambda: '1 sessions that were not used for long' in again.stderr())))
    ok('the other stays', sessions_of(weir.store), {'weir:new'})
    with sqlite3.connect(os.path.join(weir.store, 'store.db')) as db:
        ok('with its originals', 0 < count_of(db, 'artifact_use') < uses)
    db.close()
    again.stop()


def unset_clocks_cost_nothing(folder, upstream):
    """A server that starts before the machine knows the time makes no session an old one."""
    if not FAKETIME:
        print('skipped: libfaketime is not installed')
        return
    weir = serve(folder, upstream)
    play(weir, chat_session(4), {'x-weir-session': 'a'})
    weir.stop()
    config = 'listen: 127.0.0.1:0\nstore: {keep_days: 7}\n'
    early = Weir(folder, store=weir.store, config=config,
                 env={**FAKETIME, 'FAKETIME': '@1970-02-01 00:00:00'})
    early.request('GET', '/weir/v1/health')
    early.stop()
    Weir(folder, store=weir.store, config=config).stop()
    ok('a clock that is not set costs no session', sessions_of(weir.store), {'weir:a'})


def count_of(db, table):
    return db.execute(f'SELECT count(*) FROM {table}').fetchone()[0]


def sessions_of(store):
    db = sqlite3.connect(os.path.join(store, 'store.db'))
    names = {row[0] for row in db.execute('SELECT name FROM session')}
    db.close()
    return names


# ---- windows ----

def window_of(line):
    return line['model_context_window_tokens'], line['model_context_window_source']


def configured_windows_hold(folder, upstream):
    """`models:` of weir.yaml is what `weir models --config` shows, and what requests are cut to."""
    weir = Weir(folder, config=f'''listen: 127.0.0.1:0
policy: tiered
upstreams:
  openai: {{base_url: http://127.0.0.1:{upstream.port}/v1}}
models:
  local-model: {{window: 12000}}
aliases:
  mine: local-model
''')
    for name in ('local-model', 'mine'):
        weir.post('/v1/chat/completions', chat_session(2, model=name), {'x-weir-session': name})
        ok(f'{name}: the configured window', window_of(weir.log(1)[-1]), (12000, 'configuration'))
    weir.stop()


def loaded_windows_are_asked_for(folder, upstream):
    """A local server has loaded less than its model could have. No request waits for the answer."""
    local = Upstream(folder, '--loaded', '8000')
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{local.port}/v1', '--policy', 'tiered')
    session, sent = chat_session(3, model='local-model'), [0]

    def told(name):
        weir.post('/v1/chat/completions', session, {'x-weir-session': name})
        sent[0] += 1
        return window_of(weir.log(sent[0])[-1]) == (8000, 'loaded')

    told('first')
    ok('a session that has begun takes it up', bool(wait_for(lambda: told('first'))))
    ok('a session that begins has it', told('second'))
    weir.stop()
    local.stop()

"""What `weir doctor` finds, on loopback alone."""
import json
import os
import subprocess
import time

from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, deaf_port

WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))


def examine(store, *words, **env):
    result = subprocess.run([WEIR, 'doctor', '--json', '--store', store, *words], check=False,
                            env={**os.environ, **env}, capture_output=True, text=True,
                            timeout=PATIENCE_SECONDS)
    levels = {}
    page = json.loads(result.stdout)
    for finding in page['findings']:
        levels.setdefault(finding['name'], []).append(
            (finding['level'], finding['text'] + '; ' + finding['advice']))
    ok_page = page['ok'] == (result.returncode == 0)
    return result.returncode if ok_page else 'ok and exit status differ', levels


def doctor_cases(ok):
    with Folder() as folder:
        upstream = Upstream(folder)
        url = f'http://127.0.0.1:{upstream.port}/v1'
        store = os.path.join(folder, 'store')
        code, found = examine(store, '--upstream', url)
        ok('a machine without a store is well', code, 0)
        ok('no store was made by looking', os.path.exists(store), False)
        ok('an upstream that answers', (found['upstream'][0][0], ' without a key' in
                                        found['upstream'][0][1]), ('ok', True))
        code, found = examine(store, '--upstream', 'http://127.0.0.1:9/v1')
        ok('one that does not: exit 1', (code, found['upstream'][0][0]), (1, 'fail'))
        code, found = examine(store, '--offline')
        ok('--offline asks nobody', (code, 'not asked' in found['upstream'][0][1]), (0, True))
        config = os.path.join(folder, 'weir.yaml')
        with open(config, 'w', encoding='ascii') as file:
            file.write(f'upstreams:\n  a: {{base_url: "{url}"}}\n'
                       f'  b: {{base_url: "http://127.0.0.1:9"}}\n')
        code, found = examine(store, '--config', config)
        ok('of a configuration those it names are asked',
           [level for level, _ in found['upstream']], ['ok', 'fail'])

        os.mkdir(store, 0o700)
        weir = Weir(folder, '--upstream', url, store=store)
        code, found = examine(store, '--offline')
        ok('the server is found', (code, f'process {weir.process.pid} on 127.0.0.1:{weir.port}' in
                                   found['server'][0][1]), (0, True))
        weir.stop()
        code, found = examine(store, '--offline')
        ok('the store is read', 'originals' in found['store'][0][1])
        os.chmod(store, 0o755)
        code, found = examine(store, '--offline')
        ok('a store that others can read is a warning', (code, found['permissions'][0][0]),
           (0, 'warn'))
        os.chmod(store, 0o700)
        later = time.time() + 3600
        os.utime(os.path.join(store, 'store.db'), (later, later))
        code, found = examine(store, '--offline')
        ok('a file from the future is a warning', found['clock'][0][0], 'warn')
        with open(os.path.join(store, 'store.db'), 'r+b') as file:
            file.write(b'no database at all')
        code, found = examine(store, '--offline')
        ok('a store that is none: exit 1 and what to do',
           (code, found['store'][0][0], 'names another' in found['store'][0][1]),
           (1, 'fail', True))
        code, found = examine(os.path.join(folder, 'none'), '--offline', PATH='/nowhere')
        ok('no agent is a warning', (code, found['agent'][0][0]), (0, 'warn'))
        os.mkdir(os.path.join(folder, 'bin'))
        program = os.path.join(folder, 'bin', 'codex')
        with open(program, 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\necho "codex-cli 1.2.3"\n')
        os.chmod(program, 0o755)
        code, found = examine(os.path.join(folder, 'none'), '--offline',
                              PATH=os.path.dirname(program))
        ok('an agent and its version', 'codex-cli 1.2.3' in found['agent'][0][1])
        places_of_stores(ok, folder)
        settings_of_agents(ok, folder, upstream)
        hooks_of_agents(ok, folder)
        upstream.stop()


def places_of_stores(ok, folder):
    file = os.path.join(folder, 'a-file')
    with open(file, 'w', encoding='ascii'):
        pass
    for place in ('/proc/x', '/proc/x/y/z', file, file + '/x'):
        code, found = examine(place, '--offline')
        ok(f'a store that cannot be made is a failure: {place}', (code, found['store'][0][0]),
           (1, 'fail'))
    code, found = examine(os.path.join(folder, 'to', 'be', 'made'), '--offline')
    ok('one that can be made is none', (code, found['store'][0][0], os.listdir(folder).count('to')),
       (0, 'ok', 0))


def settings_of_agents(ok, folder, upstream):
    home = os.path.join(folder, 'home')
    store = os.path.join(folder, 'home-store')
    os.mkdir(home)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1')
    ours = f'http://127.0.0.1:{weir.port}/v1'

    def write(name, text):
        path = os.path.join(home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)

    def settings(**env):
        code, found = examine(store, '--offline', HOME=home, PATH='/nowhere', **env)
        return code, found.get('settings', [])
    ok('without files there is nothing to say', settings(), (0, []))
    with deaf_port() as deaf:
        dead = f'http://127.0.0.1:{deaf.getsockname()[1]}'
        for sentence, name, text, code, level, words in (
                ('a dead port', '.codex/config.toml', f'openai_base_url = "{dead}/v1"\n', 1, 'fail',
                 'nobody answers there'),
                ('Weir, without recall', '.codex/config.toml', f'openai_base_url = "{ours}"\n', 0,
                 'warn', 'codex mcp add weir'),
                ('Weir, with recall', '.codex/config.toml',
                 f'openai_base_url = "{ours}"\n[mcp_servers.weir]\ncommand = "{WEIR}"\n'
                 'args = ["mcp"]\n', 0, 'ok', 'weir_recall is among'),
                ('another server', '.codex/config.toml',
                 f'openai_base_url = "http://127.0.0.1:{upstream.port}/v1"\n', 0, 'ok',
                 'is not Weir'),
                ('the provider itself', '.codex/config.toml',
                 'openai_base_url = "https://api.openai.com/v1"\n', 0, 'ok', 'leads to https'),
                ('a name that only begins like ours', '.codex/config.toml',
                 'openai_base_url = "http://localhost.invalid:9/v1"\n', 0, 'ok',
                 'leads to http://localhost.invalid'),
                ('a number that is none', '.codex/config.toml',
                 'openai_base_url = "http://127.0.0.1.invalid:9/v1"\n', 0, 'ok',
                 'leads to http://127'),
                ('far too much', '.codex/config.toml', '#' * 1100000, 0, 'warn', 'cannot be read'),
                ('nothing of note', '.codex/config.toml', 'model = "m"\n', 0, 'ok',
                 'names no address'),
                ('JSON that is none', '.claude/settings.json', '{"env": {\n"A" "b"}}', 1, 'fail',
                 'line 2 is no JSON'),
                ('a dead port in JSON', '.claude/settings.json',
                 json.dumps({'env': {'ANTHROPIC_BASE_URL': dead}}), 1, 'fail',
                 'nobody answers there'),
                ('a comma too many', '.claude/settings.json', '{"model": "m",} // mine\n', 0, 'ok',
                 'can be read'),
                ('opencode', '.config/opencode/opencode.json',
                 json.dumps({'provider': {'a': {'options': {'baseURL': dead}}}}), 1, 'fail',
                 'nobody answers there'),
                ('pi', '.pi/agent/models.json',
                 json.dumps({'providers': {'a': {'baseUrl': ours}}}), 0, 'ok', 'the Weir at')):
            write(name, text)
            got, found = settings()
            ok(f'settings: {sentence}', (got, found[-1][0], words in found[-1][1]),
               (code, level, True))
            os.remove(os.path.join(home, name))
        os.mkfifo(os.path.join(home, '.codex/config.toml'))
        got, found = settings()
        ok('settings: nobody waits for a pipe',
           (got, found[-1][0], 'cannot be read' in found[-1][1]), (0, 'warn', True))
        os.remove(os.path.join(home, '.codex/config.toml'))
        got, found = settings(OPENAI_BASE_URL=dead)
        ok('settings: of the environment', (got, 'the environment: leads to' in found[0][1]),
           (1, True))
    write('.claude/settings.json', json.dumps({'env': {'ANTHROPIC_BASE_URL': ours}}))
    ok('settings: Claude Code without recall', settings()[1][-1][0], 'warn')
    write('.claude.json', json.dumps({'mcpServers': {'weir': {'command': 'weir'}}}))
    ok('settings: and with it', settings()[1][-1][0], 'ok')
    weir.stop()
    recall_of_agents(ok, folder)


def recall_of_agents(ok, folder):
    """The recall server is started as each agent would."""
    home = os.path.join(folder, 'recall')
    store = os.path.join(home, 'store')
    good = {'command': WEIR, 'args': ['mcp', '--store', store]}
    deaf = {'command': '/bin/sh', 'args': ['-c', 'exit 3']}

    def found_recall(name, text, **env):
        path = os.path.join(home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        code, found = examine(store, '--offline', HOME=home, **{'PATH': '/nowhere', **env})
        os.remove(path)
        return code, [level for level, _ in found.get('recall', [])], str(found.get('recall'))
    for agent, name, text in (
            ('claude', '.claude.json', {'mcpServers': {'weir': good}}),
            ('claude', '.claude.json', {'projects': {os.getcwd(): {'mcpServers': {'weir': good}}}}),
            ('codex', '.codex/config.toml', f'[mcp_servers.weir]\ncommand = "{WEIR}"\n'
             f'args = ["mcp", "--store", "{store}"]\n[mcp_servers.x]\ncommand = "y"\n'),
            ('opencode', '.config/opencode/opencode.json',
             {'mcp': {'weir': {'command': [WEIR, 'mcp', '--store', store]}}}),
            ('qwen', '.qwen/settings.json', {'mcpServers': {'weir': good}}),
            ('copilot', '.copilot/mcp-config.json', {'mcpServers': {'weir': good}})):
        code, levels, said = found_recall(name, text)
        ok(f'recall: of {agent}, {name}: it starts', (code, levels, agent in said),
           (0, ['ok'], True))
    code, levels, said = found_recall('.claude.json', {'mcpServers': {'weir': {'command': 'weir'}}})
    ok('recall: `weir` that is not in the PATH', (code, levels, 'weir: No such file' in said),
       (1, ['fail'], True))
    code, levels, said = found_recall('.claude.json', {'mcpServers': {'weir': deaf}})
    ok('recall: a program that is none', (code, levels, 'offers no weir_recall' in said),
       (1, ['fail'], True))
    code, levels, _ = found_recall('.claude.json', {'mcpServers': {'weir': {'url': 'http://x'}}})
    ok('recall: what is not started is not asked', (code, levels), (0, []))
    ok('recall: nothing is made by looking', os.path.exists(store), False)


def hooks_of_agents(ok, folder):
    home, bin_folder = os.path.join(folder, 'hooked'), os.path.join(folder, 'hooked-bin')
    store = os.path.join(folder, 'hooked-store')

    def write(name, text, mode=0o644):
        path = os.path.join(home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
        os.chmod(path, mode)

    def settings(agent, *words):
        return subprocess.run([WEIR, 'hook', agent, '--settings', *words], check=True,
                              capture_output=True, text=True).stdout

    def server(**more):
        return json.dumps({'mcpServers': {'weir': {'command': WEIR, **more}}})

    def claude_version(version):
        write('../hooked-bin/claude', f'#!/bin/sh\necho "{version} (Claude Code)"\n', 0o755)

    def found_hooks():
        code, found = examine(store, '--offline', HOME=home, PATH=f'{bin_folder}:/usr/bin:/bin',
                              XDG_CONFIG_HOME=os.path.join(home, '.config'))
        return code, found['hook']

    def expect(sentence, code, level, words):
        got, found = found_hooks()
        ok(f'hooks: {sentence}', (got, found[-1][0], words in found[-1][1]), (code, level, True))
    os.makedirs(home)
    expect('none is no fault', 0, 'ok', 'no agent calls')
    claude_version('2.1.197')
    write('.claude/settings.json', settings('claude'))
    expect('without recall nothing is taken out', 0, 'warn', 'no MCP server called weir')
    write('.claude.json', server(args=['mcp']))
    expect('with it all is well', 0, 'ok', 'results are condensed')
    write('.claude.json', server(args=['mcp', '--store', '/elsewhere']))
    expect('another store', 0, 'warn', 'another store')
    write('.claude/settings.json', settings('claude', '--store', "/it's here"))
    write('.claude.json', server(args=['mcp', '--store', "/it's here"]))
    expect('the same one', 0, 'ok', 'results are condensed')
    claude_version('2.1.120')
    expect('a version that ignores it', 0, 'warn', '2.1.120')
    claude_version('2.2.0')
    expect('a later one', 0, 'ok', 'results are condensed')
    told = json.loads(settings('claude', '--store', "/it's here"))
    write('.claude/settings.json', json.dumps({**told, 'disableAllHooks': True}))
    expect('switched off', 0, 'warn', 'switched off')
    told['hooks']['PostToolUse'][0]['hooks'][0]['command'] = '/gone/weir hook claude'
    write('.claude/settings.json', json.dumps(told))
    write('.claude.json', server(args=['mcp']))
    expect('a program that is gone', 1, 'fail', '/gone/weir')
    os.remove(os.path.join(home, '.claude/settings.json'))
    write('.config/opencode/plugins/weir.js', settings('opencode', '--store', '/s'))
    expect('the plugin without recall', 0, 'warn', 'no MCP server called weir')
    write('.config/opencode/opencode.jsonc', json.dumps(
        {'mcp': {'weir': {'type': 'local', 'command': [WEIR, 'mcp', '--store', '/s']}}}))
    expect('the plugin', 0, 'ok', 'results are condensed')
    os.remove(os.path.join(home, '.config/opencode/plugins/weir.js'))
    hook = {'type': 'command', 'command': 'weir hook codex'}
    write('.codex/hooks.json', json.dumps({'hooks': {'PostToolUse': [{'hooks': [hook]}]}}))
    expect('an agent that takes nothing', 0, 'warn', 'exit code')

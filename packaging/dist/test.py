#!/usr/bin/env python3
"""Each package on a bare system: installed, one command, a real session through it.

    packaging/dist/test.py DIST CACHE

A tarball goes into a folder with nothing else in it, not even a C library; Debian package, wheel
and npm package into a minimal Debian (debootstrap, kept in CACHE), the latter two with its Python
and its Node and without an index. All are used by chroot: version, a count, and a session through
`weir serve` against the strict upstream, which must get less than was sent; then the original comes
back by `weir recall`. One for another processor is run by qemu-user-static; wheel and npm package
for it by the Python and the Node that Debian has for it.
Says aloud what is skipped: without root there is no chroot, without debootstrap no Debian.
"""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', '..', 'tests', 'upstream'))
from harness import PATIENT, STARTED, Checks, Folder, Upstream, Weir  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
LOG = ''.join(f'{i:05d} src/mod_{i % 7}.py: item {i * 7919 % 1000} is fine\n' for i in range(900))
HANDLE = 'wr_' + hashlib.sha256(LOG.encode()).hexdigest()[:20]
TOOLS = [{'type': 'function', 'function': {'name': name, 'parameters': {'type': 'object'}}}
         for name in ('bash', 'weir_recall')]
TALK = [{'role': 'user', 'content': 'What is in the log?'},
        {'role': 'assistant', 'content': None, 'tool_calls': [
            {'id': 'c1', 'type': 'function',
             'function': {'name': 'bash', 'arguments': '{"command": "cat log.txt"}'}}]},
        {'role': 'tool', 'tool_call_id': 'c1', 'content': LOG}]


def run(root, *words, text=None):
    done = subprocess.run(['chroot', root, *words], input=text, capture_output=True, text=True,
                          env={'HOME': '/', 'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'})
    return done.returncode, done.stdout + done.stderr


class Chrooted(Weir):
    """`weir serve` in a chroot; its port and folder are those of the machine."""

    def __init__(self, root, program, *arguments):
        self.folder = self.store = root
        os.makedirs(os.path.join(root, 'store'), exist_ok=True)
        self.config_path = os.path.join(root, 'weir.yaml')
        self.write_config('listen: 127.0.0.1:0\npolicy: auto\nmode: active\n' + PATIENT)
        self.lines_before = 0
        self.errors = open(os.path.join(root, 'stderr'), 'w+', encoding='utf-8')
        self.process = subprocess.Popen(
            ['chroot', root, *program, 'serve', '--store', '/store', '--config', '/weir.yaml',
             *arguments], stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env={'HOME': '/', 'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'})
        STARTED.append(self.process)
        first = self.process.stdout.readline()
        found = re.search(r'http://[^ ,]*:(\d+)', first)
        if not found:
            raise RuntimeError('weir does not start: ' + first + self.stderr())
        self.port = int(found.group(1))


def use(what, root, program, version):
    ok(f'{what}: it starts', run(root, *program, '--version'), (0, f'weir {version}\n'))
    code, said = run(root, *program, 'count', '-', text='What is a weir?')
    ok(f'{what}: it counts: {said}', (code, said.split()[0] if said else ''), (0, '6'))
    with Folder() as folder:
        upstream = Upstream(folder)
        weir = Chrooted(root, program, '--upstream', f'openai=http://127.0.0.1:{upstream.port}')
        status, data, _ = weir.post('/v1/chat/completions', {
            'model': 'gpt-4o', 'messages': TALK, 'tools': TOOLS},
            {'Authorization': 'Bearer k', 'x-weir-session': 'one'})
        ok(f'{what}: a session is answered', status, 200)
        sent = upstream.last_body()
        print(f'{what}: {len(LOG)} bytes of log went on as {len(sent)}, the rest included')
        ok(f'{what}: and saved', (HANDLE.encode() in sent, len(sent) < len(LOG) // 3), (True, True))
        weir.stop()
        upstream.stop()
    code, said = run(root, *program, 'recall', '--store', '/store', HANDLE)
    ok(f'{what}: the original comes back', (code, said == LOG), (0, True))


def try_tarball(path, version, arch):
    what = 'tarball ' + arch
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(['tar', '-xzf', path, '-C', root], check=True)
        top = os.path.basename(path).removesuffix('.tar.gz')
        ok(f'{what}: one folder', os.listdir(root), [top])
        there = {os.path.relpath(f, os.path.join(root, top))
                 for f in glob.glob(os.path.join(root, top, '**'), recursive=True)}
        for name in ('bin/weir', 'share/man/man1/weir.1.gz', 'share/man/man1/weir-serve.1.gz',
                     'share/bash-completion/completions/weir', 'share/zsh/site-functions/_weir',
                     'share/fish/vendor_completions.d/weir.fish', 'share/doc/weir/LICENSE',
                     'share/doc/weir/notices'):
            ok(f'{what}: {name}', name in there)
        sbom = os.path.join(root, top, 'share/doc/weir/sbom.spdx.json')
        with open(sbom, encoding='utf-8') as file:
            names = {p['name'] for p in json.load(file)['packages']}
        ok(f'{what}: the SBOM lists what is in it',
           {'weir', 'curl', 'openssl', 'sqlite3', 'glibc'} - names, set())
        os.makedirs(os.path.join(root, 'tmp'))
        program = [f'/{top}/bin/weir']
        if arch != os.uname().machine:
            emulator = shutil.which(f'qemu-{arch}-static')
            if not emulator:
                print(f'skipped: {what} is not run: qemu-user-static is not installed')
                return
            shutil.copy(emulator, os.path.join(root, 'qemu'))
            program.insert(0, '/qemu')
        use(what, root, program, version)


ON_NODE = """
const { Store, project, recall, count } = require(process.argv[2]);
(async () => {
    const given = Buffer.from(require('fs').readFileSync(process.argv[3]));
    const store = new Store(), { body } = await project(given, { policy: 'auto', store });
    const [handle] = body.toString().match(/wr_[0-9a-f]{20}/);
    const { text } = await recall(handle, { store });
    console.log(process.arch, await count('What is a weir?'), body.length < given.length / 3,
        JSON.parse(given).messages[2].content === text);
})();
"""


def try_for_other(arch, wheel, package, cache):
    """Python's and Node's package of another processor, by an interpreter for it."""
    emulator, host = shutil.which(f'qemu-{arch}-static'), f'{arch}-linux-gnu'
    if not emulator:
        print(f'skipped: packages for {arch}: qemu-user-static is not installed')
        return
    made = subprocess.run([os.path.join(HERE, 'sysroot'), cache, host, 'interpreters', 'python3',
                           'nodejs'], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        print(f'skipped: packages for {arch}: Debian has no Python or Node for it')
        return
    root = made.stdout.strip()
    python = glob.glob(os.path.join(root, 'usr/bin/python3.*[0-9]'))[0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, '-m', 'zipfile', '-e', wheel, folder], check=True)
        done = subprocess.run(
            [emulator, '-L', root, '-E', f'PYTHONHOME={root}/usr', '-E', f'PYTHONPATH={folder}',
             python, os.path.join(HERE, '../../tests/bindings/python_test.py')],
            capture_output=True, text=True)
        ok(f'wheel {arch}: the tests of the package pass: {done.stderr[-1500:]}',
           done.returncode, 0)
        if not package:
            print('skipped: there is no npm package')
            return
        subprocess.run(['tar', '-xzf', package, '-C', folder], check=True)
        script, body = os.path.join(folder, 'use.cjs'), os.path.join(folder, 'body.json')
        for path, text in ((script, ON_NODE), (body, json.dumps({
                'model': 'gpt-4o', 'messages': TALK, 'tools': TOOLS}))):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        done = subprocess.run(
            [emulator, '-L', root, os.path.join(root, 'usr/bin/node'), script,
             os.path.join(folder, 'package/lib/index.cjs'), body], capture_output=True, text=True)
        ok(f'npm package {arch}: it projects and recalls: {done.stderr[-1500:]}',
           done.stdout, f'{"arm64" if arch == "aarch64" else arch} 6 true true\n')


def minimal_debian(cache):
    base = os.path.join(cache, 'minbase')
    if not os.path.exists(os.path.join(base, 'installed')):
        if not shutil.which('debootstrap'):
            return None
        text = ''.join(open(path, encoding='utf-8').read() for path in glob.glob(
            '/etc/apt/sources.list.d/debian.sources') + glob.glob('/etc/apt/sources.list'))
        found = re.search(r'^(?:URIs:|deb) *(\S+)', text, re.M)
        with open('/etc/os-release', encoding='utf-8') as file:
            code = re.search(r'VERSION_CODENAME=(\w+)', file.read())
        shutil.rmtree(base, ignore_errors=True)
        if not found or subprocess.run(['debootstrap', '--variant=minbase', code.group(1), base,
                                        found.group(1)], stdout=subprocess.DEVNULL).returncode:
            return None
        open(os.path.join(base, 'installed'), 'w', encoding='ascii').close()
    return base


def install(what, root, *packages):
    code, said = run(root, 'sh', '-c', 'DEBIAN_FRONTEND=noninteractive apt-get install -y '
                     '--no-install-recommends ' + ' '.join(packages))
    ok(f'{what}: apt-get installs {packages}: ' + said[-300:], code, 0)


def try_deb(path, version, root):
    shutil.copy(path, os.path.join(root, 'weir.deb'))
    install('deb', root, '/weir.deb')
    use('deb', root, ['weir'], version)
    ok('deb: the unit', os.path.exists(os.path.join(root, 'usr/lib/systemd/user/weir.service')))
    code, said = run(root, 'dpkg', '--verify', 'weir')
    ok('deb: its files are whole: ' + said, code, 0)
    code, said = run(root, 'dpkg', '--purge', 'weir')
    ok('deb: it leaves', (code, os.path.exists(os.path.join(root, 'usr/bin/weir'))), (0, False))


def try_wheel(path, version, root):
    install('wheel', root, 'python3-venv')
    shutil.copy(path, root)
    code, said = run(root, 'sh', '-c', 'python3 -m venv /venv && /venv/bin/pip install --no-index /'
                     + os.path.basename(path))
    ok('wheel: pip installs it: ' + said[-300:], code, 0)
    use('wheel', root, ['/venv/bin/weir'], version)
    ok('wheel: the module counts', run(root, '/venv/bin/python', '-c', (
        'import weir; print(weir.count("What is a weir?"))')), (0, '6\n'))


def try_package(path, version, root):
    """As npm unpacks it: Debian's npm brings three hundred packages."""
    install('npm package', root, 'nodejs')
    place = '/app/node_modules/weir-context'
    os.makedirs(root + place)
    subprocess.run(['tar', '-xzf', path, '-C', root + place, '--strip-components=1'], check=True)
    use('npm package', root, [place + '/bin/weir.cjs'], version)
    ok('npm package: the module counts', run(root, 'node', '-e', (
        f'require("{place}").count("What is a weir?").then(console.log)')), (0, '6\n'))


def try_on_debian(debs, wheels, packages, version, base):
    root = os.path.join(os.path.dirname(base), 'bare')
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(['cp', '-a', base, root], check=True)
    if os.path.exists('/etc/resolv.conf'):
        shutil.copy('/etc/resolv.conf', os.path.join(root, 'etc/resolv.conf'))
    run(root, 'apt-get', '-qq', 'update')
    for try_one, paths in ((try_deb, debs), (try_wheel, wheels), (try_package, packages)):
        shutil.rmtree(os.path.join(root, 'store'), ignore_errors=True)
        if paths:
            try_one(paths[0], version, root)
        else:
            print(f'skipped: nothing for {try_one.__name__}')
    shutil.rmtree(root, ignore_errors=True)


def main():
    dist, cache = (os.path.abspath(path) for path in sys.argv[1:3])
    with open('include/weir/version.h', encoding='utf-8') as file:
        version = '.'.join(re.findall(r'define WEIR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)',
                                      file.read()))
    ok('the checksums hold', subprocess.run(['sha256sum', '--quiet', '-c', 'SHA256SUMS'],
                                            cwd=dist).returncode, 0)
    if os.geteuid():
        print('skipped: chroot needs root')
        return CHECK.end()
    for path in sorted(glob.glob(os.path.join(dist, f'weir-{version}-linux-*.tar.gz'))):
        arch = path.removesuffix('.tar.gz').rpartition('-')[2]
        try_tarball(path, version, arch)
    packages = glob.glob(os.path.join(dist, f'weir-context-{version}.tgz'))
    here = os.uname().machine
    wheels = {re.search(r'manylinux_\d+_\d+_(\w+)\.whl', path)[1]: path
              for path in glob.glob(os.path.join(dist, f'weir_context-{version}-*.whl'))}
    for arch in sorted(set(wheels) - {here}):
        try_for_other(arch, wheels[arch], packages[0] if packages else None, cache)
    debs = glob.glob(os.path.join(dist, f'weir_{version}_*.deb'))
    base = minimal_debian(cache)
    if not base:
        print('skipped: packages on a minimal Debian need debootstrap and a mirror')
        return CHECK.end()
    if not shutil.which('lintian'):
        print('skipped: lintian is not installed')
    elif debs:
        ok('deb: lintian has nothing to say', subprocess.run(
            ['lintian', '--allow-root', '--fail-on', 'error,warning', debs[0]]).returncode, 0)
    try_on_debian(debs, [wheels[here]] if here in wheels else [], packages, version, base)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

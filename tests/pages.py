#!/usr/bin/env python3
"""Holds the pages to the tree: what they name is there.

    pages.py [PAGE...]      WEIR names the program; without pages README, docs/ and their like

Read out of code only (`so`, and blocks): prose is free. Checked are
  - `weir COMMAND --option`: the command, the word behind it where the command has such, the option;
  - an option alone: some command has it, or the page says whose it is by a command that is no weir;
  - `make TARGET`; paths of the tree; links, with the heading they point at;
  - names of ours (weir_x, wr_x, WR_X, WEIR_X): they stand somewhere in the sources;
  - blocks of YAML with the keys of weir.yaml: `weir serve --check-config` takes them.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, 'upstream'))
from harness import Checks  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
CHECK = Checks()
SOURCES = ('src', 'include', 'lab', 'tests', 'tools', 'fuzz', 'bench', 'examples', 'bindings',
           'packaging', 'web', 'data', 'Makefile')
FOLDERS = ('src', 'lab', 'tests', 'tools', 'docs', 'data', 'fuzz', 'bench', 'web', 'examples',
           'bindings', 'packaging')
# What stands in examples, and is nobody's file here.
EXAMPLES = ('src/a.c', 'src/a/b.c', 'src/parser.c', 'src/errors.go', 'tools/call', 'tools/list')
NO_COMMANDS = ('order', 'orders')  # names of pins in the store
NAMES = ('WEIR_LISTEN', 'weir_V_amd64', 'wr_cmd_x')
# Options of other programs.
OTHERS = ('--output-format', '--mcp-config', '--with-extension', '--fail-fast', '--no-cache')
FENCE = re.compile(r'^( *)```([a-z]*)\n(.*?)^\1```', re.S | re.M)


def run(*words, text=None):
    env = {**os.environ, 'LC_ALL': 'C.UTF-8', 'COLUMNS': '1000'}
    return subprocess.run(words, input=text, text=True, capture_output=True, check=False, env=env)


class Program:
    """What `weir help` says of itself."""

    def __init__(self):
        listed = run(PROGRAM, '--help').stdout
        self.commands = set(re.findall(r'^  ([a-z]+)  ', listed, flags=re.M))
        self.commands |= {'help', 'completion'}
        self.helps = {name: run(PROGRAM, name, '--help').stdout for name in self.commands}
        self.options = {name: set(re.findall(r'(?<![\w-])(--?[a-z][a-z-]*)', text)) | {'--help'}
                        for name, text in self.helps.items()}
        self.options['help'] |= {'--man'}
        with open(os.path.join(ROOT, 'src/proxy/config_keys.c'), encoding='utf-8') as file:
            self.keys = set(re.findall(r'^    "(\w+)",', file.read(), flags=re.M))

        page = Page('docs/policies.md')
        self.policies = [text for kind, text in page.blocks if kind == 'yaml'][0]

    def has_option(self, option):
        return any(option in options for options in self.options.values())


class Tree:
    def __init__(self):
        files = run('git', '-C', ROOT, 'ls-files').stdout.split('\n')
        self.files = {name for name in files if name}
        self.folders = {os.path.dirname(name) for name in self.files}
        self.folders |= {os.path.dirname(name) for name in self.folders}
        self.names = set()
        for name in self.files:
            if name.split('/')[0] in SOURCES and not name.startswith('fuzz/corpus'):
                with open(os.path.join(ROOT, name), encoding='utf-8', errors='replace') as file:
                    text = file.read()
                self.names |= set(re.findall(r'\b(?:weir|wr|WR|WEIR)_\w+', text))
                if name.startswith('src/proxy/'):  # "weir_" is put before these
                    self.names |= {'weir_' + word for word in re.findall(r'"(\w+)"', text)}
                    self.names |= {f'weir_{word}_total' for word in re.findall(r'X\((\w+),', text)}
        self.targets = set()
        for name in ('Makefile', 'bindings/bindings.mk'):
            with open(os.path.join(ROOT, name), encoding='utf-8') as file:
                for line in re.findall(r'^([a-z][\w -]*?):', file.read(), flags=re.M):
                    self.targets |= set(line.split())

    def has(self, path):
        path = path.rstrip('/')
        if path in self.files or path in self.folders or os.path.exists(os.path.join(ROOT, path)):
            return True
        return '*' in path and bool(glob.glob(os.path.join(ROOT, path)))


class Page:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(ROOT, path), encoding='utf-8') as file:
            self.text = file.read()
        self.blocks = [(m.group(2), m.group(3)) for m in FENCE.finditer(self.text)]
        plain = FENCE.sub('', self.text)
        self.spans = [' '.join(span.split()) for span in re.findall(r'`([^`]+)`', plain)]
        self.links = re.findall(r'\]\(([^)\s]+)\)', plain)
        self.wrong = []

    def lines(self):
        """Every line of code: of blocks, joined where they go on, and of spans."""
        for _, text in self.blocks:
            yield from text.replace('\\\n', ' ').split('\n')
        yield from self.spans


def anchors_of(text):
    found = set()
    for heading in re.findall(r'^#+ +(.*?)\s*$', FENCE.sub('', text), flags=re.M):
        heading = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading).lower()
        found.add(re.sub(r'[^\w\- ]', '', heading).replace(' ', '-'))
    return found


def check_commands(page, program):
    for line in page.lines():
        line = re.sub(r'\s+# .*', '', line)
        for call in re.finditer(r'(?:^|[\s($]|(?<![=])build/)weir ([a-z]+)\b([^|;&`()]*)', line):
            name, rest = call.groups()
            if name not in program.commands:
                is_call = '--' in rest or line.startswith('weir')
                if name not in NO_COMMANDS and is_call and not re.match(r'[\w ]*[.,:]', rest):
                    page.wrong.append(f'no command `weir {name}`: {line.strip()}')
                continue
            rest = re.split(r'\s--(?:\s|$)', rest)[0]
            rest = re.sub(r"'[^']*'|\"[^\"]*\"", '', rest)
            for option in re.findall(r'(?:^|[\s\[])(--[a-z][a-z-]*)', rest):
                if option not in program.options[name]:
                    page.wrong.append(f'`weir {name}` has no {option}: {line.strip()}')
    for span in page.spans:
        option = re.match(r'(--[a-z][a-z-]+)(?:[ =]|$)', span)
        if option and not program.has_option(option.group(1)) and option.group(1) not in OTHERS:
            page.wrong.append(f'no command has {option.group(1)}')


def check_tree(page, tree):
    for line in page.lines():
        for target in re.findall(r'(?:^|[\s(])make ([a-z][a-z-]*)\b(?![\w/.])', line):
            if target not in tree.targets and (line.startswith('make') or line in page.spans):
                page.wrong.append(f'no target `make {target}`')
        for name in re.findall(r'\b(?:weir|wr|WR|WEIR)_[A-Za-z]\w+\b(?![*{])', line):
            if name not in tree.names and not is_part(name, tree) and not is_handle(name) \
                    and name not in NAMES:
                page.wrong.append(f'nothing is called {name}')
    for span in page.spans:
        path = re.sub(r'(:\d+)?[.,:;]?$', '', span.split()[0])
        if path.split('/')[0] in FOLDERS and '/' in path and not is_example(path):
            if not tree.has(path) and not tree.has(path + '.c'):
                page.wrong.append(f'no file {path}')


def is_example(path):
    """`src/x.c`, `fuzz/corpus/x`, `tools/call`: a name to be filled in, or a method of MCP."""
    last = os.path.splitext(os.path.basename(path.rstrip('/')))[0]
    return path in EXAMPLES or re.search(r'[A-Z<{…$]', last) or re.search(r'(^|_)x(_test)?$', last)


def is_handle(name):
    return re.fullmatch(r'wr_[0-9a-f]{4,20}', name)


def is_part(name, tree):
    """`WEIR_DIALECT_` or a family: the beginning of names that are there."""
    return name.endswith('_') and any(other.startswith(name) for other in tree.names)


def check_links(page):
    for link in page.links:
        if re.match(r'[a-z]+:', link):
            continue
        path, _, anchor = link.partition('#')
        target = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path \
            else page.path
        full = os.path.join(ROOT, target)
        if not os.path.exists(full):
            page.wrong.append(f'a link to nothing: {link}')
        elif anchor and target.endswith('.md'):
            with open(full, encoding='utf-8') as file:
                if anchor not in anchors_of(file.read()):
                    page.wrong.append(f'no heading for {link}')


def settings_fail(text, program):
    """What `weir serve` has against these settings; '' where it takes them."""
    with tempfile.TemporaryDirectory() as folder:
        files = {'said': 'said-in-a-file-0123456789', 'mine.yaml': program.policies,
                 'weir.yaml': re.sub(r'(file: *)/[\w./-]+', rf'\1{folder}/said', text)}
        for name, held in files.items():
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(held)
        named = re.findall(r'(?:env: *|\$\{)([A-Z][A-Z0-9_]*)', text)
        done = run('env', '-C', folder, *(f'{name}=of-a-variable' for name in named
                                          if name != 'WEIR_LISTEN'),
                   PROGRAM, 'serve', '--config', 'weir.yaml', '--check-config')
        return done.stderr.strip() if done.returncode else ''


def check_settings(page, program):
    """A block that needs another of its page (a budget its user) is taken with those before it."""
    before = ''
    for kind, text in page.blocks:
        keys = set(re.findall(r'^([a-z_]+):', text, flags=re.M))
        if kind != 'yaml' or not keys or not keys <= program.keys or 'tls' in keys:
            continue  # settings of others; a certificate is not to be had here (tls_test.sh)
        if keys == {'policies'}:
            text = 'policies: mine.yaml\n'
        fault = settings_fail(text, program)
        if fault and before and not settings_fail(before + text, program):
            fault = ''
        before += text
        if fault:
            page.wrong.append(f'settings are refused: {fault}')


def main():
    os.chdir(ROOT)
    pages = sys.argv[1:] or sorted(glob.glob('*.md') + glob.glob('docs/*.md') +
                                   glob.glob('docs/decisions/*.md'))
    program, tree = Program(), Tree()
    for path in pages:
        page = Page(path)
        check_commands(page, program)
        check_tree(page, tree)
        check_links(page)
        check_settings(page, program)
        CHECK.ok(f'{path}: what it names is there', sorted(set(page.wrong)), [])
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

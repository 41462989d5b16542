#!/usr/bin/env python3
"""The screen of `weir agent` as text, in a real terminal: what stands where, at several widths."""
import json
import os
import random
import re
import shutil
import signal
import sys

from agent_home import Home, Terminal, call, read, write_file
from harness import Checks, Folder, Upstream, wait_for

CHECK = Checks()
ok = CHECK.ok

MARKDOWN = """# Findings

The **parser** reads `a.c` and\nnothing else:

- first item of the list
- second item

| file | what is wrong with it |
|------|-----------------------|
| a.c  | the length is read before it is checked, so a short file ends the program |
| 水.c | nothing |

```c
int main(void)
```
\x1b[2J\x1b]0;owned\x07 The end."""


def start(folder, steps, *arguments, columns=100, rows=40, **env):
    upstream = Upstream(folder, '--script', write_file(folder, 'script', json.dumps(steps)))
    home = Home(folder)
    term = Terminal(home, home.command(upstream, 'chat', '--session', 's', *arguments),
                    columns=columns, rows=rows, **env)
    ok('the agent is there', term.shows('ctx '))
    return upstream, home, term


def lines(term, *options):
    return [line.rstrip() for line in term.screen(*options).splitlines()]


def idle(term):
    return bool(wait_for(lambda: 'Esc interrupts' not in term.screen()))


def markdown(folder):
    """An answer at 60, 100 and 200 columns: every line fits, nothing in it steers the terminal."""
    for columns in (60, 100, 200):
        upstream, _, term = start(folder, [{'words': MARKDOWN}], columns=columns)
        term.type('Report.', 'Enter')
        ok(f'{columns}: the answer is there', term.shows('The end.') and idle(term))
        shown = lines(term)
        for line in ('> Report.', '# Findings', '• first item of the list', '• second item',
                     '  int main(void)', '?[2J?]0;owned? The end.'):
            ok(f'{columns}: {line}', shown.count(line), 1)
        ok(f'{columns}: lines of the source are a paragraph',
           'The **parser** reads `a.c` and nothing else:' in shown)
        head = next(n for n, line in enumerate(shown) if line.startswith('file │'))
        table = [line for line in shown[head:head + 8] if '│' in line or '┼' in line]
        ok(f'{columns}: the table fits', max(map(len, table)) < columns and
           len({re.search('[│┼]', line).start() for line in table if '水' not in line}) == 1)
        ok(f'{columns}: none of it is lost', all(word in ' '.join(table) for word in
                                               ('length', 'checked,', 'program', '水.c')))
        title = term.tmux('display-message', '-p', '-t', term.name, '#{pane_title}')
        ok(f'{columns}: the title is not set', 'owned' in title, False)
        status = [line for line in shown if line.startswith('ctx ')]
        ok(f'{columns}: one status, as the last line', (len(status), shown[-1] or status),
           (1, shown[-1] or status))
        term.type('', 'C-d')
        ok(f'{columns}: it leaves', term.shows('left with 0'))
        ok(f'{columns}: and takes its last lines with it',
           [line for line in lines(term) if line.startswith(('ctx ', '>'))], ['> Report.'])
        term.close()
        upstream.stop()


def scrollback(folder):
    """What was printed stays, once, in order, also when the screen is small."""
    steps = [{'words': '\n\n'.join(f'paragraph {n}' for n in range(60))}, {'words': 'Second.'}]
    upstream, _, term = start(folder, steps, columns=60, rows=12)
    term.type('Write.', 'Enter')
    ok('scrollback: the answer ends', term.shows('paragraph 59') and idle(term))
    term.type('More.', 'Enter')
    ok('scrollback: another', term.shows('Second.') and idle(term))
    shown = [line for line in lines(term, '-S', '-') if line and not line.startswith('ctx')]
    wanted = (['> Write.'] + [f'paragraph {n}' for n in range(60)] + ['> More.', 'Second.'])
    ok('scrollback: all of it, once, in order', [line for line in shown if line in wanted], wanted)
    term.type('', 'C-d')
    term.close()
    upstream.stop()


def resize(folder):
    upstream, _, term = start(folder, [{'words': 'Here.'}], columns=120, rows=30)
    term.type('Say it.', 'Enter')
    ok('resize: the answer is there', term.shows('Here.') and idle(term))
    term.type('a line that is being typed')
    ok('resize: a line', term.shows('> a line that is being typed'))
    for columns in (60, 35, 140):
        term.tmux('resize-window', '-t', term.name, '-x', str(columns), '-y', '30')
        ok(f'resize: to {columns}: one line, one status, one answer', bool(wait_for(
            lambda: [sum(mark in line for line in lines(term)) for mark in
                     ('> a line that is being', 'ctx ', 'Here.')] == [1, 1, 1])))
    term.type('', 'C-c')
    term.type('', 'C-d')
    term.close()
    upstream.stop()


def editing(folder):
    """The line while the agent works: edited, queued, searched, completed; Esc interrupts."""
    steps = [call('process_start', command='until test -e go; do sleep 0.1; done',
                  wait_seconds=300), {'words': 'Went.'},
             call('process_start', command='sleep 300', wait_seconds=300), {'words': 'Slept.'}]
    upstream, home, term = start(folder, steps, '--yes')
    term.type('Wait.', 'Enter')
    ok('editing: what it does is shown, with seconds',
       bool(wait_for(lambda: re.search(r'process_start until.* · [1-9]\d* s', term.screen()))))
    term.type('Mind hte gap.', 'Home', 'M-f', 'Right', 'Right', 'BSpace')
    term.type('', 'Right')
    term.type('h', 'Enter')
    ok('editing: a line is mended and queued', term.shows('queued: Mind the gap.'))
    term.type('/model', 'Enter')
    ok('editing: a command waits too', term.shows('queued: /model'))
    term.type('two', 'M-Enter')
    term.type('lines')
    ok('editing: two lines', bool(wait_for(lambda: '> two\n  lines' in term.screen())))
    term.type('', 'C-u', 'BSpace', 'C-u')
    with open(home.path('go'), 'w', encoding='ascii'):
        pass
    ok('editing: the queue is taken', term.shows('Went.') and idle(term) and
       'queued:' not in term.screen())
    ok('editing: the command runs then', term.shows('model: gpt'))
    ok('editing: and is not said to the model', '/model' in json.dumps(home.events('s')), False)
    term.type('', 'C-r')
    term.type('gap')
    ok('editing: Ctrl+R searches', term.shows('search: gap  Mind the gap.'))
    term.type('', 'Enter')
    ok('editing: Enter takes it into the line', term.shows('> Mind the gap.'))
    term.type('', 'C-u')
    term.type('/con', 'Tab')
    ok('editing: Tab completes a command', term.shows('> /context'))
    term.type('', 'C-u')
    term.type('see @src/file_12', 'Tab')
    ok('editing: and a file', term.shows('> see @src/file_12.py'))
    term.type('', 'C-u')
    term.type('Sleep.', 'Enter')
    ok('editing: it works', term.shows('● process_start sleep 300'))
    term.type('kept', 'Escape')
    ok('editing: Esc interrupts', term.shows('interrupted; the session is kept'))
    ok('editing: what was typed stays', term.shows('> kept'))
    term.type('', 'C-z')
    term.close()
    upstream.stop()


def plain(folder):
    """A terminal that cannot move its cursor gets lines and no escape at all."""
    steps = [call('write', path='n.txt', content='x\n'), {'words': '**Written.**'}]
    for name, arguments, env in (('dumb', [], {'TERM': 'dumb'}), ('plain', ['--plain'], {}),
                                 ('reader', ['--screen-reader'], {})):
        upstream, home, term = start(folder, steps, *arguments, **env)
        log = os.path.join(home.folder, f'log-{name}')
        term.tmux('pipe-pane', '-t', term.name, f'cat >{log}')
        term.type('Write it.', 'Enter')
        ok(f'{name}: it asks', term.shows('then Enter:'))
        term.type('y', 'Enter')
        ok(f'{name}: it is done', term.shows('**Written.**') and os.path.exists(home.path('n.txt')))
        ok(f'{name}: the prompt is back', bool(wait_for(lambda: re.search(
            r'(>|your turn:)$', term.screen().rstrip()))))
        with open(log, 'rb') as file:
            ok(f'{name}: without an escape', b'\x1b' in file.read(), False)
        if name == 'reader':
            ok('reader: words stand for signs', all(word in term.screen() for word in (
                'call: write', 'result, 1 lines:', 'question:', 'status: ctx')) and
               not re.search('[●…⠋]', term.screen()))
        term.type('', 'C-d')
        ok(f'{name}: it leaves', term.shows('left with 0'))
        term.close()
        upstream.stop()


def hands(folder):
    """Keys at random while questions come: nothing is allowed unless y or a stood alone."""
    chosen = random.Random(24)
    steps = [call('write', path=f'w{n}.txt', content='x\n') for n in range(6)] + [{'words': 'Ok.'}]
    upstream, home, term = start(folder, steps)
    term.type('Write.', 'Enter')
    for n in range(6):
        ok('hands: a question', bool(wait_for(
            lambda: f'write w{n}.txt' in term.screen() and term.is_asked())))
        words = ''.join(chosen.choice('yan what always yes, ') for _ in range(8)) + ' or not'
        term.type(words, 'Enter')
        ok('hands: a sentence is no answer', term.shows('queued: ' + ' '.join(words.split())[:20]))
        ok('hands: nothing is written', os.path.exists(home.path(f'w{n}.txt')), False)
        ok('hands: it is asked again', bool(wait_for(term.is_asked)))
        term.type(*chosen.choice((('n', 'Enter'), ('', 'Escape'), ('no', 'Enter'))))
    ok('hands: it ends', term.shows('Ok.'))
    ok('hands: and nothing was written', [n for n in range(6) if
                                          os.path.exists(home.path(f'w{n}.txt'))], [])
    os.kill(term.agent(), signal.SIGTERM)
    ok('hands: told to end', term.shows('left with 0'))
    ok('hands: the terminal is as it was', {'echo', 'icanon'} <= set(term.modes()))
    term.close()
    upstream.stop()


def narrow(folder):
    """In 60 columns nothing is pushed out of the last lines, and no word of ours is broken."""
    steps = [call('process_start', command='until test -e go; do sleep 0.1; done; seq 90',
                  wait_seconds=300), {'words': 'Counted.'}]
    upstream, home, term = start(folder, steps, columns=60, rows=30)
    term.type('Wait until the file is there, and then count to ninety for me, slowly.', 'Enter')
    ok('narrow: it asks', bool(wait_for(lambda: '[y]es' in term.screen() or
                                        'then Enter:' in term.screen())))
    ok('narrow: what was said is broken between words', '> Wait until the file is there, and then '
       'count to ninety\n  for me, slowly.' in term.screen())
    term.type('this is no answer at all')
    ok('narrow: what is typed there is seen', term.shows('no answer at all'))
    term.type('', 'C-u')
    term.type('y', 'Enter')
    ok('narrow: what it does gives way to its seconds', bool(wait_for(lambda: re.search(
        r'process_start .*… · \d+ s · Esc interrupts', term.screen()))))
    with open(home.path('go'), 'w', encoding='ascii'):
        pass
    ok('narrow: it ends', term.shows('Counted.') and idle(term))
    status = [line for line in lines(term) if line.startswith('ctx ')][-1]
    ok('narrow: the status has all its parts', bool(re.fullmatch(
        r'ctx \d+% · \S+ · cache \d+% · \S+ · \S+ · \d+ s', status)), True)
    term.type('/help', 'Enter')
    ok('narrow: help', term.shows('/quit'))
    ok('narrow: its words are whole', any(line == '                 next, what is pinned'
                                          for line in lines(term, '-S', '-')))
    term.type('/context', 'Enter')
    ok('narrow: the bar is one line', bool(wait_for(lambda: re.search(
        r'^ +\[\S{50}\]$', term.screen(), re.M))))
    term.type('', 'C-o')
    ok('narrow: cards open', term.shows('[process 1 ended'))
    ok('narrow: and take half of the screen at most', ' messages, 1280' in term.screen() and
       len(re.findall(r'^  \d+$', term.screen(), re.M)) in range(10, 16))
    term.type('', 'C-o')
    ok('narrow: and fold again', bool(wait_for(lambda: '[process 1 ended' not in term.screen())))
    term.type('/resume ', 'Tab')
    ok('narrow: one session is taken', term.shows('> /resume s'))
    term.type('', 'C-c', 'C-d')
    term.close()
    other = Terminal(home, home.command(upstream, 'chat', '--session', 'other'), columns=60,
                     rows=20)
    ok('narrow: another session', other.shows('ctx '))
    other.type('/resume ', 'Tab')
    ok('narrow: sessions are known by their words', other.shows('  Wait until the file is there'))
    other.type('', 'Tab', 'Tab')
    ok('narrow: Tab goes down', other.shows('> Wait until the file is there',
                                            '> (nothing was said)'))
    other.type('', 'C-u')
    other.type('/resume ninety', 'Tab')
    ok('narrow: and a word of them finds one', other.shows('> /resume s'))
    other.type('', 'Enter')
    ok('narrow: which is gone on with', bool(wait_for(lambda: re.search(
        r'^ctx .* · s · ', other.screen(), re.M))))
    other.type('', 'C-d')
    other.close()
    upstream.stop()


def sight(folder):
    """What the model sees: /plan, /why, /pin, /undo step; sessions by their first words."""
    steps = [step for n in range(6) for step in (read(n), {'words': f'File {n}.'})]
    upstream, home, term = start(
        folder, steps, '--window', '12000', '--config',
        write_file(folder, 'c.yaml', 'session: {policy: tiered}\n'), columns=120, rows=300)
    for n in range(6):
        term.type(f'Read file {n}.', 'Enter')
        ok(f'sight: file {n}', term.shows(f'• File {n}.', f'File {n}.') and idle(term))
    term.type('/plan', 'Enter')
    ok('sight: /plan lists what is out', term.shows('out of the last request, in tokens:') and
       re.search(r' \d+ -> \d+ \w+ read_file \S*src/file_0.py wr_', term.screen()) is not None)
    term.type('/why file_0.py', 'Enter')
    ok('sight: /why says what to do', term.shows('/pin keeps it'))
    term.type('/pin src/file_5.py', 'Enter')
    ok('sight: /pin', term.shows('src/file_5.py stays whole'))
    term.type('/pin', 'Enter')
    ok('sight: and lists it', term.shows('pinned: path src/file_5.py'))
    term.type('/undo step', 'Enter')
    ok('sight: /undo step', term.shows('what the last step took is in the next request again'))
    term.type('/sessions', 'Enter')
    ok('sight: a session is known by its first words', term.shows('s  (this one)  Read file 0.'))
    term.type('', 'C-d')
    ok('sight: it leaves', term.shows('left with 0'))
    term.close()
    upstream.stop()


def work(folder, home, steps, *arguments):
    """One task without a terminal, in session s; the text of its last result."""
    upstream = Upstream(folder, '--script', write_file(folder, 'script', json.dumps(steps)))
    code, _, _ = home.run(upstream, 'chat', '-p', 'Do it.', '--session', 's', *arguments)
    upstream.stop()
    return code, [e['text'] for e in home.events('s') if e['kind'] == 'result'][-1]


def large(folder):
    """A result of 190 KB is a file too, named where the model sees it."""
    home = Home(folder)
    path = os.path.join(home.session_dir('s'), 'large_tool_results')
    code, text = work(folder, home, [
        call('process_start', command='seq 15000 | sed s/^/number_/', wait_seconds=60),
        {'words': 'Counted.'}], '--yes')
    ok('large: the work ends', code, 0)
    name = os.path.join(path, os.listdir(path)[0])
    with open(name, encoding='utf-8') as file:
        whole = file.read()
    ok('large: the file has all of it', 'number_1\n' in whole and 'number_15000\n' in whole)
    ok('large: the end of the result names it', text.endswith(f'in {name}; read_file pages it]'))
    code, text = work(folder, home, [call('read_file', path=name, offset=9000, limit=2),
                                     {'words': 'Read.'}])
    ok('large: read_file pages it', (code, text.count('number_'), 'number_9' in text), (0, 2, True))


def main():
    """Names on the command line choose among the cases."""
    if not shutil.which('tmux'):
        print('skipped: tmux is not installed, so the screen is not tried')
        return 0
    with Folder() as folder:
        for case in (markdown, scrollback, resize, editing, plain, hands, narrow, sight,
                     large):
            if len(sys.argv) == 1 or case.__name__ in sys.argv[1:]:
                case(folder)
    return CHECK.end()


sys.exit(main())

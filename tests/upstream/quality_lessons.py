"""What sessions teach: blind edits and the odds of later sessions, and what a holdout tells."""
import json
import re

import scripted
from harness import wait_for
from quality_talk import Session, serve, signs, weir_json
from sessions import file_text, ok

BLIND_LINES = [80, 120, 160, 200, 240, 300, 400, 480, 520]


def blind_session(weir, upstream, name, blind=True):
    """Reads files of many sizes, and edits one of which it has not seen all."""
    session = Session(weir, 'gpt-5', name=name)
    upstream.say(scripted.chat())
    session.ask()
    for n, lines in enumerate(BLIND_LINES):
        session.call('read_file', {'path': f'src/f{n}.py'}, file_text(n, lines))
        session.ask()
    if blind:
        session.call('edit', {'path': f'src/f{len(BLIND_LINES) - 1}.py', 'old_text': 'q',
                              'new_text': 'x'}, 'old text not found in the file')
    return session, session.ask()


def whole_in(upstream):
    """Which of the files the model sees whole."""
    body = json.dumps(upstream.bodies[-1])
    return [lines for n, lines in enumerate(BLIND_LINES)
            if json.dumps(file_text(n, lines))[1:-1] in body]


def blind_edits_are_named_and_learnt(folder, upstream):
    weir = serve(folder, upstream, policy='auto')
    first, line = blind_session(weir, upstream, 'blind-0')
    ok('a blind edit is counted', signs(line).get('blind_edits'), 1)
    shipped = whole_in(upstream)
    ok('some of the files are shortened', 0 < len(shipped) < len(BLIND_LINES))
    handle = re.search(r'wr_[0-9a-f]{20}', line['blind_edit_at'])
    ok('and named without a word of it', bool(handle) and 'src/' not in line['blind_edit_at'])

    def why():
        return weir_json('why', 'blind-0', '--store', weir.store)[1] or ''
    said = wait_for(lambda: 'blind edit' in why() and why())
    ok('`weir why` names it, its file and what keeps it',
       (f'src/f{len(BLIND_LINES) - 1}.py' in said, f'weir:blind-0 {handle.group()}' in said),
       (True, True))
    blind_session(weir, upstream, 'blind-1')

    def odds():
        _, found, _ = weir_json('learn', '--store', weir.store, '--json')
        return [b['blind_odds_percent'] for b in found['buckets'] if 'blind_odds_percent' in b]
    ok('two of two sessions raise the odds', wait_for(lambda: odds() == [300]) or odds())
    ok('which `weir learn` says', 'odds 300%' in weir_json('learn', '--store', weir.store)[1])

    def raised():
        raised.number += 1
        session, line = blind_session(weir, upstream, f'then-{raised.number}', blind=False)
        return line.get('learned_blind_odds_percent') and (session, line)
    raised.number = 0
    session, line = wait_for(raised)
    ok('the log says that they are in force', line['learned_blind_odds_percent'], 300)
    whole = whole_in(upstream)
    ok('more is left whole', set(whole) > set(shipped) or (whole, shipped), True)
    before = upstream.bodies[-1]['messages']
    first.say('Go on.')
    line = first.ask()
    ok('a session that runs keeps its odds (L3)',
       (line.get('learned_blind_odds_percent'), whole_in(upstream), line['step']),
       (None, shipped, False))
    weir_json('learn', '--store', weir.store, '--reset')
    weir.stop()
    weir = serve(folder, upstream, policy='auto', store=weir.store)
    session.weir = weir
    session.say('Go on.')
    line = session.ask()
    ok('so does one that began with others, though they are forgotten and the server is another',
       (line.get('learned_blind_odds_percent'), line['step'],
        upstream.bodies[-1]['messages'][:len(before)] == before), (300, False, True))
    weir.stop()


HOLDOUT_COLUMNS = ['turns_a_task', 'usd_a_task', 'corrections_a_task', 'failed_edits_a_task',
                   'repeated_calls_a_task', 'tests_broken_a_task', 'recalls_a_task']


def holdouts_mean_something(folder, upstream):
    """Half of the sessions are left alone; of one model there are enough, of the other few."""
    weir = serve(folder, upstream, extra='mode: "holdout 50%"\n')
    upstream.say(scripted.chat(prompt=4000, read=1024))
    counts = {'gpt-5': 64, 'gpt-4.1': 4}
    for model, count in counts.items():
        for n in range(count):
            session = Session(weir, model, name=f'held-{model}-{n}',
                              headers={'User-Agent': 'codex_cli_rs/0.50.0'})
            session.call('read_file', {'path': 'src/a.py'}, file_text(1))
            session.call('edit', {'path': 'src/a.py', 'old_text': 'q', 'new_text': 'x'},
                         'old text not found in src/a.py' if n % 2 else 'ok')
            for words in ('Go on.', 'That is wrong.', 'Go on.')[:1 + n % 3]:
                session.post()
                session.say(words)

    def groups():
        found = weir_json('report', '--holdout', '--json', '--store', weir.store)[1]
        rows = {row['model']: row for row in found['holdout']}
        return len(rows) == 2 and all(
            row['sessions_alone'] + row['sessions_weir'] == counts[model]
            for model, row in rows.items()) and rows
    found = wait_for(groups)
    many, few = found['gpt-5'], found['gpt-4.1']
    ok('by agent and model', (many['agent'], few['agent']), ('codex', 'codex'))
    ok('every column is there', [c for c in HOLDOUT_COLUMNS if c not in many or c not in few], [])
    ok('enough sessions have intervals', [c for c in HOLDOUT_COLUMNS[:2] if not (
        many[c]['low'] <= many[c]['weir'] - many[c]['alone'] <= many[c]['high'])], [])
    ok('and how many more it takes',
       many['failed_edits_a_task']['sessions_needed_for_5_percent'] > 0)
    ok('no verdict from too few', {few[c]['verdict'] for c in HOLDOUT_COLUMNS}, {'too_few'})
    ok('and no interval', [c for c in HOLDOUT_COLUMNS if 'low' in few[c]], [])
    said = weir_json('report', '--holdout', '--store', weir.store)[1]
    ok('people are told the same', ('gpt-5: ' in said, 'sessions more tell 5 % apart' in said,
                                    'too few to tell' in said), (True, True, True))
    weir.stop()

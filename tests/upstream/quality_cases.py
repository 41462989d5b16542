#!/usr/bin/env python3
"""Signs of quality, cache busts, learning and the report: each is caused, then looked for.

    quality_cases.py [CASE...]
"""
import html.parser
import json
import os
import shutil
import signal
import subprocess
import sys

import quality_chains as chains
import quality_lessons as lessons
import scripted
from harness import FAKETIME, PATIENCE_SECONDS, Folder, Upstream, wait_for
from quality_talk import SIGN, Session, bust_of, cached_session, serve, signs, weir_json
from scripted import Scripted, refusal
from sessions import ANTHROPIC, CHECK, file_text, ok

PAGE = os.environ.get('WEIR_PAGE')  # where the report's page is left for a browser
PROGRAM = os.environ.get('WEIR', 'build/weir')


# ---- signs of the answer ----

def errors_are_counted(weir, upstream):
    """upstream_context_errors, previous_response_not_found, invalid_tool_call_continuation"""
    posts = {
        'chat': ('/v1/chat/completions', {'messages': [{'role': 'user', 'content': 'hi'}]}),
        'responses': ('/v1/responses', {'input': 'hi'}),
        'messages': ('/v1/messages', {'messages': [{'role': 'user', 'content': 'hi'}],
                                      'max_tokens': 9})}
    rows = [
        ('chat', 'upstream_context_errors', refusal(
            "This model's maximum context length is 128000 tokens. However, your messages resulted "
            'in 200000 tokens.', 'context_length_exceeded')),
        ('responses', 'upstream_context_errors', refusal(
            'Your input exceeds the context window of this model. Please adjust your input and '
            'try again.', 'context_length_exceeded')),
        ('messages', 'upstream_context_errors', refusal(
            'prompt is too long: 208310 tokens > 200000 maximum')),
        ('messages', 'upstream_context_errors', scripted.messages(
            finish='model_context_window_exceeded')),
        ('responses', 'previous_response_not_found', refusal(
            "Previous response with id 'resp_0' not found.", 'previous_response_not_found')),
        ('chat', 'invalid_tool_call_continuation', refusal(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'.")),
        ('responses', 'invalid_tool_call_continuation', refusal(
            'No tool output found for function call call_X.')),
        ('messages', 'invalid_tool_call_continuation', refusal(
            'messages.14: `tool_use` ids were found without `tool_result` blocks immediately '
            'after: toolu_1.'))]
    for n, (api, sign, answer) in enumerate(rows):
        path, body = posts[api]
        upstream.say(answer)
        session = Session(weir, 'claude-opus-5', name=f'errors-{n}')
        session.sent = 1
        weir.post(path, {'model': session.model, **body}, {**ANTHROPIC, **session.headers})
        line = session.line()
        # There is nothing in it that could be left out: it is not tried again.
        ok(f'{api}: {sign} is counted once', (signs(line), line['retries']), ({sign: 1}, 0))
        ok(f'{api}: {sign} does not complete the task', SIGN + 'task_completed' in line, False)


def mended_overflow_is_counted(weir, upstream):
    """upstream_context_errors, of a refusal that nobody was shown"""
    session = Session(weir, 'gpt-4.1')  # what it teaches is no other case's
    for n in range(4):
        session.call('read_file', {'path': f'f{n}'}, file_text(n))
    upstream.say(scripted.chat())
    tokens = session.ask(**{'x-weir-policy': 'tiered'})['estimated_tokens_after']
    # By the provider's count it is a fifth longer: it is cut by that count, not by ours.
    upstream.say(refusal(f'prompt is too long: {tokens * 6 // 5} tokens > {tokens} maximum'),
                 scripted.chat())
    line = session.ask(**{'x-weir-policy': 'tiered'})
    ok('the client was shown an answer', (session.status, line['retries']), (200, 1))
    ok('the refusal is counted', line.get(SIGN + 'upstream_context_errors'), 1)
    # Some say it with the status of a body that is too large.
    upstream.say(refusal(f'prompt is too long: {tokens * 6 // 5} tokens > {tokens} maximum',
                         status=413), scripted.chat())
    session = Session(weir, 'gpt-4.1-mini')
    for n in range(4):
        session.call('read_file', {'path': f'f{n}'}, file_text(n))
    line = session.ask(**{'x-weir-policy': 'tiered'})
    ok('a 413 is mended too', (session.status, line['retries'], line.get('retry_reason')),
       (200, 1, 'context_overflow'))


def providers_counts_are_learnt(weir, upstream):
    """A provider that counts half as much again is known to from the fourth request on"""
    def ask(name, times):
        session = Session(weir, 'gpt-4.1-nano', name=name)
        for n in range(2):
            session.call('read_file', {'path': f'f{n}'}, file_text(n))
        upstream.say(scripted.chat(prompt=times * 2))
        return session.ask()
    first = ask('counts-0', 1)
    tokens = first['estimated_tokens_after']
    far = ask('counts-1', tokens * 10)
    ok('a count far from ours is told and not used',
       (far['provider_count_used'], far['provider_count_ratio_bp'] // 10000), (False, 20))
    for n in range(3):
        cut = ask(f'counts-4{n}', tokens * 7 // 20)
        ok('nor is one below ours of a server near by, which may have cut the prompt',
           cut['provider_count_used'], False)
    for n in range(3):
        line = ask(f'counts-2{n}', tokens * 3 // 4)
        ok('until it was seen three times it is not known', 'provider_count_basis_points' in line,
           False)
    line = ask('counts-3', tokens * 3 // 4)
    ok('then it is', abs(line['provider_count_basis_points'] - 15000) < 100)
    ok('and the window is what it was', line['model_context_window_tokens'],
       first['model_context_window_tokens'])


def completion_is_seen(weir, upstream):
    """task_completed, additional_turns_before_completion, final_total_input_tokens"""
    session = Session(weir)
    session.call('read_file', {'path': 'a'}, 'text')
    upstream.say(scripted.chat(calls=[('c', 'read_file', {'path': 'b'})], prompt=700))
    ok('a call goes on', SIGN + 'task_completed' in session.ask(), False)
    session.call('write_file', {'path': 'a', 'content': 'x'}, 'ok')
    session.call('read_file', {'path': 'a'}, 'x')
    session.call('read_file', {'path': 'b'}, 'x')
    upstream.say(scripted.chat(prompt=900, read=100))
    line = session.ask()
    ok('words end the loop', line.get(SIGN + 'task_completed'), 1)
    ok('with the size of its prompt', line.get(SIGN + 'final_total_input_tokens'), 900)
    ok('and its outputs behind the first edit',
       line.get(SIGN + 'additional_turns_before_completion'), 2)
    upstream.say(scripted.chat(finish='length'))
    ok('a limit does not', SIGN + 'task_completed' in Session(weir).ask(), False)
    for api, path, body, answer in (
            ('messages', '/v1/messages', {'messages': [{'role': 'user', 'content': 'hi'}],
             'max_tokens': 9}, scripted.messages(prompt=800, read=500, written=100)),
            ('responses', '/v1/responses', {'input': 'hi'}, scripted.responses(prompt=800))):
        upstream.say(answer)
        session = Session(weir, 'claude-opus-5')
        session.sent = 1
        weir.post(path, {'model': session.model, **body}, {**ANTHROPIC, **session.headers})
        line = session.line()
        ok(f'{api}: the end is known', line.get(SIGN + 'task_completed'), 1)
        ok(f'{api}: all of the prompt counts', line.get(SIGN + 'final_total_input_tokens'), 800)


def streams_end_too(folder, _):
    """task_completed, of streams"""
    upstream = Upstream(folder)
    weir = serve(folder, upstream)
    for api, path, body, finish in (
            ('chat', '/v1/chat/completions', {'messages': [{'role': 'user', 'content': 'hi'}],
             'stream_options': {'include_usage': True}}, 'stop'),
            ('responses', '/v1/responses', {'input': 'hi'}, 'completed'),
            ('messages', '/v1/messages', {'messages': [{'role': 'user', 'content': 'hi'}],
             'max_tokens': 9}, 'end_turn')):
        session = Session(weir, 'claude-opus-5')
        session.sent = 1
        weir.post(path, {'model': session.model, 'stream': True, **body},
                  {**ANTHROPIC, **session.headers})
        line = session.line()
        ok(f'{api}: the end of a stream is known',
           (line.get('answer_finish'), line.get(SIGN + 'task_completed')), (finish, 1))
    weir.stop()
    upstream.stop()


# ---- signs of the request ----

def repeated_calls_are_counted(weir, upstream):
    """repeated_tool_call_count"""
    session = Session(weir)
    session.call('list_dir', {'path': 'src'}, 'a b')
    ok('a first call is none', signs(session.ask()), {})
    session.call('list_dir', {'path': 'src'}, 'a b')
    ok('the same call again', signs(session.ask()), {'repeated_tool_call_count': 1})
    ok('a request that is sent again is not counted again', signs(session.ask()), {})
    session.call('write_file', {'path': 'src/c', 'content': 'x'}, 'ok')
    session.ask()
    session.call('list_dir', {'path': 'src'}, 'a b c')
    ok('after a change it is another question', signs(session.ask()), {})


def rereads_are_counted(weir, upstream):
    """model_reread_requests"""
    session = Session(weir)
    session.ask()  # from its first words on: what was sent elsewhere would stay whole
    session.call('read_file', {'path': 'src/a.py'}, file_text(1))
    session.call('read_file', {'path': 'src/b.py'}, 'short')
    line = session.ask()
    ok('the long file was cut', (line['changed'], signs(line)), (True, {}))
    session.call('read_file', {'path': 'src/b.py', 'offset': 2}, 'more')
    ok('a file that was whole may be read on', signs(session.ask()), {})
    session.call('read_file', {'path': 'src/a.py', 'offset': 50}, 'more')
    ok('a file that was cut is read again', signs(session.ask()), {'model_reread_requests': 1})
    raw = Session(weir, policy='exact')
    raw.call('read_file', {'path': 'src/a.py'}, file_text(1))
    raw.ask()
    raw.call('read_file', {'path': 'src/a.py', 'offset': 50}, 'more')
    ok('under exact nothing was cut', signs(raw.ask()), {})


def recalled(store, handle):
    """What our own MCP server says of a handle, as an agent over Chat Completions passes it on."""
    lines = [{'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': {
                 'protocolVersion': '2025-06-18', 'capabilities': {},
                 'clientInfo': {'name': 't', 'version': '1'}}},
             {'jsonrpc': '2.0', 'method': 'notifications/initialized'},
             {'jsonrpc': '2.0', 'id': 2, 'method': 'tools/call', 'params': {
                 'name': 'weir_recall', 'arguments': {'handle': handle}}}]
    done = subprocess.run([PROGRAM, 'mcp', '--store', store], text=True, capture_output=True,
                          input=''.join(json.dumps(line) + '\n' for line in lines),
                          timeout=PATIENCE_SECONDS, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return next(a for a in answers if a.get('id') == 2)['result']['content'][0]['text']


def recalls_are_counted(weir, upstream):
    """recalls, missing_artifact_requests, recall_only"""
    session = Session(weir)
    session.call('weir_recall', {'handle': 'wr_0123456789abcdef0123'}, 'def f(): pass')
    line = session.ask()
    ok('a recall', (signs(line), line.get('recall_only')), ({'recalls': 1}, True))
    for handle in ('wr_00000000000000000000', 'something'):
        session.call('weir_recall', {'handle': handle}, recalled(weir.store, handle))
        line = session.ask()
        ok(f'a recall of {handle}', (signs(line), line.get('recall_only')),
           ({'missing_artifact_requests': 1}, True))
    session.call('read_file', {'path': 'x'}, 'never stored')
    line = session.ask()
    ok('another tool may say so', (signs(line), line.get('recall_only')), ({}, None))


def corrections_are_counted(weir, upstream):
    """corrective_user_messages"""
    session = Session(weir)
    session.ask()
    session.answer('Done.')
    session.say("That's wrong, the bug is in the parser.")
    ok('a correction', signs(session.ask()), {'corrective_user_messages': 1})
    session.answer('Done.')
    session.say('Great, now the docs.')
    ok('thanks are none', signs(session.ask()), {})


def broken_tests_are_counted(weir, upstream):
    """test_or_build_failed_after_rewrite, test_or_build_failed"""
    for policy, wanted in (('short', {'test_or_build_failed_after_rewrite': 1,
                                      'test_or_build_failed': 1}),
                           ('exact', {'test_or_build_failed': 1})):
        session = Session(weir, policy=policy)
        session.ask()
        session.call('read_file', {'path': 'src/a.py'}, file_text(1))
        session.call('bash', {'command': 'pytest -q'}, '12 passed in 0.1s\nExit code: 0')
        session.ask()
        session.call('write_file', {'path': 'src/a.py', 'content': 'x'}, 'ok')
        session.ask()
        session.call('bash', {'command': 'pytest -q'}, 'Exit code: 1\n1 failed, 11 passed')
        ok(f'{policy}: a test that passed and fails', signs(session.ask()), wanted)


def failed_edits_are_counted(weir, upstream):
    """failed_edits, blind_edits"""
    for policy, wanted in (('short', {'failed_edits': 1, 'blind_edits': 1}),
                           ('exact', {'failed_edits': 1})):
        session = Session(weir, policy=policy)
        session.ask()
        session.call('read_file', {'path': 'src/a.py'}, file_text(1))
        session.ask()
        session.call('edit', {'path': 'src/a.py', 'old_text': 'q', 'new_text': 'x'},
                     'old text not found in src/a.py')
        ok(f'{policy}: an edit that does not fit', signs(session.ask()), wanted)


def placeholders_are_counted(weir, upstream):
    """placeholders_written"""
    session = Session(weir)
    session.call('write_file', {'path': 'a', 'content':
                                'x\n[weir wr_0123456789abcdef0123: 9 lines left out]\n'}, 'ok')
    ok('our marker in a file', signs(session.ask()), {'placeholders_written': 1})


# ---- cache busts ----

def hits_are_no_busts(weir, upstream):
    session = cached_session(weir, upstream)
    upstream.say(scripted.chat(prompt=7000, read=5888))
    ok('what was to be read was read', bust_of(session.ask()), (5888, None, None, None))
    session.call('read_file', {'path': 'src/d.py'}, 'x')
    upstream.say(scripted.chat())
    ok('without usage nothing is said', bust_of(session.ask()), (None, None, None, None))
    small = Session(weir, 'gpt-5')
    upstream.say(scripted.chat(prompt=500))
    small.ask()
    small.call('read_file', {'path': 'a'}, 'x')
    upstream.say(scripted.chat(prompt=600))
    ok('below the minimum nothing is expected', bust_of(small.ask()), (None, None, None, None))


def refusals_leave_nothing(weir, upstream):
    session = cached_session(weir, upstream)
    upstream.say(refusal('Overloaded', status=529, kind='overloaded_error'))
    ok('a refusal is no bust', bust_of(session.ask()), (None, None, None, None))
    upstream.say(scripted.chat(prompt=7000, read=0))
    ok('what was there before it is expected still', bust_of(session.ask()),
       (5888, 5888, 'provider', None))


def provider_busts(weir, upstream):
    names = ['weir_cache_busts_total{cause="provider"}',
             'weir_cache_bust_tokens_total{cause="provider"}', 'weir_cache_judged_total',
             'weir_cache_expected_tokens_total', 'weir_cache_busts_total{cause="weir"}']
    before = [weir.metric(name) for name in names]
    session = cached_session(weir, upstream)
    upstream.say(scripted.chat(prompt=7000, read=0))
    ok('nothing has changed: the provider', bust_of(session.ask()), (5888, 5888, 'provider', None))
    ok('a bust is in the metrics', [int(weir.metric(name) - number)
                                    for name, number in zip(names, before)], [1, 5888, 1, 5888, 0])


def host_busts(weir, upstream):
    session = cached_session(weir, upstream)
    session.messages[3]['content'] = 'another text'
    upstream.say(scripted.chat(prompt=7000, read=2048))
    ok('an earlier result has changed: the host', bust_of(session.ask()),
       (5888, 3840, 'host', 'message 3, tool result'))
    session = cached_session(weir, upstream)
    session.messages[0]['content'] = 'You write docs.'
    upstream.say(scripted.chat(prompt=7000))
    ok('the instructions have changed: the host', bust_of(session.ask()),
       (5888, 5888, 'host', 'system'))


def model_busts(weir, upstream):
    session = cached_session(weir, upstream)
    session.model = 'gpt-5-mini'
    upstream.say(scripted.chat(prompt=7000))
    ok('another model', bust_of(session.ask()), (5888, 5888, 'model', 'model'))
    session = cached_session(weir, upstream)
    session.tools = session.tools[:1]
    upstream.say(scripted.chat(prompt=7000))
    ok('other tools', bust_of(session.ask()), (5888, 5888, 'model', 'tools'))
    session = cached_session(weir, upstream)
    helper = Session(weir, 'gpt-5-nano', name=session.name)
    upstream.say(scripted.chat(prompt=300))
    helper.sent = session.sent
    ok('a helper under the same name is nobody\'s bust', bust_of(helper.ask())[1], None)


def weir_busts(folder, upstream):
    """A step of ours: the window is forced by a refusal."""
    weir = serve(folder, upstream, policy='layers')
    session = Session(weir, 'gpt-5')
    for n in range(6):
        session.call('read_file', {'path': f'src/f{n}.py'}, file_text(n))
    upstream.say(scripted.chat(prompt=14000))
    ok('it was sent as it came', session.ask()['changed'], False)
    session.answer('Done.')
    session.say('And now?')
    upstream.say(refusal('prompt is too long: 14000 tokens > 6000 maximum'),
                 scripted.chat(prompt=5000, read=256))
    line = session.ask()
    ok('a step was taken', (line['step'], line['changed']), (True, True))
    expected, lost, cause, place = bust_of(line)
    ok('it is ours', (expected, lost, cause), (13952, 13696, 'weir'))
    ok('with its place and its reason', place.endswith(': ' + line['step_reason'][:20]), True)
    weir.stop()


def expired_busts(folder, upstream):
    """The pause is made by a clock that the test moves: libfaketime, where it is installed."""
    if not FAKETIME:
        print('skipped: libfaketime is not installed; src/quality/bust_test.c has the case')
        return
    clock = os.path.join(folder, 'clock')
    with open(clock, 'w', encoding='ascii') as file:
        file.write('+0\n')
    weir = serve(folder, upstream, env={**FAKETIME, 'FAKETIME_TIMESTAMP_FILE': clock,
                                        'FAKETIME_NO_CACHE': '1'})
    session = cached_session(weir, upstream)
    with open(clock, 'w', encoding='ascii') as file:
        file.write('+400\n')
    upstream.say(scripted.chat(prompt=7000))
    ok('the pause was too long', bust_of(session.ask())[2], 'expired')
    weir.stop()


def diagnostics_are_read(weir, upstream):
    for api, path, body, answer, wanted in (
            ('messages', '/v1/messages', {'max_tokens': 9, 'messages': [
                {'role': 'user', 'content': 'hi'}]},
             scripted.messages(diagnostics={'cache_miss_reason': 'system_changed'}),
             'system_changed'),
            ('responses', '/v1/responses', {'input': 'hi'}, scripted.responses(
                prompt_cache_diagnostics={'cache_hit': False, 'cache_miss': {
                    'reason': 'tools_changed', 'cache_missed_tokens': 9}}), 'tools_changed')):
        upstream.say(answer)
        session = Session(weir, 'claude-opus-5')
        session.sent = 1
        weir.post(path, {'model': session.model, **body}, {**ANTHROPIC, **session.headers})
        ok(f'{api}: the provider\'s own word', session.line().get('cache_miss_reason'), wanted)


# ---- learning ----

def bad_session(weir, upstream, model):
    """A session under a changed prompt whose model writes our marker into a file."""
    session = Session(weir, model)
    upstream.say(scripted.chat())
    for n in range(3):
        session.call('read_file', {'path': f'src/f{n}.py'}, file_text(n, 600))
    session.ask()
    session.call('write_file', {'path': 'a', 'content':
                                '[weir wr_0123456789abcdef0123: 9 lines left out]'}, 'ok')
    line = session.ask()
    ok('it was changed, and went badly', (line['changed'], signs(line)),
       (True, {'placeholders_written': 1}))
    return session, line


def bad_buckets_tighten(folder, upstream):
    weir = serve(folder, upstream, policy='lean')
    started, line = bad_session(weir, upstream, 'gpt-5')
    ok('the first session has the policy of the configuration', line['policy'], 'lean')

    def buckets():
        code, found, _ = weir_json('learn', '--store', weir.store, '--json')
        return found['buckets'] if code == 0 and found else []

    def wide(bad):
        return [b for b in buckets() if b['bad'] == bad and not b['length']]
    one = wait_for(lambda: wide(1))
    ok('one bad session is a sample', len(one), 1)
    narrow = [b for b in buckets() if b['bad'] == 1 and b['length']]
    ok('a narrower bucket has all dimensions', [k for k in (
        'route', 'model', 'policy', 'provider', 'window', 'length', 'task', 'transform')
        if not narrow[0].get(k)], [])
    ok('but tightens nothing', one[0]['is_bad'], False)
    ok('a second session is not changed by one', Session(weir, 'gpt-5').ask()['policy'], 'lean')
    bad_session(weir, upstream, 'gpt-5')
    two = wait_for(lambda: wide(2))
    ok('two of them are a bad bucket', two[0]['is_bad'], True)

    def tightened():
        line = Session(weir, 'gpt-5').ask()
        return line if line['policy'] != 'lean' else None
    line = wait_for(tightened)
    ok('the next session is tightened', (line or {}).get('policy'), 'auto')
    ok('and the log says why', (line.get('learned_policy'), line.get('learned_from') in [
        b['bucket'] for b in buckets() if b['is_bad']]), ('auto', True))
    started.say('Go on.')
    ok('a session that runs keeps its policy (L3)', started.ask()['policy'], 'lean')
    ok('another model does not change', Session(weir, 'gpt-4.1').ask()['policy'], 'lean')
    asked = Session(weir, 'gpt-5', policy='lean').ask()
    ok('who names a policy gets it', asked['policy'], 'lean')

    # After a restart the same is known. One in four is a trial, drawn by its name alone; so the
    # sessions are begun twice, each time in a store that has not seen them.
    weir.stop()
    copy = weir.store + '-copy'
    shutil.copytree(weir.store, copy)

    def begun(store):
        server = serve(folder, upstream, policy='lean', store=store)
        lines = [Session(server, 'gpt-5', name=f'begun-{n}').ask() for n in range(8)]
        return server, [(line['policy'], line.get('learned_trial', False)) for line in lines]
    other, first = begun(copy)
    other.stop()
    again, second = begun(weir.store)
    ok('a restart forgets nothing', set(first), {('auto', False), ('lean', True)})
    ok('and which are trials is drawn by their names', second, first)
    code, said, _ = weir_json('learn', '--store', again.store, '--reset', two[0]['bucket'])
    ok('a bucket can be forgotten, which is said', (code, said),
       (0, f'forgotten: {two[0]["bucket"]}\n'))
    left = [b['bucket'] for b in buckets()]
    ok('it is gone, and no other', (two[0]['bucket'] in left, len(left) > 0), (False, True))
    code, said, _ = weir_json('learn', '--store', again.store, '--reset')
    ok('or all of them', (code, said, buckets()),
       (0, f'all {len(left)} buckets are forgotten\n', []))
    code, _, error = weir_json('learn', '--store', again.store, '--reset', 'model=x')
    ok('one that is not there is said', (code, error.count('\n')), (2, 1))
    ok('and the next session has its policy again', bool(wait_for(
        lambda: Session(again, 'gpt-5').ask()['policy'] == 'lean')), True)
    again.stop()


def learning_can_be_off(folder, upstream):
    weir = serve(folder, upstream, policy='lean', extra='learning: off\n')
    for _ in range(2):
        bad_session(weir, upstream, 'gpt-5')
    weir.stop()
    _, found, _ = weir_json('learn', '--store', weir.store, '--json')
    ok('off, nothing is a sample', found['buckets'], [])
    store = weir.store
    weir = serve(folder, upstream, policy='lean', store=store)
    for _ in range(2):
        bad_session(weir, upstream, 'gpt-5')

    def policies():
        return {Session(weir, 'gpt-5').ask()['policy'] for _ in range(6)}
    ok('on, bad sessions tighten', bool(wait_for(lambda: 'auto' in policies())))
    config = open(weir.config_path, encoding='utf-8').read()
    weir.write_config(config + 'learning: sometimes\n')
    weir.process.send_signal(signal.SIGHUP)
    ok('a wrong word is refused', bool(wait_for(lambda: 'on or off is wanted' in weir.stderr())))
    ok('and changes nothing', 'auto' in policies())
    weir.write_config(config + 'learning: off\n')
    weir.process.send_signal(signal.SIGHUP)
    ok('off again, nobody is tightened', bool(wait_for(lambda: policies() == {'lean'})))
    weir.stop()


def trials_lead_back(folder, upstream):
    """A bucket that was bad is forgiven when the trials go well."""
    weir = serve(folder, upstream, policy='lean')
    for _ in range(2):
        bad_session(weir, upstream, 'gpt-5')
    ok('bad sessions tighten, once that is known', bool(wait_for(
        lambda: Session(weir, 'gpt-5').ask()['policy'] == 'auto')))
    trials = tightened = 0
    for _ in range(2000):  # it is forgiven a moment after the last of them
        session = Session(weir, 'gpt-5')
        upstream.say(scripted.chat())
        for n in range(3):
            session.call('read_file', {'path': f'src/f{n}.py'}, file_text(n, 600))
        line = session.ask()
        trials += line.get('learned_trial', False)
        tightened += line['policy'] == 'auto'
        if trials >= 3 and line['policy'] == 'lean' and 'learned_from' not in line:
            break
    ok('some are tightened, some are trials', (tightened > 0, trials >= 3), (True, True))
    ok('and in the end nobody is', (line['policy'], line.get('learned_from')), ('lean', None))
    _, found, _ = weir_json('learn', '--store', weir.store, '--json')
    ok('no bucket is bad any more', [b['bucket'] for b in found['buckets'] if b['is_bad']], [])
    weir.stop()


def learn_speaks(folder):
    empty = os.path.join(folder, 'empty')
    code, _, error = weir_json('learn', '--store', empty)
    ok('a store that is not there: exit', (code, error.count('\n')), (2, 1))


# ---- the report ----

def page_facts(text, report, evil):
    """What the page is, read by a parser; a browser shows it later (tests/page/file_cases.py)."""

    class Reader(html.parser.HTMLParser):
        tags, links, data, is_data = [], [], None, False

        def handle_starttag(self, tag, attrs):
            self.tags.append(tag)
            self.links += [v for k, v in attrs
                           if k in ('src', 'href', 'style') or k.startswith('on')]
            self.is_data = tag == 'script' and dict(attrs).get('id') == 'data'

        def handle_data(self, data):
            if self.is_data and self.data is None:
                self.data = json.loads(data)
    reader = Reader()
    reader.feed(text)
    return {'alone': reader.links == ['data:,'] and 'url(' not in text and '@import' not in text,
            'active': sorted({'iframe', 'object', 'form', 'img'}.intersection(reader.tags)),
            'scripts': reader.tags.count('script'), 'same': reader.data['report'] == report,
            'viewport': 'width=device-width' in text, 'evil': evil in text}


def report_adds_up(folder, upstream):
    weir = serve(folder, upstream)
    evil = '<script>alert(1)</script>&"x'
    session = cached_session(weir, upstream, headers={'User-Agent': 'codex_cli_rs/1.0'})
    session.messages[3]['content'] = 'another text'
    session.call('read_file', {'path': 'src/long.py'}, file_text(1))
    session.call('weir_recall', {'handle': 'wr_00000000000000000000'}, 'never stored')
    upstream.say(scripted.chat(prompt=7000, read=2048))
    session.ask()
    bad = Session(weir, evil)
    upstream.say(scripted.chat(prompt=100))
    bad.ask()
    bad.answer('Done.')
    bad.say("That's wrong.")
    bad.ask()
    path = PAGE or os.path.join(folder, 'page.html')

    def read():
        code, found, _ = weir_json('report', '--store', weir.store, '--json', '--html', path)
        return found if code == 0 and found['all']['requests'] == 4 else None
    found = wait_for(read) or {}
    whole, quality = found.get('all', {}), found.get('all', {}).get('quality', {})
    ok('every request is in it', whole.get('requests'), 4)
    ok('what was read is what the provider said', whole.get('cache_read_tokens'), 2048)
    ok('one bust, the host\'s', {k: v for k, v in whole.get('busts', {}).items() if v},
       {'host': 1})
    ok('with its tokens', whole.get('bust_tokens', {}).get('host'), 3840)
    ok('one miss, one correction', [quality.get(k) for k in (
        'missing_artifact_requests', 'corrective_user_messages')], [1, 1])
    ok('money is real, and beside it the other', whole.get('micro_usd', 0) > 0 and
       whole['saved_micro_usd'] == whole['unchanged_micro_usd'] - whole['micro_usd'], True)
    ok('a model without a price is in no sum', whole.get('unpriced'), 2)
    ok('models are apart', sorted(m['model'] for m in found.get('models', [])),
       sorted(['gpt-5', evil]))
    ok('what they sum to is the whole', sum(m['requests'] for m in found.get('models', [])), 4)
    ok('agents too', sum(a['requests'] for a in found.get('agents', [])), 4)
    ok('hours too', sum(h['raw_tokens'] for h in found.get('hours', [])), whole.get('raw_tokens'))
    with open(path, encoding='utf-8') as file:
        facts = page_facts(file.read(), found, evil)
    ok('the page stands alone, with the figures of --json', facts, {
        'alone': True, 'active': [], 'scripts': 2, 'same': True, 'viewport': True, 'evil': False})
    table = subprocess.run([PROGRAM, 'report', '--store', weir.store], capture_output=True,
                           text=True, timeout=PATIENCE_SECONDS, check=False).stdout
    ok('the table says so too', all(words in table for words in (
        '4 requests', 'host 1 (3,840 tokens)', 'recalls   0 brought a text back, 1 brought nothing',
        'corrections', 'gpt-5')), True)
    ok('in one line each, without control bytes', max(map(len, table.splitlines())) < 130, True)
    _, later, _ = weir_json('report', '--store', weir.store, '--json', '--since', '4000000000')
    ok('--since leaves out what came before', later['all']['requests'], 0)
    weir.stop()


def report_speaks(folder):
    for arguments in (['--store', os.path.join(folder, 'nowhere')], ['--since', 'yesterday'],
                      ['word']):
        code, _, error = weir_json('report', *arguments)
        ok(f'{arguments[0]}: exit 2 and one line', (code, error.count('\n')), (2, 1))


# ---- the row of cases ----

SHARED = [errors_are_counted, mended_overflow_is_counted, providers_counts_are_learnt,
          completion_is_seen,
          repeated_calls_are_counted, rereads_are_counted, recalls_are_counted,
          corrections_are_counted, broken_tests_are_counted, failed_edits_are_counted,
          placeholders_are_counted,
          hits_are_no_busts, refusals_leave_nothing, provider_busts, host_busts, model_busts,
          diagnostics_are_read, chains.deltas_are_judged]
OWN = [streams_end_too, weir_busts, expired_busts, chains.restarts_break_no_chain,
       chains.meters_keep_no_words,
       bad_buckets_tighten, lessons.blind_edits_are_named_and_learnt,
       learning_can_be_off, trials_lead_back, lessons.holdouts_mean_something,
       report_adds_up]
ALONE = [learn_speaks, report_speaks]


def main():
    wanted = sys.argv[1:]

    def is_wanted(case):
        return not wanted or case.__name__ in wanted
    with Folder() as folder:
        upstream = Scripted()
        shared = [case for case in SHARED if is_wanted(case)]
        if shared:
            weir = serve(folder, upstream)
            for case in shared:
                upstream.say(scripted.chat())
                case(weir, upstream)
            weir.stop()
        for case in OWN:
            if is_wanted(case):
                case(folder, upstream)
        for case in ALONE:
            if is_wanted(case):
                case(folder)
        upstream.stop()
    return CHECK.end()


sys.exit(main())

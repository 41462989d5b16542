#!/usr/bin/env python3
"""The strict upstream refuses: each bad body, the sentence of its law, the provider's words."""
import copy
import sys

import gemini
import laws


class State:
    responses = {'resp_known': ['call_known']}


ANTHROPIC = {'anthropic-version': '2023-06-01'}
MODERN = {'anthropic-version': '2026-10-21'}
CALL = {'id': 'call_1', 'type': 'function', 'function': {'name': 'f', 'arguments': '{}'}}


def chat(*messages, **more):
    return {'model': 'gpt-5', 'messages': list(messages), **more}


def responses(*items, **more):
    return {'model': 'gpt-5', 'input': list(items), **more}


def messages(*items, model='claude-opus-5', **more):
    return {'model': model, 'max_tokens': 10, 'messages': list(items), **more}


def user(content):
    return {'role': 'user', 'content': content}


def assistant(content):
    return {'role': 'assistant', 'content': content}


def text(value, **more):
    return {'type': 'text', 'text': value, **more}


def contents(*items, **more):
    return {'contents': [{'role': role, 'parts': list(parts)} for role, *parts in items], **more}


GCALL = {'functionCall': {'name': 'f', 'args': {'a': 1}}}
GGIVEN = {'functionResponse': {'name': 'f', 'response': {'output': 'ok'}}}
GOOGLE = {'model': 'gemini-2.5-pro'}
GSIGNED = {**GCALL, 'thoughtSignature': gemini.sign(GCALL['functionCall'], laws)}
USE = {'type': 'tool_use', 'id': 'toolu_1', 'name': 'f', 'input': {}}
RESULT = {'type': 'tool_result', 'tool_use_id': 'toolu_1', 'content': 'ok'}
FC = {'type': 'function_call', 'call_id': 'call_1', 'name': 'f', 'arguments': '{}'}
OUT = {'type': 'function_call_output', 'call_id': 'call_1', 'output': 'ok'}
MARK = {'cache_control': {'type': 'ephemeral'}}


def signed(model='claude-opus-5-5', change=None):
    """A turn with signed thinking, and what came before it changed afterwards."""
    body = messages(user('find it'), assistant([]), user([RESULT]), model=model)
    thinking = {'type': 'thinking', 'thinking': 'hm', 'signature': ''}
    body['messages'][1]['content'] = [thinking, USE]
    thinking['signature'] = laws.issue(model, 'hm', laws.prefix_of(body, 1, 0))
    body = copy.deepcopy(body)
    if change:
        change(body)
    return body


def bare(body):
    """Calls that were given out behind thinking, without it."""
    laws.THOUGHT_CALLS.add('toolu_thought')
    body['messages'][1]['content'] = [{**USE, 'id': 'toolu_thought'}]
    body['messages'][2]['content'] = [{**RESULT, 'tool_use_id': 'toolu_thought'}]


def dropping(body):
    set_text(body)
    body['thinking'] = {'type': 'enabled',
                        'block_binding': {'prefix_mismatch_behavior': 'drop_block'}}


def sealed_altered():
    item = {'type': 'reasoning', 'id': 'rs_1', 'summary': [], 'encrypted_content': laws.seal('rs')}
    item['encrypted_content'] = item['encrypted_content'][:-1] + 'x'
    return responses(item, {**FC, 'id': 'fc_1'}, OUT)


def set_text(body):
    body['messages'][0]['content'] = 'find that'


def set_thinking(body):
    body['messages'][1]['content'][0]['thinking'] = 'hmm'


def forge(body):
    body['messages'][1]['content'][0]['signature'] = 'forged'
    body['messages'] += [assistant('done'), user('more')]


BAD = [
    ('chat', 'a call without a result', chat(user('x'), {**assistant(None), 'tool_calls': [CALL]},
     user('y')), {}, 'did not have response messages: call_1'),
    ('chat', 'a call without a result at the end', chat(user('x'), {
        **assistant(None), 'tool_calls': [CALL]}), {}, 'must be followed by tool messages'),
    ('chat', 'an orphan result', chat(user('x'), {'role': 'tool', 'tool_call_id': 'call_1',
     'content': 'ok'}), {}, "must be a response to a preceeding message with 'tool_calls'"),
    ('chat', 'two results for one call', chat(user('x'), {**assistant(None), 'tool_calls': [CALL]},
     *[{'role': 'tool', 'tool_call_id': 'call_1', 'content': 'ok'}] * 2), {}, 'Duplicate value'),
    ('chat', 'arguments that are no string', chat(user('x'), {**assistant(None), 'tool_calls': [
        {**CALL, 'function': {'name': 'f', 'arguments': {}}}]}), {}, 'expected a string'),
    ('chat', 'an assistant without a word', chat(user('x'), assistant(None)), {}, 'got null'),
    ('chat', 'a role that is none', chat({'role': 'robot', 'content': 'x'}), {}, 'Invalid value'),
    ('chat', 'no messages', chat(), {}, 'empty array'),
    ('chat', 'no model', {'messages': [user('x')]}, {}, 'must provide a model'),
    ('chat', 'an empty list of calls', chat(user('x'), {**assistant('a'), 'tool_calls': []},
     user('y')), {}, 'empty array'),
    ('chat', 'no JSON', b'{"model":"x",', {}, 'could not parse the JSON body'),
    ('chat', 'more than the window', chat(user('x' * 5000)), {}, 'maximum context length is 1000'),
    ('responses', 'a call without an output', responses(user('x'), FC), {},
     'No tool output found for function call call_1.'),
    ('responses', 'an orphan output', responses(user('x'), OUT), {},
     'No tool call found for function call output with call_id call_1.'),
    ('responses', 'two outputs for one call', responses(user('x'), FC, OUT, OUT), {}, 'Duplicate'),
    ('responses', 'reasoning without what follows', responses(
        user('x'), FC, {'type': 'reasoning', 'id': 'rs_1', 'summary': []}, OUT), {},
     'without its required following item'),
    ('responses', 'a call without its reasoning', responses(
        user('x'), {**FC, 'id': 'fc_r1'}, OUT), {}, "without its required 'reasoning' item"),
    ('responses', 'encrypted content that was altered', sealed_altered(), {},
     'could not be verified'),
    ('responses', 'a compaction that was altered', responses(
        {'type': 'compaction', 'encrypted_content': 'gAAAnothing'}, user('x')), {},
     'could not be verified'),
    ('responses', 'an id of another kind', responses(user('x'), {**FC, 'id': 'msg_1'}, OUT), {},
     "Expected an ID that begins with 'fc'"),
    ('responses', 'a response nobody gave', responses(OUT, previous_response_id='resp_no'), {},
     'not found'),
    ('responses', 'two kinds of history', responses(
        user('x'), previous_response_id='resp_known', conversation='conv_1'), {},
     'Mutually exclusive'),
    ('responses', 'more than the window', responses(user('x' * 5000)), {},
     'exceeds the context window of this model'),
    ('messages', 'a call without a result', messages(
        user('x'), assistant([USE]), user('y')), ANTHROPIC,
     '`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1'),
    ('messages', 'an orphan result', messages(user([RESULT])), ANTHROPIC,
     'unexpected `tool_use_id` found in `tool_result` blocks: toolu_1'),
    ('messages', 'a result behind text', messages(
        user('x'), assistant([USE]), user([text('so'), RESULT])), ANTHROPIC,
     'blocks immediately after'),
    ('messages', 'two results for one call', messages(
        user('x'), assistant([USE]), user([RESULT, RESULT])), ANTHROPIC, 'a single result'),
    ('messages', 'an id with other letters', messages(
        user('x'), assistant([{**USE, 'id': 'a.b'}]), user([{**RESULT, 'tool_use_id': 'a.b'}])),
     ANTHROPIC, 'String should match pattern'),
    ('messages', 'an assistant first', messages(assistant('x'), user('y')), ANTHROPIC,
     'first message must use the "user" role'),
    ('messages', 'an empty text', messages(user([text('')])), ANTHROPIC,
     'text content blocks must be non-empty'),
    ('messages', 'a marker on an empty text', messages(user([text('', **MARK)])), ANTHROPIC,
     'cache_control cannot be set for empty text blocks'),
    ('messages', 'five markers', messages(user([text('x', **MARK) for _ in range(5)])), ANTHROPIC,
     'Found 5.'),
    ('messages', 'a marker on thinking', signed(change=lambda b: b['messages'][1]['content'][0]
     .update(MARK)), ANTHROPIC, 'cache_control'),
    ('messages', 'thinking in another conversation', signed(change=set_text), ANTHROPIC,
     'bound to a different conversation'),
    ('messages', 'calls whose thinking was taken', signed(change=bare), ANTHROPIC,
     'latest assistant message cannot be modified'),
    ('messages', 'blocks to be dropped, said by an account that may not', signed(change=dropping),
     ANTHROPIC, 'block_binding: Extra inputs'),
    ('messages', 'thinking that was altered', signed('claude-opus-5', set_thinking), ANTHROPIC,
     'cannot be modified'),
    ('messages', 'an old signature that is forged', signed('claude-opus-5', forge), ANTHROPIC,
     'Invalid `signature`'),
    ('messages', 'a prefill on a new model', messages(
        user('x'), assistant('y'), model='claude-opus-5-5'), ANTHROPIC, 'prefill'),
    ('messages', 'no max_tokens', {'model': 'm', 'messages': [user('x')]}, ANTHROPIC,
     'max_tokens: Field required'),
    ('messages', 'no version', messages(user('x')), {}, 'header is required'),
    ('messages', 'a temperature in the new version', messages(user('x'), temperature=1), MODERN,
     'temperature'),
    ('messages', 'a document of the assistant in the new version', messages(
        user('x'), assistant([{'type': 'document', 'source': {}}]), user('y')), MODERN,
     'document blocks'),
    ('messages', 'a server result without its use', messages(
        user('x'), assistant([{'type': 'advisor_tool_result', 'tool_use_id': 'srvtoolu_1'}]),
        user('y')), ANTHROPIC, 'must have a corresponding `server_tool_use` block before it'),
    ('messages', 'a compaction in the middle', messages(
        user('x'), assistant([{'type': 'compaction', 'content': 'c'}]), user('y')), ANTHROPIC,
     'must be the first block'),
    ('messages', 'input that is no object', messages(
        user('x'), assistant([{**USE, 'input': '{}'}]), user([RESULT])), ANTHROPIC,
     'valid dictionary'),
    ('messages', 'more than the window', messages(user('x' * 5000)), ANTHROPIC,
     'prompt is too long: '),
    ('gemini', 'a call without its result', contents(
        ('user', {'text': 'x'}), ('model', GCALL), ('user', {'text': 'y'}), **GOOGLE), {},
     'number of function response parts is equal'),
    ('gemini', 'a result without its call', contents(('user', GGIVEN), **GOOGLE), {},
     'comes immediately after a function call turn'),
    ('gemini', 'a result too many', contents(
        ('user', {'text': 'x'}), ('model', GCALL), ('user', GGIVEN, GGIVEN), **GOOGLE), {},
     'number of function response parts is equal'),
    ('gemini', 'a call behind words of the model', contents(
        ('user', {'text': 'x'}), ('model', {'text': 'a'}), ('model', GCALL), ('user', GGIVEN),
        **GOOGLE), {}, 'comes immediately after a user turn'),
    ('gemini', 'a result that is no object', contents(
        ('user', {'text': 'x'}), ('model', GCALL),
        ('user', {'functionResponse': {'name': 'f', 'response': 'ok'}}), **GOOGLE), {},
     'google.protobuf.Struct'),
    ('gemini', 'a result without a name', contents(
        ('user', {'text': 'x'}), ('model', GCALL),
        ('user', {'functionResponse': {'response': {}}}), **GOOGLE), {}, 'Name cannot be empty'),
    ('gemini', 'a call without its signature', contents(
        ('user', {'text': 'x'}), ('model', GCALL), ('user', GGIVEN), model='gemini-3.8-flash'), {},
     'missing a thought_signature'),
    ('gemini', 'a signature of another call', contents(
        ('user', {'text': 'x'}), ('model', {**GSIGNED, 'functionCall': {'name': 'g'}}),
        ('user', GGIVEN), **GOOGLE), {}, 'Corrupted thought signature'),
    ('gemini', 'a member that nobody knows', contents(('user', {'text': 'x'}), stream=True,
     **GOOGLE), {}, 'Unknown name "stream"'),
    ('gemini', 'a part of two kinds', contents(('user', {'text': 'x', **GGIVEN}), **GOOGLE), {},
     'one initialized field'),
    ('gemini', 'an empty text', contents(('user', {'text': ''}), **GOOGLE), {}, 'text parameter'),
    ('gemini', 'no parts', contents(('user',), **GOOGLE), {}, 'must not be empty'),
    ('gemini', 'the model last', contents(('user', {'text': 'x'}), ('model', {'text': 'y'}),
     **GOOGLE), {}, 'end with a user role'),
    ('gemini', 'another role', contents(('assistant', {'text': 'x'}), **GOOGLE), {}, 'valid role'),
    ('gemini', 'tools beside what is cached', contents(
        ('user', {'text': 'x'}), cachedContent='cachedContents/a', tools=[], **GOOGLE), {},
     'CachedContent can not be used'),
    ('gemini', 'more than the window', contents(('user', {'text': 'x' * 5000}), **GOOGLE), {},
     'exceeds the maximum number of tokens allowed (1000)'),
    ('ollama', 'no model', {'messages': []}, {}, 'model is required'),
    ('ollama', 'content that is a list', {'model': 'm', 'messages': [
        {'role': 'user', 'content': [{'type': 'text', 'text': 'x'}]}]}, {},
     'cannot unmarshal array into Go struct field Message.messages.content of type string'),
    ('ollama', 'arguments that are a text', {'model': 'm', 'messages': [
        {'role': 'assistant', 'content': '', 'tool_calls': [{'function': {
            'name': 'f', 'arguments': '{}'}}]}]}, {}, 'cannot unmarshal string'),
    ('ollama', 'another role', {'model': 'm', 'messages': [{'role': 'developer', 'content': 'x'}]},
     {}, 'invalid role'),
    ('ollama', 'tools of a model that has none', {'model': 'gemma3:4b', 'messages': [],
     'tools': [{}]}, {}, 'does not support tools'),
]

GOOD = [
    ('chat', 'a loop', chat(user('x'), {**assistant(None), 'tool_calls': [CALL]},
     {'role': 'tool', 'tool_call_id': 'call_1', 'content': 'ok'}, user('y')), {}),
    ('responses', 'a loop', responses(user('x'), FC, OUT), {}),
    ('responses', 'a result of what the server holds', responses(
        {**OUT, 'call_id': 'call_known'}, previous_response_id='resp_known'), {}),
    ('messages', 'a loop', messages(user('x'), assistant([USE]), user([RESULT, text('y')])),
     ANTHROPIC),
    ('gemini', 'a loop', contents(('user', {'text': 'x'}), ('model', GSIGNED), ('user', GGIVEN),
     model='gemini-3.8-flash'), {}),
    ('gemini', 'an older turn without signatures', contents(
        ('user', {'text': 'x'}), ('model', GCALL), ('user', GGIVEN), ('model', {'text': 'a'}),
        ('user', {'text': 'y'}), model='gemini-3.8-flash'), {}),
    ('gemini', 'the other spelling', {'contents': [{'parts': [{'text': 'x'}]}], **GOOGLE,
     'system_instruction': {'parts': [{'text': 's'}]}}, {}),
    ('gemini', 'a request that is wrapped', {'model': 'm', 'project': 'p', 'request': contents(
        ('user', {'text': 'x'}))}, {}),
    ('ollama', 'a loop', {'model': 'm', 'messages': [user('x'), {
        'role': 'assistant', 'content': '', 'tool_calls': [{'function': {
            'name': 'f', 'arguments': {}}}]}, {
        'role': 'tool', 'content': 'ok', 'tool_name': 'f'}]}, {}),
    ('messages', 'signed thinking where it was', signed(), ANTHROPIC),
    ('messages', 'thinking in another conversation that is to be dropped', signed(change=dropping),
     {**ANTHROPIC, 'anthropic-beta': laws.BINDING_BETA}),
    ('messages', 'signed thinking with another marker', signed(
        change=lambda b: b['messages'][2]['content'][0].update(MARK)), ANTHROPIC),
]


def main():
    passed = failed = 0
    for api, what, body, headers, words in BAD:
        raw = body if isinstance(body, bytes) else laws.canonical(body)
        try:
            laws.check(api, raw, headers, State, window_tokens=1000)
            said = 'accepted'
        except laws.Refusal as refusal:
            said = str(refusal.body(api))
            said = refusal.message if words in refusal.message else said
        if words in said:
            passed += 1
        else:
            failed += 1
            print(f'FAILED: {api}: {what}\n  wanted: {words}\n  got:    {said}')
    for api, what, body, headers in GOOD:
        try:
            laws.check(api, laws.canonical(body), headers, State)
            passed += 1
        except laws.Refusal as refusal:
            failed += 1
            print(f'FAILED: {api}: {what} is refused: {refusal.message}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


sys.exit(main())

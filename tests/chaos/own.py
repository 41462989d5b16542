"""A model that recalls by the proxy's own tool, and what its client must see of that.

In each leg it says a word of that leg and calls weir_recall, as often as the spec's `own` says;
then it says its last word and calls the client's tool, where `is_beside` together with one more
recall.
"""
import json
import re

HANDLE = re.compile(rb'wr_[0-9a-f]{20}')
OURS = b'weir_recall'


def call_id(spec, leg):
    return f'own-{spec["id"]}-{leg}'.replace('.', '_')


def leg_of(spec, raw):
    """How many of its own calls have their results in the request."""
    return sum(call_id(spec, leg).encode() in raw for leg in range(3))


def says(spec, leg):
    """Its words and calls in this leg."""
    if leg < spec['own']:
        return f'L{leg} ', [(call_id(spec, leg), 'weir_recall')]
    calls = [(spec['call'], 'read_file')] if spec['call'] else []
    if spec['is_beside']:
        calls.append((call_id(spec, leg), 'weir_recall'))
    return 'Done.', calls


def answer(spec, leg, raw):
    offered = re.search(rb'"tools":.*' + OURS, raw, re.S) is not None
    words, calls = says(spec, leg if offered else spec['own'])
    if not offered:
        calls = [call for call in calls if call[1] == 'read_file']
    found = HANDLE.findall(raw)
    handle = found[len(found) // 2].decode() if found else 'none'
    made = [(name, {'handle': handle} if name == 'weir_recall' else {'path': spec['path']}, which)
            for which, name in calls]
    make = {('chat', 'json'): chat, ('chat', 'events'): chat_events,
            ('messages', 'json'): messages, ('messages', 'events'): messages_events}
    return make[spec['api'], spec['shape']](f'a-{spec["id"]}-{leg}', words, made)


def chat(answer_id, words, calls):
    message = {'role': 'assistant', 'content': words}
    if calls:
        message['tool_calls'] = [{'id': which, 'type': 'function', 'function': {
            'name': name, 'arguments': json.dumps(arguments)}} for name, arguments, which in calls]
    return json.dumps({'id': answer_id, 'object': 'chat.completion', 'model': 'm', 'choices': [
        {'index': 0, 'message': message, 'finish_reason': 'tool_calls' if calls else 'stop'}],
        'usage': {'prompt_tokens': 9, 'completion_tokens': 9, 'total_tokens': 18}}).encode()


def chat_events(answer_id, words, calls):
    deltas = [{'role': 'assistant', 'content': ''}, {'content': words}]
    for index, (name, arguments, which) in enumerate(calls):
        deltas += [{'tool_calls': [{'index': index, 'id': which, 'type': 'function', 'function': {
            'name': name, 'arguments': ''}}]}, {'tool_calls': [{'index': index, 'function': {
                'arguments': json.dumps(arguments)}}]}]
    chunks = [(delta, None) for delta in deltas] + [({}, 'tool_calls' if calls else 'stop')]
    return b''.join(b'data: %s\n\n' % json.dumps({
        'id': answer_id, 'object': 'chat.completion.chunk', 'model': 'm', 'choices': [
            {'index': 0, 'delta': delta, 'finish_reason': reason}]}).encode()
        for delta, reason in chunks) + b'data: [DONE]\n\n'


def messages(answer_id, words, calls):
    content = [{'type': 'text', 'text': words}] + [
        {'type': 'tool_use', 'id': which, 'name': name, 'input': arguments}
        for name, arguments, which in calls]
    return json.dumps({'id': answer_id, 'type': 'message', 'role': 'assistant', 'model': 'm',
                       'content': content, 'stop_reason': 'tool_use' if calls else 'end_turn',
                       'usage': {'input_tokens': 9, 'output_tokens': 9}}).encode()


def messages_events(answer_id, words, calls):
    made = [{'type': 'message_start', 'message': {
        'id': answer_id, 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [],
        'usage': {'input_tokens': 9, 'output_tokens': 1}}}]
    blocks = [({'type': 'text', 'text': ''}, {'type': 'text_delta', 'text': words})] + [
        ({'type': 'tool_use', 'id': which, 'name': name, 'input': {}},
         {'type': 'input_json_delta', 'partial_json': json.dumps(arguments)})
        for name, arguments, which in calls]
    for index, (block, delta) in enumerate(blocks):
        made += [{'type': 'content_block_start', 'index': index, 'content_block': block},
                 {'type': 'content_block_delta', 'index': index, 'delta': delta},
                 {'type': 'content_block_stop', 'index': index}]
    reason = 'tool_use' if calls else 'end_turn'
    made += [{'type': 'message_delta', 'delta': {'stop_reason': reason},
              'usage': {'output_tokens': 9}}, {'type': 'message_stop'}]
    return b''.join(b'event: %s\ndata: %s\n\n' % (
        event['type'].encode(), json.dumps(event).encode()) for event in made)


# ---- what the client has of it ----

class Seen:
    """Words, calls of tools by id, whether it says that it is complete, or that it failed."""

    def __init__(self, spec, data):
        self.words, self.calls, self.is_complete, self.is_error = '', [], False, False
        self.is_readable = True
        try:
            if spec['shape'] == 'json' or data.startswith(b'{'):
                self.read_whole(spec['api'], json.loads(data))
            else:
                self.read_events(spec['api'], data)
        except (ValueError, KeyError, IndexError, TypeError):
            self.is_readable = False

    def read_whole(self, api, body):
        self.is_error = 'error' in body
        if self.is_error:
            return
        self.is_complete = True
        if api == 'chat':
            message = body['choices'][0]['message']
            self.words = message['content'] or ''
            self.calls = [call['id'] for call in message.get('tool_calls') or []]
            return
        self.words = ''.join(b['text'] for b in body['content'] if b['type'] == 'text')
        self.calls = [b['id'] for b in body['content'] if b['type'] == 'tool_use']

    def read_events(self, api, data):
        for block in data.decode().split('\n\n'):
            text = ''.join(line[5:].strip() for line in block.split('\n')
                           if line.startswith('data:'))
            if text == '[DONE]':
                self.is_complete = True
            elif text:
                self.read_event(api, json.loads(text))

    def read_event(self, api, event):
        self.is_error |= bool(event.get('error'))
        if api == 'chat':
            for choice in event.get('choices') or []:
                self.words += choice['delta'].get('content') or ''
                self.calls += [c['id'] for c in choice['delta'].get('tool_calls') or []
                               if c.get('id')]
            return
        self.is_complete |= event['type'] == 'message_stop'
        if event['type'] == 'content_block_start' and event['content_block']['type'] == 'tool_use':
            self.calls.append(event['content_block']['id'])
        if event['type'] == 'content_block_delta':
            self.words += event['delta'].get('text', '')


def is_whole_answer(spec, seen):
    """All legs that there were, in order, each once; the tool may not have been offered."""
    legs = ''.join(says(spec, leg)[0] for leg in range(spec['own']))
    calls = [spec['call']] if spec['call'] else []
    return seen.words in (legs + 'Done.', 'Done.') and seen.calls == calls

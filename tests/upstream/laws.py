"""What providers refuse: the laws of the four APIs, each with the provider's own words.

check(api, body, headers, state) returns None for a request the provider would accept, else a
Refusal. Signatures and encrypted items are made here too (sign, seal), so that what a client
brings back can be verified: a block of signed thinking is bound to everything before it. Google's
laws are in gemini.py, Ollama's in ollama.py.
"""
import hashlib
import hmac
import json
import re
import sys

import gemini
import ollama

KEY = b'a key that only the provider has'
BINDING_MODELS = ('claude-fable-5-1', 'claude-opus-5-5', 'claude-sonnet-5-5')
ID_PATTERN = re.compile(r'^[a-zA-Z0-9_-]+$')
BYTES_A_TOKEN = 4
ISSUED = {}  # signatures that were given out, with the thinking they sign
THOUGHT_CALLS = set()  # ids of calls that were given out behind signed thinking
BINDING_BETA = 'thinking-binding-controls-2026-08-01'


class Refusal(Exception):
    def __init__(self, status, message, kind='invalid_request_error', param=None, code=None):
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
        self.param, self.code = param, code

    def body(self, api):
        if api == 'gemini':
            return gemini.error(self)
        if api == 'ollama':
            return ollama.error(self)
        if api == 'messages':
            error = {'type': self.kind, 'message': self.message}
            if self.code:
                error['details'] = {'error_code': self.code}
            return {'type': 'error', 'error': error, 'request_id': 'req_test'}
        return {'error': {'message': self.message, 'type': self.kind, 'param': self.param,
                          'code': self.code}}


def canonical(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False).encode('utf-8', 'surrogatepass')


def mac(*parts):
    digest = hmac.new(KEY, digestmod=hashlib.sha256)
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


# ---- Chat Completions ----

CHAT_ROLES = ('system', 'developer', 'user', 'assistant', 'tool', 'function')


def check_chat_message(i, message):
    role = message.get('role')
    if role not in CHAT_ROLES:
        raise Refusal(400, f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', "
                      "'user', 'function', 'tool', and 'developer'.",
                      param=f'messages[{i}].role', code='invalid_value')
    content, calls = message.get('content'), message.get('tool_calls')
    if content is None and not calls and 'function_call' not in message:
        raise Refusal(400, "Invalid value for 'content': expected a string, got null.",
                      param=f'messages.[{i}].content')
    if calls is not None and not calls:
        raise Refusal(400, f"Invalid 'messages[{i}].tool_calls': empty array. Expected an array "
                      'with minimum length 1, but got an empty array instead.',
                      param=f'messages[{i}].tool_calls', code='empty_array')
    for n, call in enumerate(calls or []):
        function = call.get('function', {})
        if call.get('type') == 'function' and not isinstance(function.get('arguments'), str):
            raise Refusal(400, f"Invalid type for 'messages[{i}].tool_calls[{n}].function.arguments"
                          "': expected a string, but got an object instead.",
                          param=f'messages[{i}].tool_calls[{n}].function.arguments',
                          code='invalid_type')


def check_chat(body, headers, state):
    messages = body.get('messages')
    if not isinstance(messages, list) or not messages:
        raise Refusal(400, "Invalid 'messages': empty array. Expected an array with minimum length "
                      '1, but got an empty array instead.', param='messages', code='empty_array')
    open_ids, answered = [], set()
    for i, message in enumerate(messages):
        check_chat_message(i, message)
        if message['role'] == 'tool':
            call_id = message.get('tool_call_id')
            if call_id in answered:
                raise Refusal(400, f"Duplicate value for 'tool_call_id' of '{call_id}' in "
                              f'message[{i}]', param=f'messages.[{i}].tool_call_id')
            if call_id not in open_ids:
                raise Refusal(400, "Invalid parameter: messages with role 'tool' must be a response"
                              " to a preceeding message with 'tool_calls'.",
                              param=f'messages.[{i}].role')
            open_ids.remove(call_id)
            answered.add(call_id)
            continue
        check_chat_open(open_ids, i)
        answered = set()
        open_ids = [call['id'] for call in message.get('tool_calls') or []]
    check_chat_open(open_ids, len(messages))


def check_chat_open(open_ids, i):
    if open_ids:
        raise Refusal(400, "An assistant message with 'tool_calls' must be followed by tool "
                      "messages responding to each 'tool_call_id'. The following tool_call_ids did "
                      'not have response messages: ' + ', '.join(open_ids),
                      param=f'messages.[{i}].role')


# ---- Responses ----

PREFIXES = {'message': 'msg', 'function_call': 'fc', 'reasoning': 'rs', 'custom_tool_call': 'ctc'}
CALLS = {'function_call': 'function_call_output', 'custom_tool_call': 'custom_tool_call_output',
         'local_shell_call': 'local_shell_call_output', 'shell_call': 'shell_call_output',
         'apply_patch_call': 'apply_patch_call_output'}


def seal(item_id, text='thoughts'):
    """Encrypted content: opaque, and wrong when a letter of it changes."""
    return 'gAAA' + text.encode().hex() + '.' + mac(b'seal', text.encode())


def check_sealed(item):
    sealed = item.get('encrypted_content')
    if sealed is None:
        return
    text, _, code = sealed[4:].partition('.')
    try:
        known = mac(b'seal', bytes.fromhex(text))
    except ValueError:
        known = None
    if not sealed.startswith('gAAA') or code != known:
        raise Refusal(400, f'The encrypted content {sealed[:8]}... could not be verified. Reason: '
                      'Encrypted content could not be decrypted or parsed.',
                      code='invalid_encrypted_content', param='input')


def check_item_ids(i, item):
    prefix = PREFIXES.get(item.get('type', 'message'))
    if prefix and item.get('id') and not item['id'].startswith(prefix):
        raise Refusal(400, f"Invalid 'input[{i}].id': '{item['id']}'. Expected an ID that begins "
                      f"with '{prefix}'.", param=f'input[{i}].id', code='invalid_value')


def check_reasoning(items):
    """A reasoning item and what it led to travel together: rs_N, then fc_N or msg_N."""
    for i, item in enumerate(items):
        following = items[i + 1] if i + 1 < len(items) else {}
        if item.get('type') == 'reasoning' and following.get('type', 'message') not in (
                'function_call', 'custom_tool_call', 'reasoning', 'message', 'compaction'):
            raise Refusal(400, f"Item '{item.get('id')}' of type 'reasoning' was provided without "
                          'its required following item.', param='input')
        item_id = item.get('id') or ''
        if item.get('type') == 'function_call' and item_id.startswith('fc_r'):
            wanted = 'rs_' + item_id[len('fc_r'):].split('_')[0]
            if not any(other.get('id') == wanted for other in items[:i]):
                raise Refusal(400, f"Item '{item_id}' of type 'function_call' was provided without "
                              f"its required 'reasoning' item: '{wanted}'.", param='input')


def check_responses(body, headers, state):
    items = body.get('input')
    previous = body.get('previous_response_id')
    if previous and body.get('conversation'):
        raise Refusal(400, "Mutually exclusive parameters. Ensure you are only providing one of: "
                      "'previous_response_id' or 'conversation'.",
                      code='mutually_exclusive_parameters')
    if previous and previous not in state.responses:
        raise Refusal(400, f"Previous response with id '{previous}' not found.",
                      param='previous_response_id', code='previous_response_not_found')
    if isinstance(items, str):
        return
    if not isinstance(items, list) or not items:
        raise Refusal(400, "Missing required parameter: 'input'.", param='input',
                      code='missing_required_parameter')
    known = set(state.responses.get(previous, ()))
    conversation = body.get('conversation')
    if conversation:
        name = conversation if isinstance(conversation, str) else conversation['id']
        known |= state.conversations.get(name, set())
    calls, outputs = {}, set()
    for i, item in enumerate(items):
        check_item_ids(i, item)
        check_sealed(item)
        kind = item.get('type', 'message')
        if kind in CALLS:
            calls[item['call_id']] = kind
        elif kind in CALLS.values():
            if item['call_id'] in outputs:
                raise Refusal(400, f"Duplicate output for call_id {item['call_id']}.",
                              param='input')
            outputs.add(item['call_id'])
            if not item.get('output') and item.get('output') != '':
                raise Refusal(400, f"Missing required parameter: 'input[{i}].output'.",
                              param=f'input[{i}].output', code='missing_required_parameter')
    for call_id in outputs:
        if call_id not in calls and call_id not in known:
            raise Refusal(400, 'No tool call found for function call output with call_id '
                          f'{call_id}.', param='input')
    for call_id in calls:
        if call_id not in outputs:
            raise Refusal(400, f'No tool output found for function call {call_id}.', param='input')
    check_reasoning(items)


# ---- Messages ----

def blocks_of(message):
    content = message.get('content')
    if isinstance(content, str):
        return [{'type': 'text', 'text': content}]
    return content or []


def prefix_of(body, upto_message, upto_block):
    """What signed thinking is bound to: system, tools and everything before it, without cache
    markers and without other thinking."""
    def clean(value):
        if isinstance(value, dict):
            return {k: clean(v) for k, v in value.items() if k != 'cache_control'}
        if isinstance(value, list):
            return [clean(v) for v in value if not (
                isinstance(v, dict) and v.get('type') in ('thinking', 'redacted_thinking'))]
        return value
    seen = []
    for i, message in enumerate(body['messages'][:upto_message + 1]):
        blocks = blocks_of(message)
        if i == upto_message:
            blocks = blocks[:upto_block]
        if blocks:
            seen.append([message['role'], clean(blocks)])
    return canonical([clean(body.get('system')), clean(body.get('tools')), seen])


def sign(model, text, prefix):
    bound = prefix if model in BINDING_MODELS else b''
    return mac(b'thinking', text.encode('utf-8', 'surrogatepass'), bound)


def issue(model, text, prefix):
    signature = sign(model, text, prefix)
    ISSUED[signature] = text
    return signature


def drops_blocks(body, headers):
    """Whether thinking that does not fit what stands before it is dropped, not refused."""
    binding = (body.get('thinking') or {}).get('block_binding')
    if binding is None:
        return False
    if BINDING_BETA not in headers.get('anthropic-beta', ''):
        raise Refusal(400, 'thinking.block_binding: Extra inputs are not permitted')
    return binding.get('prefix_mismatch_behavior') == 'drop_block'


def check_thinking(body, i, n, block, drops):
    where = f'messages.{i}.content.{n}'
    model = body.get('model')
    text = block.get('thinking', '') if block['type'] == 'thinking' else 'redacted'
    given = block.get('signature') if block['type'] == 'thinking' else block.get('data')
    if 'cache_control' in block:
        raise Refusal(400, f'{where}.{block["type"]}.cache_control: Extra inputs are not permitted')
    if given == sign(model, text, prefix_of(body, i, n)):
        return
    if given and ISSUED.get(given) == text and drops:
        return
    if given and ISSUED.get(given) == text:
        raise Refusal(400, f'{where}: Invalid `signature` in `thinking` block. The block is bound '
                      'to a different conversation. Remove the block, or set '
                      '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".')
    last = max((k for k, m in enumerate(body['messages']) if m['role'] == 'assistant'), default=-1)
    if i == last:
        raise Refusal(400, f'{where}: `thinking` or `redacted_thinking` blocks in the latest '
                      'assistant message cannot be modified. These blocks must remain as they were '
                      'in the original response.')
    raise Refusal(400, f'{where}: Invalid `signature` in `thinking` block')


def check_block(body, i, n, message, block, modern, drops):
    where = f'messages.{i}.content.{n}'
    kind = block.get('type')
    if kind == 'text' and not block.get('text'):
        if 'cache_control' in block:
            raise Refusal(400, f'{where}.text: cache_control cannot be set for empty text blocks')
        raise Refusal(400, 'messages: text content blocks must be non-empty')
    if kind in ('tool_use', 'tool_result'):
        key = 'id' if kind == 'tool_use' else 'tool_use_id'
        if not ID_PATTERN.match(str(block.get(key, ''))):
            raise Refusal(400, f"{where}.{kind}.{key}: String should match pattern "
                          "'^[a-zA-Z0-9_-]+$'")
    if kind == 'tool_use' and not isinstance(block.get('input'), dict):
        raise Refusal(400, f'{where}.tool_use.input: Input should be a valid dictionary')
    if kind in ('thinking', 'redacted_thinking'):
        check_thinking(body, i, n, block, drops)
    if kind == 'document' and message['role'] == 'assistant' and modern:
        raise Refusal(400, f'{where}: document blocks are not permitted in assistant messages')
    if kind == 'compaction' and (i, n) != (0, 0):
        raise Refusal(400, f'{where}: `compaction` must be the first block of the conversation',
                      code='compaction_block_misplaced')


def check_results(i, message, before):
    """Results stand first in the message behind the calls, one for each."""
    blocks = blocks_of(message)
    wanted = [b['id'] for b in blocks_of(before) if b.get('type') == 'tool_use'] if before else []
    given = [b['tool_use_id'] for b in blocks if b.get('type') == 'tool_result']
    for call_id in given:
        if given.count(call_id) > 1:
            raise Refusal(400, f'messages.{i}.content: each tool_use must have a single result. '
                          f'Found multiple `tool_result` blocks with id: {call_id}')
        if call_id not in wanted:
            n = [b.get('tool_use_id') for b in blocks].index(call_id)
            raise Refusal(400, f'messages.{i}.content.{n}: unexpected `tool_use_id` found in '
                          f'`tool_result` blocks: {call_id}. Each `tool_result` block must have a '
                          'corresponding `tool_use` block in the previous message.')
    first = [b['tool_use_id'] for b in blocks[:len(given)] if b.get('type') == 'tool_result']
    missing = [call_id for call_id in wanted if call_id not in first]
    if missing:
        raise Refusal(400, f'messages.{i - 1}: `tool_use` ids were found without `tool_result` '
                      'blocks immediately after: ' + ', '.join(missing) + '. Each `tool_use` block '
                      'must have a corresponding `tool_result` block in the next message.')


def count_markers(value):
    if isinstance(value, dict):
        return ('cache_control' in value) + sum(count_markers(v) for v in value.values())
    if isinstance(value, list):
        return sum(count_markers(v) for v in value)
    return 0


def check_server_tools(messages):
    used = set()
    for i, message in enumerate(messages):
        for n, block in enumerate(blocks_of(message)):
            kind = block.get('type', '')
            if kind == 'server_tool_use':
                used.add(block.get('id'))
            elif kind.endswith('_tool_result') and kind != 'mcp_tool_result' and (
                    block.get('tool_use_id') not in used):
                raise Refusal(400, f'messages.{i}.content.{n}: Each `{kind}` block must have a '
                              'corresponding `server_tool_use` block before it')


def check_last_loop(body):
    """A loop that goes on with thinking has it before its newest calls: always where it is enabled,
    and where the calls were given out behind thinking and their results have just come."""
    messages, last = body['messages'], max(
        (k for k, m in enumerate(body['messages']) if m.get('role') == 'assistant'), default=-1)
    if last < 0:
        return
    blocks = blocks_of(messages[last])
    kinds = [b.get('type') for b in blocks]
    is_thinking = kinds and kinds[0] in ('thinking', 'redacted_thinking')
    goes_on = last == len(messages) - 2 and any(
        b.get('type') == 'tool_result' for b in blocks_of(messages[-1]))
    if goes_on and not is_thinking and any(b.get('id') in THOUGHT_CALLS for b in blocks):
        raise Refusal(400, f'messages.{last}.content.0: `thinking` or `redacted_thinking` blocks '
                      'in the latest assistant message cannot be modified. These blocks must '
                      'remain as they were in the original response.')
    if body.get('thinking', {}).get('type') != 'enabled':
        return
    if 'tool_use' in kinds and kinds[0] not in ('thinking', 'redacted_thinking'):
        raise Refusal(400, f'messages.{last}.content.0.type: Expected `thinking` or '
                      f'`redacted_thinking`, but found `{kinds[0]}`. When `thinking` is enabled, a '
                      'final `assistant` message must start with a thinking block (preceeding the '
                      'lastmost set of `tool_use` and `tool_result` blocks).')


def check_messages(body, headers, state, is_count=False):
    version = headers.get('anthropic-version')
    if not version:
        raise Refusal(400, 'anthropic-version: header is required')
    modern = version >= '2026-10-21'
    messages = body.get('messages')
    if not isinstance(messages, list) or not messages:
        raise Refusal(400, 'messages: at least one message is required')
    if not is_count and not isinstance(body.get('max_tokens'), int):
        raise Refusal(400, 'max_tokens: Field required')
    if modern and any(k in body for k in ('temperature', 'top_p', 'top_k')):
        raise Refusal(400, 'temperature: not supported with this anthropic-version')
    if messages[0].get('role') != 'user':
        raise Refusal(400, 'messages: first message must use the "user" role')
    if count_markers(body) > 4:
        raise Refusal(400, 'A maximum of 4 blocks with cache_control may be provided. '
                      f'Found {count_markers(body)}.')
    drops = drops_blocks(body, headers)
    for i, message in enumerate(messages):
        if message.get('role') not in ('user', 'assistant', 'system'):
            raise Refusal(400, f'messages.{i}.role: Input should be \'user\' or \'assistant\'')
        for n, block in enumerate(blocks_of(message)):
            check_block(body, i, n, message, block, modern, drops)
        check_results(i, message, messages[i - 1] if i else None)
    check_server_tools(messages)
    check_last_loop(body)
    if messages[-1]['role'] == 'assistant':
        open_ids = [b['id'] for b in blocks_of(messages[-1]) if b.get('type') == 'tool_use']
        if open_ids:
            check_results(len(messages), {'role': 'user', 'content': []}, messages[-1])
        if body.get('model') in BINDING_MODELS:
            raise Refusal(400, 'This model does not support assistant message prefill. The '
                          'conversation must end with a user message.')


# ---- all ----

def check_size(api, body_bytes, window_tokens):
    tokens = body_bytes // BYTES_A_TOKEN
    if not window_tokens or tokens <= window_tokens:
        return
    if api == 'messages':
        raise Refusal(400, f'prompt is too long: {tokens} tokens > {window_tokens} maximum')
    if api == 'gemini':
        gemini.check_size(sys.modules[__name__], tokens, window_tokens)
    if api == 'chat':
        raise Refusal(400, f"This model's maximum context length is {window_tokens} tokens. "
                      f'However, your messages resulted in {tokens} tokens. Please reduce the '
                      'length of the messages.', param='messages', code='context_length_exceeded')
    raise Refusal(400, 'Your input exceeds the context window of this model. Please adjust your '
                  'input and try again.', param='input', code='context_length_exceeded')


def check(api, raw, headers, state, window_tokens=0, is_count=False, model=None):
    """Raises a Refusal, or returns the body as an object. `model` is what the path names."""
    try:
        body = json.loads(raw)
    except ValueError:
        raise Refusal(400, 'We could not parse the JSON body of your request. (HINT: This likely '
                      "means you aren't using your HTTP library correctly.)") from None
    if api == 'gemini':
        body = gemini.check(sys.modules[__name__], body, model)
        check_size(api, len(raw), window_tokens)
        return body
    if api == 'ollama':
        ollama.check(sys.modules[__name__], body)
        return body
    if not isinstance(body, dict) or not body.get('model'):
        raise Refusal(400, 'you must provide a model parameter')
    if api == 'chat':
        check_chat(body, headers, state)
    elif api == 'responses':
        check_responses(body, headers, state)
    else:
        check_messages(body, headers, state, is_count)
    check_size(api, len(raw), window_tokens)
    return body

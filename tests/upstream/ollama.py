"""Ollama's own API: what its server refuses, in its words, and how its model answers.

It checks types, not order: a result may stand anywhere. A prompt that is too long is cut, not
refused (docs/ollama.md).
"""
import json

ROLES = ('system', 'user', 'assistant', 'tool')


def refuse(laws, message, status=400):
    raise laws.Refusal(status, message)


def type_of(value):
    return {dict: 'object', list: 'array', str: 'string', bool: 'bool', type(None): 'null'}.get(
        type(value), 'number')


def want(laws, value, kind, where):
    """Go's words for a member of another type; null is no value everywhere."""
    if value is not None and not isinstance(value, kind):
        refuse(laws, f'json: cannot unmarshal {type_of(value)} into Go struct field {where}')


def check_message(laws, message):
    want(laws, message, dict, 'ChatRequest.messages of type api.Message')
    if str(message.get('role', '')).lower() not in ROLES:
        refuse(laws, f'invalid role: {message.get("role")}')
    for name in ('content', 'thinking', 'tool_name', 'tool_call_id'):
        want(laws, message.get(name), str, f'Message.messages.{name} of type string')
    want(laws, message.get('images'), list, 'Message.messages.images of type []api.ImageData')
    want(laws, message.get('tool_calls'), list,
         'Message.messages.tool_calls of type []api.ToolCall')
    for call in message.get('tool_calls') or []:
        function = call.get('function') or {}
        if not function.get('name'):
            refuse(laws, 'tool call must have a name')
        want(laws, function.get('arguments'), dict,
             'ToolCallFunction.messages.tool_calls.function.arguments of type '
             'api.ToolCallFunctionArguments')


def check(laws, body):
    want(laws, body, dict, 'of type api.ChatRequest')
    if not body.get('model'):
        refuse(laws, 'model is required')
    want(laws, body.get('messages'), list, 'ChatRequest.messages of type []api.Message')
    want(laws, body.get('options'), dict, 'ChatRequest.options of type map[string]interface {}')
    for message in body.get('messages') or []:
        check_message(laws, message)
    if body.get('tools') and body['model'].startswith('gemma3:'):
        refuse(laws, f'registry.ollama.ai/library/{body["model"]} does not support tools')
    if body['model'].startswith('absent'):
        refuse(laws, f'model \'{body["model"]}\' not found', 404)


def error(refusal):
    return {'error': refusal.message}


# ---- the model ----

def piece(turn, **message):
    return {'model': turn.model, 'created_at': '2026-11-15T10:00:00.000000Z',
            'message': {'role': 'assistant', 'content': '', **message}, 'done': False}


def calls_of(turn):
    return [{'function': {'name': name, 'arguments': json.loads(arguments)}}
            for _, name, arguments in turn.calls()]


def end(turn, **message):
    return {**piece(turn, **message), 'done': True, 'done_reason': 'stop', 'total_duration': 5,
            'load_duration': 1, 'prompt_eval_count': turn.input_tokens, 'prompt_eval_duration': 2,
            'eval_count': turn.output_tokens, 'eval_duration': 2}


def whole(turn):
    if turn.call_id:
        return end(turn, content=turn.aloud, tool_calls=calls_of(turn))
    return end(turn, content=turn.words)


def lines(turn):
    words = turn.aloud if turn.call_id else turn.words
    for word in words.split(' ') if words else []:
        yield piece(turn, content=word + ' ')
    if turn.call_id:
        yield piece(turn, tool_calls=calls_of(turn))
    yield end(turn)

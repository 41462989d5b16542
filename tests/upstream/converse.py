"""Bedrock's Converse: what it refuses, in its words, and how its model answers.

Its rules are those of docs/bedrock.md. What passes them is turned into a body of Messages, so that
laws.py checks the rest (pairs, signatures, markers' order), as Bedrock hands it on to Claude.
"""
import json
import re

TOP = {'messages', 'system', 'inferenceConfig', 'toolConfig', 'guardrailConfig',
       'additionalModelRequestFields', 'promptVariables', 'additionalModelResponseFieldPaths',
       'requestMetadata', 'performanceConfig', 'serviceTier', 'outputConfig'}
BLOCKS = {'text', 'image', 'document', 'video', 'audio', 'toolUse', 'toolResult', 'guardContent',
          'cachePoint', 'reasoningContent', 'citationsContent', 'searchResult'}
GIVEN = {'text', 'json', 'image', 'document', 'video', 'searchResult'}
NAME = re.compile(r'[a-zA-Z0-9_-]{1,64}')


class Invalid(Exception):
    pass


def kind_of(block, kinds, where):
    if not isinstance(block, dict) or len(block) != 1 or not set(block) <= kinds:
        raise Invalid(f'The value at {where} must have exactly one of its members set.')
    return next(iter(block))


def check_text(text, where):
    if not isinstance(text, str) or not text.strip():
        raise Invalid(f'The text field in the ContentBlock object at {where} is blank. Add text '
                      'to the text field, and try again.')


def check_point(point, before, where):
    if not isinstance(point, dict) or point.get('type') != 'default' or (
            point.get('ttl', '5m') not in ('5m', '1h')):
        raise Invalid(f'The cachePoint at {where} is invalid.')
    if not before:
        raise Invalid('There is nothing available to cache.')
    if 'reasoningContent' in before[-1]:
        raise Invalid('Cache point cannot be inserted after reasoning block. Please remove the '
                      'invalid cache point and try again.')


def check_result(result, where):
    if not isinstance(result.get('content'), list):
        raise Invalid(f'{where}.toolResult.content must be a list')
    if result.get('status', 'success') not in ('success', 'error'):
        raise Invalid(f'{where}.toolResult.status is no status')
    for n, given in enumerate(result['content']):
        kind = kind_of(given, GIVEN, f'{where}.toolResult.content.{n}')
        if kind == 'text':
            check_text(given['text'], f'{where}.toolResult.content.{n}')
        if kind == 'json' and not isinstance(given['json'], (dict, list)):
            raise Invalid(f'{where}: the format of the json is invalid')


def check_block(block, before, where):
    kind = kind_of(block, BLOCKS, where)
    if kind == 'text':
        check_text(block['text'], where)
    elif kind == 'cachePoint':
        check_point(block['cachePoint'], before, where)
    elif kind == 'toolUse':
        use = block['toolUse']
        if not NAME.fullmatch(use.get('toolUseId', '')) or not NAME.fullmatch(use.get('name', '')):
            raise Invalid(f'{where}.toolUse: an id or a name that is none')
        if not isinstance(use.get('input'), dict):
            raise Invalid(f'The format of the value at {where}.toolUse.input is invalid. Provide '
                          'a json object for the field and try again.')
    elif kind == 'toolResult':
        check_result(block['toolResult'], where)
    return kind


def check_messages(messages):
    if not isinstance(messages, list) or not messages:
        raise Invalid('A conversation must have at least one message.')
    if messages[0].get('role') != 'user':
        raise Invalid('A conversation must start with a user message. Try again with a '
                      'conversation that starts with a user message.')
    kinds = []
    for n, message in enumerate(messages):
        if message.get('role') not in ('user', 'assistant') or set(message) != {'role', 'content'}:
            raise Invalid(f'messages.{n}: not a message')
        if n and message['role'] == messages[n - 1]['role']:
            raise Invalid('A conversation must alternate between user and assistant roles. Make '
                          'sure the conversation alternates between user and assistant roles and '
                          'try again.')
        if not isinstance(message['content'], list) or not message['content']:
            raise Invalid(f'The content field in the Message object at messages.{n} is empty. Add '
                          'a ContentBlock object to the content field and try again.')
        for at, block in enumerate(message['content']):
            kinds.append(check_block(block, message['content'][:at], f'messages.{n}.content.{at}'))
    return kinds


def points(value):
    if isinstance(value, dict):
        return ('cachePoint' in value) + sum(points(v) for v in value.values())
    return sum(points(v) for v in value) if isinstance(value, list) else 0


def check(body):
    if not isinstance(body, dict) or set(body) - TOP:
        raise Invalid('Malformed input request: #: extraneous key is not permitted, please '
                      'reformat your input and try again.')
    kinds = check_messages(body.get('messages'))
    tools = (body.get('toolConfig') or {}).get('tools')
    if {'toolUse', 'toolResult'} & set(kinds) and not tools:
        raise Invalid('The toolConfig field must be defined when using toolUse and toolResult '
                      'content blocks.')
    if 'toolConfig' in body and not tools:
        raise Invalid('toolConfig.tools must have at least one tool')
    for n, tool in enumerate(tools or []):
        if kind_of(tool, {'toolSpec', 'cachePoint', 'systemTool'}, f'tools.{n}') == 'toolSpec' and (
                not NAME.fullmatch(tool['toolSpec']['name']) or
                'json' not in tool['toolSpec']['inputSchema']):
            raise Invalid(f'toolConfig.tools.{n} is no tool')
    for n, block in enumerate(body.get('system') or []):
        kind_of(block, {'text', 'cachePoint', 'guardContent'}, f'system.{n}')
        if 'text' in block:
            check_text(block['text'], f'system.{n}')
    if points(body) > 4:
        raise Invalid('The maximum number of cache points is 4.')


# ---- as Messages ----

def given_text(given):
    if 'text' in given:
        return {'type': 'text', 'text': given['text']}
    return {'type': 'text', 'text': json.dumps(given.get('json', given))}


def block_of(block):
    kind, value = next(iter(block.items()))
    if kind == 'text':
        return {'type': 'text', 'text': value}
    if kind == 'toolUse':
        return {'type': 'tool_use', 'id': value['toolUseId'], 'name': value['name'],
                'input': value['input']}
    if kind == 'toolResult':
        return {'type': 'tool_result', 'tool_use_id': value['toolUseId'],
                'content': [given_text(given) for given in value['content']],
                **({'is_error': True} if value.get('status') == 'error' else {})}
    if kind == 'reasoningContent':
        text = value['reasoningText']
        return {'type': 'thinking', 'thinking': text['text'], 'signature': text['signature']}
    return {'type': 'text', 'text': f'[{kind}]'}


def blocks_of(blocks):
    """A cache point becomes the marker of the block before it."""
    made = []
    for block in blocks:
        if 'cachePoint' in block:
            ttl = block['cachePoint'].get('ttl')
            made[-1]['cache_control'] = {'type': 'ephemeral', **({'ttl': ttl} if ttl else {})}
        else:
            made.append(block_of(block))
    return made


def as_messages(body, model):
    tools = [tool['toolSpec'] for tool in (body.get('toolConfig') or {}).get('tools') or []
             if 'toolSpec' in tool]
    return {'model': model, 'max_tokens': (body.get('inferenceConfig') or {}).get('maxTokens', 99),
            'messages': [{'role': m['role'], 'content': blocks_of(m['content'])}
                         for m in body['messages']],
            **({'system': blocks_of(body['system'])} if body.get('system') else {}),
            **({'tools': [{'name': tool['name'], 'description': tool.get('description', ''),
                           'input_schema': tool['inputSchema']['json']} for tool in tools]}
               if tools else {}),
            **(body.get('additionalModelRequestFields') or {})}


# ---- the model ----

def usage(said):
    return {'inputTokens': said['input_tokens'], 'outputTokens': said['output_tokens'],
            'totalTokens': sum(said[key] for key in (
                'input_tokens', 'output_tokens', 'cache_read_input_tokens',
                'cache_creation_input_tokens')),
            'cacheReadInputTokens': said['cache_read_input_tokens'],
            'cacheWriteInputTokens': said['cache_creation_input_tokens']}


def block_back(block):
    if block['type'] == 'text':
        return {'text': block['text']}
    if block['type'] == 'thinking':
        return {'reasoningContent': {'reasoningText': {'text': block['thinking'],
                                                       'signature': block['signature']}}}
    return {'toolUse': {'toolUseId': block['id'], 'name': block['name'], 'input': block['input']}}


def whole(answer):
    return {'metrics': {'latencyMs': 5}, 'stopReason': answer['stop_reason'],
            'output': {'message': {'role': 'assistant', 'content': [
                block_back(block) for block in answer['content']]}},
            'usage': usage(answer['usage'])}


def delta_back(delta):
    if 'text' in delta:
        return {'text': delta['text']}
    if 'partial_json' in delta:
        return {'toolUse': {'input': delta['partial_json']}}
    key = 'text' if 'thinking' in delta else 'signature'
    return {'reasoningContent': {key: delta.get('thinking', delta.get('signature'))}}


def events(said):
    """(name, payload) as Converse has them: only calls have an event that begins them."""
    for name, event in said:
        index = {'contentBlockIndex': event.get('index')}
        if name == 'message_start':
            yield 'messageStart', {'role': 'assistant'}
        elif name == 'content_block_start' and event['content_block']['type'] == 'tool_use':
            block = event['content_block']
            yield 'contentBlockStart', {**index, 'start': {'toolUse': {
                'toolUseId': block['id'], 'name': block['name']}}}
        elif name == 'content_block_delta':
            yield 'contentBlockDelta', {**index, 'delta': delta_back(event['delta'])}
        elif name == 'content_block_stop':
            yield 'contentBlockStop', index
        elif name == 'message_delta':
            yield 'messageStop', {'stopReason': event['delta']['stop_reason']}
            yield 'metadata', {'usage': usage(event['usage']), 'metrics': {'latencyMs': 5}}

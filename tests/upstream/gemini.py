"""Google's API: what it refuses, in its words, and how its model answers.

Of a request that is wrapped (Code Assist's {model, project, request}, countTokens' own) what is
inside counts. Calls are signed here: a call that comes back altered, or without its signature in
the turn at hand, is refused as current models do.
"""
import json
import re

BYTES_A_TOKEN = 4
DUMMY = 'skip_thought_signature_validator'
FIELDS = {'contents', 'tools', 'toolConfig', 'safetySettings', 'systemInstruction', 'model',
          'generationConfig', 'cachedContent', 'labels', 'session_id'}
WRAPPER_FIELDS = {'model', 'project', 'request', 'user_prompt_id', 'generateContentRequest'}
PARTS = {'text', 'thought', 'thoughtSignature', 'functionCall', 'functionResponse', 'inlineData',
         'fileData', 'executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse',
         'videoMetadata'}
SIGNING = re.compile(r'gemini-([3-9]|\d\d)')


def camel(name):
    return re.sub(r'_([a-z])', lambda m: m.group(1).upper(), name)


def spelt(value):
    """Names as the service knows them; it takes both spellings. What a call is called with and
    what a result says are nobody's names."""
    if isinstance(value, list):
        return [spelt(v) for v in value]
    if not isinstance(value, dict):
        return value
    names = {k if k in ('session_id', 'user_prompt_id') else camel(k): v for k, v in value.items()}
    return {k: v if k in ('args', 'response', 'parameters', 'parametersJsonSchema') and
            'name' in names else spelt(v) for k, v in names.items()}


def unwrap(body):
    for key in ('request', 'generateContentRequest'):
        if isinstance(body.get(key), dict):
            return body[key]
    return body


def sign(call, laws):
    return laws.mac(b'call', laws.canonical([call.get('name'), call.get('args')]))[:32]


def refuse(laws, message):
    raise laws.Refusal(400, message, kind='INVALID_ARGUMENT')


def check_names(laws, body, known, where=''):
    for name in body:
        if name not in known:
            refuse(laws, 'Invalid JSON payload received. Unknown name "%s"%s: Cannot find field.' %
                   (name, where and f' at \'{where}\''))


def check_part(laws, i, n, part):
    where = f'contents[{i}].parts[{n}]'
    check_names(laws, part, PARTS, where)
    kinds = [k for k in part if k not in ('thought', 'thoughtSignature', 'videoMetadata')]
    if len(kinds) != 1:
        refuse(laws, f'{where}.data: required oneof field \'data\' must have one initialized field')
    if kinds == ['text'] and not part['text'] and 'thoughtSignature' not in part:
        refuse(laws, f'Unable to submit request because {where} must have a text parameter.')
    given = part.get('functionResponse')
    if given is not None and not isinstance(given.get('response'), dict):
        refuse(laws, f'Invalid value at \'{where}.function_response.response\' '
               '(type.googleapis.com/google.protobuf.Struct)')
    for kind in ('functionCall', 'functionResponse'):
        if kind in part and not part[kind].get('name'):
            refuse(laws, f'GenerateContentRequest.{where}.{kind}.name: Name cannot be empty.')


def count(content, kind):
    return sum(kind in part for part in content.get('parts') or [])


def check_order(laws, contents):
    for i, content in enumerate(contents):
        before = contents[i - 1] if i else {'role': 'user', 'parts': []}
        asked, given = count(before, 'functionCall'), count(content, 'functionResponse')
        if given and not asked:
            refuse(laws, 'Please ensure that function response turn comes immediately after a '
                   'function call turn.')
        if asked and asked != given:
            refuse(laws, 'Please ensure that the number of function response parts is equal to the '
                   'number of function call parts of the function call turn.')
        if count(content, 'functionCall') and (not i or before.get('role') == 'model'):
            refuse(laws, 'Please ensure that function call turn comes immediately after a user '
                   'turn or after a function response turn.')
    if contents[-1].get('role') == 'model':
        refuse(laws, 'Please ensure that single turn requests end with a user role or the role '
               'field is empty, and that multiturn requests end with a user role.')


def check_signatures(laws, model, contents):
    """Of the turn at hand each step's first call; what was signed at all must be what it was."""
    words = max((i for i, c in enumerate(contents) if c.get('role', 'user') == 'user' and
                 count(c, 'text')), default=0)
    for i, content in enumerate(contents):
        calls = [part for part in content.get('parts') or [] if 'functionCall' in part]
        if calls and i > words and SIGNING.search(model) and 'thoughtSignature' not in calls[0]:
            refuse(laws, 'Function call is missing a thought_signature in functionCall parts. This '
                   'is required for tools to work correctly, and missing thought_signature may '
                   f'lead to degraded model performance. Position {i}.')
        for part in calls:
            given = part.get('thoughtSignature')
            if given not in (None, DUMMY) and given != sign(part['functionCall'], laws):
                refuse(laws, 'Corrupted thought signature.')


def check(laws, body, model):
    """Raises a Refusal, or gives the request, its names as the service knows them."""
    if not isinstance(body, dict):
        refuse(laws, 'Invalid JSON payload received.')
    inner = unwrap(body)
    if inner is not body:
        check_names(laws, body, WRAPPER_FIELDS)
    inner = spelt(inner)
    check_names(laws, inner, FIELDS)
    model = model or body.get('model') or inner.get('model', '')
    contents = inner.get('contents')
    if not model:
        refuse(laws, 'model is not specified')
    if not isinstance(contents, list) or not contents:
        refuse(laws, '* GenerateContentRequest.contents: contents is not specified')
    if inner.get('cachedContent') and any(k in inner for k in ('tools', 'systemInstruction')):
        refuse(laws, 'CachedContent can not be used with GenerateContent request setting '
               'system_instruction, tools or tool_config.')
    for i, content in enumerate(contents):
        if content.get('role', 'user') not in ('user', 'model', 'function'):
            refuse(laws, 'Please use a valid role: user, model.')
        if not content.get('parts'):
            refuse(laws, f'* GenerateContentRequest.contents[{i}].parts: contents.parts must not '
                   'be empty.')
        for n, part in enumerate(content['parts']):
            check_part(laws, i, n, part)
    if not inner.get('cachedContent'):
        check_order(laws, contents)
    check_signatures(laws, model, contents)
    return {**inner, 'model': model, 'is_wrapped': 'request' in body}


def check_size(laws, tokens, window_tokens):
    refuse(laws, f'The input token count ({tokens}) exceeds the maximum number of tokens allowed '
           f'({window_tokens}).')


def error(refusal):
    return {'error': {'code': refusal.status, 'message': refusal.message, 'status': refusal.kind}}


# ---- the model ----

def tools(body):
    for tool in body.get('tools') or []:
        for declaration in tool.get('functionDeclarations') or []:
            yield {**declaration, 'parameters': declaration.get('parametersJsonSchema') or
                   declaration.get('parameters') or {}}


def done_turns(body):
    return sum(count(content, 'functionResponse') for content in body['contents'])


def parts_of(turn, laws):
    """Of calls side by side the first is signed."""
    if not turn.call_id:
        return [{'text': turn.words}]
    parts = [{'text': turn.aloud}] if turn.aloud else []
    calls = [{'name': name, 'args': json.loads(arguments)} for _, name, arguments in turn.calls()]
    parts.append({'functionCall': calls[0], 'thoughtSignature': sign(calls[0], laws)})
    return parts + [{'functionCall': call} for call in calls[1:]]


def chunk(turn, parts, finish=None):
    usage = {'promptTokenCount': turn.input_tokens, 'totalTokenCount': turn.input_tokens}
    candidate = {'content': {'role': 'model', 'parts': parts}, 'index': 0}
    if finish:
        candidate['finishReason'] = finish
        usage.update(candidatesTokenCount=turn.output_tokens, thoughtsTokenCount=3,
                     cachedContentTokenCount=turn.cached_tokens,
                     totalTokenCount=turn.input_tokens + turn.output_tokens + 3)
    made = {'candidates': [candidate], 'usageMetadata': usage, 'modelVersion': turn.model,
            'responseId': f'resp-{turn.number}'}
    return {'response': made, 'traceId': 't'} if turn.body['is_wrapped'] else made


def whole(turn, laws):
    return chunk(turn, parts_of(turn, laws), 'STOP')


def events(turn, laws):
    if turn.call_id:
        for part in parts_of(turn, laws):
            yield None, chunk(turn, [part])
        yield None, chunk(turn, [{'text': ''}], 'STOP')
        return
    words = turn.words.split(' ')
    for word in words[:-1]:
        yield None, chunk(turn, [{'text': word + ' '}])
    yield None, chunk(turn, [{'text': words[-1]}], 'STOP')

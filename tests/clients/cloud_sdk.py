"""A tool loop of a vendor's SDK for Python at a cloud: cloud_sdk.py BASE_URL DOOR whole|stream

DOOR: azure, azure-login (Microsoft's token), azure-v1, openrouter, bedrock (an API key),
bedrock-signed (AWS keys of the client's, which Weir replaces), boto3 (likewise: it sends API keys
over HTTPS alone), boto3-converse (the same with Converse), vertex, vertex-google. There is no
recall tool: the proxy has its own. The model's last words are printed.
"""
import base64
import json
import sys

BASE, DOOR, HOW = sys.argv[1:]
IS_STREAM = HOW == 'stream'
CLAUDE = {'vertex': 'claude-sonnet-4-5@20250929'}.get(
    DOOR, 'us.anthropic.claude-sonnet-4-5-20250929-v1:0')
TASK = '[turns 8] [recall 1-3] Fix the bug.'
SCHEMA = {'type': 'object', 'properties': {'path': {'type': 'string'}}}
READ = []


def read_file():
    n = len(READ) + 1
    READ.append(n)
    return ''.join(f'2026-11-15 10:{i // 60:02}:{i % 60:02} INFO worker-{i % 7} fetched page {i} '
                   f'of run {n} in {i * 3 % 97} ms\n' for i in range(600))


def entra():
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip('=')
    return f'{part({"alg": "none"})}.{part({"iss": "https://sts.windows.net/t/"})}.c2ln'


# ---- Chat Completions ----

def chat_client():
    import openai
    if DOOR == 'azure':
        return openai.AzureOpenAI(azure_endpoint=BASE, api_key='azure-key',
                                  api_version='2026-01-01'), 'my-gpt'
    if DOOR == 'azure-login':
        return openai.AzureOpenAI(azure_endpoint=BASE, azure_ad_token_provider=entra,
                                  api_version='2026-01-01'), 'my-gpt'
    if DOOR == 'azure-v1':
        return openai.OpenAI(base_url=BASE + '/openai/v1', api_key='none',
                             default_headers={'api-key': 'azure-key'}), 'my-gpt'
    return openai.OpenAI(base_url=BASE + '/p/openrouter/api/v1', api_key='sk-or-v1-x'), 'gpt-5.4'


def chat_ask(client, model, messages):
    tools = [{'type': 'function', 'function': {'name': 'read_file', 'parameters': SCHEMA}}]
    if not IS_STREAM:
        return client.chat.completions.create(
            model=model, messages=messages, tools=tools).choices[0].message
    with client.chat.completions.stream(model=model, messages=messages, tools=tools,
                                        stream_options={'include_usage': True}) as stream:
        return stream.get_final_completion().choices[0].message


def chat():
    client, model = chat_client()
    messages = [{'role': 'user', 'content': TASK}]
    while True:
        message = chat_ask(client, model, messages)
        messages.append(message.to_dict(exclude_none=True) | {'content': message.content})
        for key in ('parsed',):
            messages[-1].pop(key, None)
        for call in messages[-1].get('tool_calls') or []:
            call['function'].pop('parsed_arguments', None)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            messages.append({'role': 'tool', 'tool_call_id': call.id, 'content': read_file()})


# ---- Messages ----

def messages_client():
    import anthropic
    if DOOR == 'vertex':
        return anthropic.AnthropicVertex(base_url=BASE + '/v1', region='us-east5', project_id='p',
                                         access_token='ya29.x')
    if DOOR == 'bedrock-signed':
        return anthropic.AnthropicBedrock(base_url=BASE, aws_region='us-east-1',
                                          aws_access_key='AKIDMINE', aws_secret_key='mine')
    return anthropic.AnthropicBedrock(base_url=BASE, aws_region='us-east-1', api_key='ABSKx')


def messages_ask(client, messages):
    asked = {'model': CLAUDE, 'max_tokens': 999, 'messages': messages, 'tools': [
        {'name': 'read_file', 'description': 'reads', 'input_schema': SCHEMA}]}
    if not IS_STREAM:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message()


def messages():
    client, items = messages_client(), [{'role': 'user', 'content': TASK}]
    while True:
        answer = messages_ask(client, items)
        items.append({'role': 'assistant', 'content': [
            block.to_dict() for block in answer.content]})
        calls = [block for block in answer.content if block.type == 'tool_use']
        if not calls:
            return ''.join(block.text for block in answer.content if block.type == 'text')
        items.append({'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': call.id, 'content': read_file()}
            for call in calls]})


def boto_ask(client, items):
    body = json.dumps({'anthropic_version': 'bedrock-2023-05-31', 'max_tokens': 999,
                       'messages': items, 'tools': [
                           {'name': 'read_file', 'description': 'r', 'input_schema': SCHEMA}]})
    if not IS_STREAM:
        return json.loads(client.invoke_model(modelId=CLAUDE, body=body)['body'].read())['content']
    blocks = []
    for event in client.invoke_model_with_response_stream(modelId=CLAUDE, body=body)['body']:
        said = json.loads(event['chunk']['bytes'])
        if said['type'] == 'content_block_start':
            blocks.append({**said['content_block'], 'json': ''})
        elif said['type'] == 'content_block_delta':
            blocks[said['index']]['json'] += said['delta'].get('partial_json', '')
            if 'text' in said['delta']:
                blocks[said['index']]['text'] += said['delta']['text']
    for block in blocks:
        text = block.pop('json')
        if block['type'] == 'tool_use':
            block['input'] = json.loads(text)
    return blocks


def boto():
    import boto3
    client = boto3.client('bedrock-runtime', endpoint_url=BASE, region_name='us-east-1',
                          aws_access_key_id='AKIDMINE', aws_secret_access_key='mine')
    items = [{'role': 'user', 'content': TASK}]
    while True:
        blocks = boto_ask(client, items)
        items.append({'role': 'assistant', 'content': blocks})
        calls = [block for block in blocks if block['type'] == 'tool_use']
        if not calls:
            return ''.join(block.get('text', '') for block in blocks)
        items.append({'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': call['id'], 'content': read_file()}
            for call in calls]})


def converse_ask(client, items):
    point = {'cachePoint': {'type': 'default'}}
    newest = {**items[-1], 'content': [*items[-1]['content'], point]}
    asked = {'modelId': CLAUDE, 'messages': [*items[:-1], newest],
             'inferenceConfig': {'maxTokens': 999}, 'system': [{'text': 'You fix bugs.'}, point],
             'toolConfig': {'tools': [{'toolSpec': {'name': 'read_file', 'inputSchema': {
                 'json': SCHEMA}}}, point]}}
    if not IS_STREAM:
        return client.converse(**asked)['output']['message']['content']
    blocks = {}
    for event in client.converse_stream(**asked)['stream']:
        start, delta = event.get('contentBlockStart'), event.get('contentBlockDelta')
        if start:
            blocks[start['contentBlockIndex']] = {'toolUse': {**start['start']['toolUse'],
                                                              'input': ''}}
        if delta and 'text' in delta['delta']:
            text = blocks.setdefault(delta['contentBlockIndex'], {'text': ''})
            text['text'] += delta['delta']['text']
        elif delta:
            blocks[delta['contentBlockIndex']]['toolUse']['input'] += (
                delta['delta']['toolUse']['input'])
    for block in blocks.values():
        if 'toolUse' in block:
            block['toolUse']['input'] = json.loads(block['toolUse']['input'] or '{}')
    return [blocks[index] for index in sorted(blocks)]


def boto_converse():
    import boto3
    client = boto3.client('bedrock-runtime', endpoint_url=BASE, region_name='us-east-1',
                          aws_access_key_id='AKIDMINE', aws_secret_access_key='mine')
    items = [{'role': 'user', 'content': [{'text': TASK}]}]
    while True:
        blocks = converse_ask(client, items)
        items.append({'role': 'assistant', 'content': blocks})
        calls = [block['toolUse'] for block in blocks if 'toolUse' in block]
        if not calls:
            return ''.join(block.get('text', '') for block in blocks)
        items.append({'role': 'user', 'content': [
            {'toolResult': {'toolUseId': call['toolUseId'], 'content': [{'text': read_file()}]}}
            for call in calls]})


# ---- Gemini on Vertex ----

def vertex_google():
    import google.auth.credentials
    from google import genai
    from google.genai import types

    class Login(google.auth.credentials.Credentials):
        def __init__(self):
            super().__init__()
            self.token = 'ya29.x'

        def refresh(self, request):
            pass

    client = genai.Client(vertexai=True, project='p', location='us-east5', credentials=Login(),
                          http_options=types.HttpOptions(base_url=BASE))
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[
        types.FunctionDeclaration(name='read_file', description='r',
                                  parameters_json_schema=SCHEMA)])])
    contents = [types.Content(role='user', parts=[types.Part(text=TASK)])]
    while True:
        if IS_STREAM:
            parts = []
            for chunk in client.models.generate_content_stream(
                    model='gemini-2.5-pro', contents=contents, config=config):
                parts += [p for p in chunk.candidates[0].content.parts or [] if p.text != '']
            content = types.Content(role='model', parts=parts)
        else:
            content = client.models.generate_content(model='gemini-2.5-pro', contents=contents,
                                                     config=config).candidates[0].content
        contents.append(content)
        calls = [part.function_call for part in content.parts if part.function_call]
        if not calls:
            return ''.join(part.text or '' for part in content.parts)
        contents.append(types.Content(role='user', parts=[
            types.Part.from_function_response(name=call.name, response={'result': read_file()})
            for call in calls]))


PLAY = {'boto3': boto, 'boto3-converse': boto_converse, 'bedrock': messages,
        'bedrock-signed': messages, 'vertex': messages,
        'vertex-google': vertex_google}
print(PLAY.get(DOOR, chat)().strip())

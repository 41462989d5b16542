"""A tool loop of Google's SDK for Python: genai_sdk.py BASE_URL whole|stream|automatic"""
import sys

from google import genai
from google.genai import types

BASE, HOW = sys.argv[1:]
MODEL = 'gemini-3.8-flash'
CLIENT = genai.Client(api_key='k', http_options=types.HttpOptions(base_url=BASE))
READ = []


def read_file(path: str) -> str:
    """Reads a file."""
    n = len(READ) + 1
    READ.append(path)
    return '\n'.join(f'def function_{n}_{i}(value):\n    total = value + {i}\n'
                     f'    return total * {n}\n' for i in range(300))


def weir_recall(handle: str) -> str:
    """Gives back what was left out."""
    return handle


def automatic():
    """The SDK itself calls what the model asks for."""
    config = types.GenerateContentConfig(tools=[read_file, weir_recall])
    return CLIENT.models.generate_content(model=MODEL, contents='[turns 8] Fix the bug.',
                                          config=config).text


def ask(contents, config):
    if HOW == 'whole':
        return CLIENT.models.generate_content(model=MODEL, contents=contents,
                                              config=config).candidates[0].content
    parts = []
    for chunk in CLIENT.models.generate_content_stream(model=MODEL, contents=contents,
                                                       config=config):
        parts += [part for part in chunk.candidates[0].content.parts or [] if part.text != '']
    return types.Content(role='model', parts=parts)


def by_hand():
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[
            types.FunctionDeclaration(name=name, description=name, parameters_json_schema={
                'type': 'object', 'properties': {}}) for name in ('read_file', 'weir_recall')])])
    contents = [types.Content(role='user', parts=[types.Part(text='[turns 8] Fix the bug.')])]
    while True:
        content = ask(contents, config)
        contents.append(content)
        calls = [part.function_call for part in content.parts if part.function_call]
        if not calls:
            return ''.join(part.text or '' for part in content.parts)
        contents.append(types.Content(role='user', parts=[
            types.Part.from_function_response(name=call.name, response={
                'result': read_file('x')}) for call in calls]))


print(automatic() if HOW == 'automatic' else by_hand())

"""A tool loop by Google's SDK: google_sdk.py BASE_URL gemini-HOW; HOW is whole, stream, or
automatic: the SDK itself runs what the model calls."""
import os

from google import genai
from google.genai import types

from loop import BASE, HOW, IS_STREAM, TASKS, TOOLS, report, run

MODEL = 'gemini-3.8-flash'
CLIENT = genai.Client(api_key='k', http_options=types.HttpOptions(base_url=BASE))


def ask(contents, config):
    if not IS_STREAM:
        return CLIENT.models.generate_content(model=MODEL, contents=contents,
                                              config=config).candidates[0].content
    parts = []
    for chunk in CLIENT.models.generate_content_stream(model=MODEL, contents=contents,
                                                       config=config):
        parts += [part for part in chunk.candidates[0].content.parts or [] if part.text != '']
    return types.Content(role='model', parts=parts)


def by_hand():
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[
        types.FunctionDeclaration(name=tool.name, description=tool.description,
                                  parameters_json_schema=tool.schema) for tool in TOOLS])])
    left = list(TASKS)
    contents = [types.Content(role='user', parts=[types.Part(text=left.pop(0))])]
    while True:
        content = ask(contents, config)
        contents.append(content)
        calls = [part.function_call for part in content.parts if part.function_call]
        if not calls and not left:
            return report(contents, ''.join(part.text or '' for part in content.parts))
        contents.append(types.Content(role='user', parts=[
            types.Part.from_function_response(name=call.name, response={
                'result': run(call.name, call.args)}) for call in calls] or
            [types.Part(text=left.pop(0))]))


def automatic():
    def run_query(path: str) -> str:
        """Brings a text."""
        return run(os.environ['TOOL'], {'path': path})

    def weir_recall(handle: str, lines: str = '') -> str:
        """Gives back what was left out."""
        return run('weir_recall', {'handle': handle, 'lines': lines})

    assert run_query.__name__ == os.environ['TOOL']
    functions = [run_query, weir_recall][:len(TOOLS)]
    chat = CLIENT.chats.create(model=MODEL, config=types.GenerateContentConfig(
        tools=functions, automatic_function_calling=types.AutomaticFunctionCallingConfig(
            maximum_remote_calls=20)))
    for task in TASKS:
        words = chat.send_message(task).text
    report(chat.get_history(), words)


automatic() if HOW == 'automatic' else by_hand()

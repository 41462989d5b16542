"""What the Python clients here have in common: the task, its files, a recall tool, their report.

    TOOL     the name of the tool that brings the files
    TASK     what the scripted model is told; TASK_AFTER: what it is told when it has ended
    RECALL   `mcp`: weir_recall is offered, its calls go to MCP_URL; else it is not offered
"""
import json
import os
import re
import sys
import urllib.request

BASE, CASE = sys.argv[1:3]
API, HOW = CASE.split('-')
TASKS = [os.environ['TASK'], os.environ['TASK_AFTER']]
IS_STREAM = HOW == 'stream'


def ask(method, params):
    body = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}).encode()
    request = urllib.request.Request(os.environ['MCP_URL'], body, {
        'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream'})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)['result']


class Tool:
    """One that the client runs; `schema` is of its arguments."""

    def __init__(self, name, description, schema, run):
        self.name, self.description, self.schema, self.run = name, description, schema, run


def bring(path='', **_):
    n = (re.findall(r'\d+', path) or [0])[0]
    return '\n'.join(f'def function_{n}_{i}(value):\n    total = value + {i}\n'
                     f'    return total * {n}\n' for i in range(300))


def recall(**arguments):
    return ask('tools/call', {'name': 'weir_recall', 'arguments': arguments})['content'][0]['text']


def all_tools():
    path = {'type': 'object', 'properties': {'path': {'type': 'string'}}, 'required': ['path']}
    tools = [Tool(os.environ['TOOL'], 'brings a text', path, bring)]
    if os.environ.get('RECALL') == 'mcp':
        tools += [Tool(tool['name'], tool['description'], tool['inputSchema'], recall)
                  for tool in ask('tools/list', {})['tools'] if tool['name'] == 'weir_recall']
    return tools


TOOLS = all_tools()


def run(name, arguments):
    arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    return next(tool for tool in TOOLS if tool.name == name).run(**arguments)


def report(history, words):
    """All that the client has, then the model's last words."""
    print(repr(history))
    print(words)

#!/usr/bin/env python3
"""An MCP server on stdin and stdout with one tool, `weir_recall`, which nobody calls here: a host
that offers it has a way to get text back."""
import json
import sys

TOOL = {'name': 'weir_recall', 'description': 'Brings back text that was taken out.',
        'inputSchema': {'type': 'object', 'properties': {'handle': {'type': 'string'}}}}
RESULTS = {'tools/list': {'tools': [TOOL]}, 'resources/list': {'resources': []},
           'prompts/list': {'prompts': []}, 'ping': {},
           'tools/call': {'content': [{'type': 'text', 'text': 'never stored'}]}}

for line in sys.stdin:
    message = json.loads(line)
    if 'id' not in message:
        continue
    result = RESULTS.get(message['method'], {})
    if message['method'] == 'initialize':
        result = {'protocolVersion': message['params']['protocolVersion'],
                  'capabilities': {'tools': {}}, 'serverInfo': {'name': 'weir', 'version': '1'}}
    print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)

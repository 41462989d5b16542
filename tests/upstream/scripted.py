"""An upstream that says what it is told to say, answer by answer, in any of the three APIs."""
import http.server
import json
import socketserver
import threading


def chat(words='Done.', calls=(), finish=None, **usage):
    """A whole Chat Completions answer. `calls`: (id, name, arguments)."""
    message = {'role': 'assistant', 'content': words}
    if calls:
        message = {'role': 'assistant', 'content': None, 'tool_calls': [
            {'id': i, 'type': 'function',
             'function': {'name': name, 'arguments': json.dumps(arguments)}}
            for i, name, arguments in calls]}
    answer = {'id': 'chatcmpl-1', 'object': 'chat.completion', 'model': 'm', 'choices': [
        {'index': 0, 'message': message,
         'finish_reason': finish or ('tool_calls' if calls else 'stop')}]}
    if usage:
        answer['usage'] = {'prompt_tokens': usage['prompt'], 'completion_tokens': 5,
                           'total_tokens': usage['prompt'] + 5, 'prompt_tokens_details': {
                               'cached_tokens': usage.get('read', 0)}}
    return 200, answer


def messages(words='Done.', finish='end_turn', prompt=0, read=0, written=0, **more):
    return 200, {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm',
                 'content': [{'type': 'text', 'text': words}], 'stop_reason': finish,
                 'usage': {'input_tokens': prompt - read - written, 'output_tokens': 5,
                           'cache_read_input_tokens': read,
                           'cache_creation_input_tokens': written}, **more}


def responses(words='Done.', status='completed', prompt=0, read=0, **more):
    return 200, {'id': 'resp_1', 'object': 'response', 'status': status, 'model': 'm',
                 'output': [{'type': 'message', 'role': 'assistant', 'content': [
                     {'type': 'output_text', 'text': words}]}],
                 'usage': {'input_tokens': prompt, 'output_tokens': 5, 'total_tokens': prompt + 5,
                           'input_tokens_details': {'cached_tokens': read}}, **more}


def refusal(message, code=None, status=400, kind='invalid_request_error'):
    return status, {'type': 'error', 'error': {'type': kind, 'code': code, 'message': message}}


class Scripted:
    """Answers with what `say` was given, the last of it again when there is no more."""

    def __init__(self):
        self.script, self.bodies, self.lock = [chat()], [], threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *args):
                pass

            def do_POST(self):
                raw = self.rfile.read(int(self.headers['Content-Length']))
                status, answer = outer.next(raw)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        self.server = Server(('127.0.0.1', 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self, raw):
        with self.lock:
            self.bodies.append(json.loads(raw))
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def say(self, *answers):
        with self.lock:
            self.script = list(answers)

    def stop(self):
        self.server.shutdown()

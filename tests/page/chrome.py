"""Chromium by the DevTools protocol over a pipe: no package beside the browser is needed.

An open stream of events never lets a browser's virtual time end, so nothing here waits for a page
to be idle: what must be seen is waited for.
"""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import threading

from harness import PATIENCE_SECONDS, wait_for


def find():
    """The browser; None: there is none."""
    return shutil.which('chromium') or shutil.which('chromium-browser')


class Chrome:
    def __init__(self, folder):
        to_child, self.write_fd = os.pipe()
        self.read_fd, from_child = os.pipe()
        command = [find(), '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
                   '--disable-dev-shm-usage', '--hide-scrollbars',
                   '--disable-background-networking', '--remote-debugging-pipe',
                   f'--user-data-dir={folder}/chrome', 'about:blank']
        # The protocol wants descriptors 3 and 4.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in (to_child, from_child)]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=place,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in high:
            os.close(fd)
        os.close(to_child)
        os.close(from_child)
        self.lock = threading.Lock()
        self.answers, self.events, self.number = {}, [], 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        data = b''
        while piece := os.read(self.read_fd, 1 << 16):
            data += piece
            *whole, data = data.split(b'\0')
            for text in whole:
                message = json.loads(text)
                with self.lock:
                    if 'id' in message:
                        self.answers[message['id']] = message
                    else:
                        self.events.append(message)

    def call(self, method, session=None, **parameters):
        with self.lock:
            self.number += 1
            number = self.number
        message = {'id': number, 'method': method, 'params': parameters}
        if session:
            message['sessionId'] = session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.write_fd, data):]
        answer = wait_for(lambda: self.answers.pop(number, None), PATIENCE_SECONDS)
        if not answer or 'error' in answer:
            raise RuntimeError(f'{method}: {answer}')
        return answer['result']

    def page(self, url='about:blank', width=1280, height=900, dark=False):
        return Page(self, url, width, height, dark)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Page:
    def __init__(self, chrome, url, width, height, dark):
        self.chrome = chrome
        target = chrome.call('Target.createTarget', url='about:blank')['targetId']
        self.target = target
        self.session = chrome.call('Target.attachToTarget', targetId=target,
                                   flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.size(width, height)
        self.dark(dark)
        if url != 'about:blank':
            self.go(url)

    def call(self, method, **parameters):
        return self.chrome.call(method, self.session, **parameters)

    def size(self, width, height=900):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)

    def dark(self, is_dark):
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if is_dark else 'light'}])

    def go(self, url):
        self.call('Page.navigate', url=url)

    def eval(self, expression):
        """The value of an expression of JavaScript; a promise is waited for."""
        answer = self.call('Runtime.evaluate', expression=expression, awaitPromise=True,
                           returnByValue=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(expression[:200] + json.dumps(answer['exceptionDetails'])[:800])
        return answer['result'].get('value')

    def wait(self, expression, seconds=PATIENCE_SECONDS):
        """Waits until the expression is true; gives its value."""
        def ask():
            try:
                return self.eval(expression)
            except RuntimeError:  # the page is between two documents
                return None
        return wait_for(ask, seconds)

    def text(self, selector='main'):
        return self.eval(f'document.querySelector({json.dumps(selector)})?.innerText')

    def click(self, selector):
        return self.eval(f'(() => {{ const n = document.querySelector({json.dumps(selector)});'
                         'if (!n) return false; n.click(); return true; })()')

    def click_text(self, tag, words):
        return self.eval(
            f'(() => {{ const n = [...document.querySelectorAll({json.dumps(tag)})].find(e =>'
            f' e.textContent.trim().startsWith({json.dumps(words)}));'
            'if (!n) return false; n.click(); return true; })()')

    def key(self, key):
        codes = {'ArrowLeft': 37, 'ArrowRight': 39, 'Enter': 13, 'Tab': 9, 'Home': 36, 'End': 35}
        for kind in ('rawKeyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes.get(key, 0))

    def picture(self, path):
        size = self.call('Page.getLayoutMetrics')['cssContentSize']
        data = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=True, clip={
            'x': 0, 'y': 0, 'width': size['width'], 'height': min(size['height'], 4000),
            'scale': 1})
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data['data']))

    def troubles(self):
        """What the browser complained about: exceptions, refusals of its policy, failed loads."""
        with self.chrome.lock:
            events = [e for e in self.chrome.events if e.get('sessionId') == self.session]
        out = [json.dumps(e['params'])[:600] for e in events
               if e['method'] == 'Runtime.exceptionThrown' or
               (e['method'] == 'Log.entryAdded' and e['params']['entry']['level'] == 'error')]
        return out

    def close(self):
        self.chrome.call('Target.closeTarget', targetId=self.target)

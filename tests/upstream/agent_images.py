"""Images that a user names in a message of `weir agent`: sent, kept, sent again after kill -9."""
import base64
import hashlib
import json
import os
import struct
import zlib

from agent_home import MODELS, Home, Terminal, call, write_file
from harness import PATIENCE_SECONDS, STARTED, Upstream, lives, wait_for


def png(width, height, shade):
    """A whole picture of one grey."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))
    rows = (b'\0' + bytes([shade]) * width) * height
    head = struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head)
            + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def put(home, name, data):
    with open(home.path(name), 'wb') as file:
        file.write(data)
    return home.path(name)


def shapes(data, kind):
    """How the APIs have it; the sixth is not spoken by `weir agent`."""
    text = base64.b64encode(data).decode()
    url = f'data:image/{kind};base64,{text}'
    return {'chat': {'type': 'image_url', 'image_url': {'url': url}},
            'responses': {'type': 'input_image', 'image_url': url},
            'messages': {'type': 'image', 'source': {
                'type': 'base64', 'media_type': f'image/{kind}', 'data': text}},
            'gemini': {'inlineData': {'mimeType': f'image/{kind}', 'data': text}},
            'ollama': text}


def count(value, wanted):
    """How many times `wanted` stands in a body, whole; a cache marker on it does not matter."""
    if isinstance(value, dict):
        bare = {k: v for k, v in value.items() if k != 'cache_control'}
        return (bare == wanted) + sum(count(v, wanted) for v in value.values())
    if isinstance(value, list):
        return sum(count(v, wanted) for v in value)
    return value == wanted


def last(upstream):
    return json.loads(upstream.last_body())


def every_api(folder, ok):
    upstream, home, picture = Upstream(folder), Home(folder), png(640, 480, 90)
    put(home, 'shot.png', picture)
    for api in MODELS:
        wanted = shapes(picture, 'png')[api]
        told = f'[image: shot.png, 640x480, {-(-len(picture) // 1024)} KB]'
        code, out, err = home.run(upstream, api, '-p', 'Look at @shot.png, please.', '--session',
                                  api)
        ok(f'images, {api}: it is told by a word', (code, told in err),
           (0, True))
        ok(f'images, {api}: it is in the request', count(last(upstream), wanted), 1)
        ok(f'images, {api}: and the path is text', 'Look at @shot.png, please.' in
           upstream.last_body().decode())
        os.rename(home.path('shot.png'), home.path('away.png'))
        home.run(upstream, api, '-p', 'And now?', '--session', api)
        os.rename(home.path('away.png'), home.path('shot.png'))
        ok(f'images, {api}: the session goes on with it', count(last(upstream), wanted), 1)
        ok(f'images, {api}: kept by its hash, no byte of it in the journal',
           (os.listdir(home.session_file(api, 'images')),
            shapes(picture, 'png')['ollama'] in json.dumps(home.events(api))),
           ([hashlib.sha256(picture).hexdigest() + '.png'], False))
    ok('images: nothing was refused', upstream.stats()['refused'], 0)
    upstream.stop()


def other_kinds(folder, ok):
    """By their bytes, not by their names; dropped paths; what cannot be sent."""
    upstream, home = Upstream(folder), Home(folder)
    gif, picture = b'GIF89a\x0a\0\x05\0\0\0\0;', png(3, 2, 7)
    put(home, 'picture.dat', gif)
    spaced = put(home, 'my shot.png', picture)
    put(home, 'large.png', picture + bytes(5 * 1024 * 1024))
    put(home, 'words.png', b'not a picture')
    os.mkfifo(home.path('pipe.png'))
    os.symlink('/dev/zero', home.path('zero.png'))
    away = os.path.join(folder, 'away.png')
    with open(away, 'wb') as file:
        file.write(picture)
    os.symlink(away, home.path('link.png'))
    elsewhere = 'link.png is sent as text: it is outside of the working directory'
    for text, told, kind, data in (
            ('@picture.dat', '[image: picture.dat, 10x5, 1 KB]', 'gif', gif),
            (f"'{spaced}' what is it?", '[image: my shot.png, 3x2, 1 KB]', 'png', picture),
            (spaced.replace(' ', '\\ '), '[image: my shot.png, 3x2, 1 KB]', 'png', picture),
            ('see @none.png', 'none.png is sent as text: No such file', None, None),
            ('see @large.png', 'large.png is sent as text: an image has at most 5 MB', None, None),
            ('see @words.png', 'words.png is sent as text: not an image', None, None),
            ('see @pipe.png', 'pipe.png is sent as text: is no regular file', None, None),
            ('see @zero.png', 'zero.png is sent as text: is no regular file', None, None),
            ('see @link.png', '[image: link.png, 3x2, 1 KB]', 'png', picture),
            ('a log\nof @link.png', elsewhere, None, None),
            (f'a log\nof @{away}', 'it is outside of the working directory', None, None),
            ('a log\nof @picture.dat', '[image: picture.dat', 'gif', gif),
            ('see @src/file_1.py, @alice', '', None, None)):
        code, _, err = home.run(upstream, 'chat', '-p', text)
        ok(f'images: {text[-20:]}: what is told', (code, told in err, bool(err)),
           (0, True, bool(told)))
        body = last(upstream)
        if kind:
            ok(f'images: {text[-20:]}: sent', count(body, shapes(data, kind)['chat']), 1)
        else:
            ok(f'images: {text[-20:]}: no image', 'image_url' in json.dumps(body), False)
        ok(f'images: {text[-20:]}: the words are there', text in [
            m['content'].split('\n\n')[0] if isinstance(m['content'], str)
            else m['content'][0]['text'].split('\n\n')[0]
            for m in body['messages'] if m['role'] == 'user'])
    upstream.stop()


def killed(folder, ok):
    """kill -9 while a command runs: the next process sends the very same picture."""
    for api in ('chat', 'messages'):
        mark = f'sleep 7{os.getpid()}{len(api)}{ord(api[0])}'
        steps = [call('process_start', command=mark, wait_seconds=600), {'words': 'I see.'}]
        upstream = Upstream(folder, '--script', write_file(folder, 'script', json.dumps(steps)))
        home, picture = Home(folder), png(64, 64, 200)
        put(home, 'a.png', picture)
        process = home.start(upstream, api, '-p', 'Mind @a.png', '--yes', '--session', 'k')
        STARTED.append(process)
        ok(f'images, {api}: the command runs', bool(wait_for(lambda: lives(mark))))
        process.kill()
        process.communicate(timeout=PATIENCE_SECONDS)
        os.remove(home.path('a.png'))
        code, _, err = home.run(upstream, api, '-p', '', '--session', 'k')
        ok(f'images, {api}: killed, it goes on with the picture',
           (code, count(last(upstream), shapes(picture, 'png')[api])), (0, 1))
        ok(f'images, {api}: killed, nothing was refused', upstream.stats()['refused'], 0)
        upstream.stop()


def blind(folder, ok):
    """A model that takes no images is asked again without, and the session is not stuck."""
    for api in ('chat', 'ollama'):
        upstream, home = Upstream(folder, '--blind'), Home(folder)
        put(home, 'a.png', png(4, 4, 1))
        code, _, err = home.run(upstream, api, '-p', 'Look: @a.png', '--session', 'b')
        told = [line for line in err.splitlines() if 'refused' in line]
        ok(f'images, {api}: a blind model: one line says so', (code, len(told), [
            'asking again without the images, their paths stay as text' in t for t in told]),
           (0, 1, [True]))
        ok(f'images, {api}: a blind model gets the path',
           ('Look: @a.png' in upstream.last_body().decode(), upstream.stats()['refused']),
           (True, 1))
        upstream.stop()


def images(folder, ok):
    every_api(folder, ok)
    other_kinds(folder, ok)
    killed(folder, ok)
    blind(folder, ok)


def terminal_images(folder, ok):
    """A path that is dropped on the terminal is no command."""
    upstream, home, picture = Upstream(folder), Home(folder), png(20, 10, 5)
    path = put(home, 'drop me.png', picture)
    term = Terminal(home, home.command(upstream, 'chat', '--session', 't'))
    ok('images: the terminal is there', term.shows('· t'))
    term.type(path.replace(' ', '\\ ') + ' What is it?', 'Enter')
    ok('images: the terminal shows a word for it', term.shows('[image: drop me.png, 20x10, 1 KB]'))
    ok('images: and it was sent', bool(wait_for(lambda: upstream.stats()['requests'])) and
       count(last(upstream), shapes(picture, 'png')['chat']), 1)
    term.close()
    upstream.stop()

"""The page in a real Chromium: every view on a store that recorded sessions have filled.

  page_cases.py PICTURES      where pictures of the views go (three widths, light and dark)

AXE names axe.min.js of axe-core; without it nothing is said of accessibility.
"""
import glob
import json
import os
import re
import subprocess
import sys
import time
from urllib.parse import quote

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import play  # noqa: E402
import chrome  # noqa: E402
from harness import PATIENCE_SECONDS, Checks, Folder, wait_for  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
REQUESTS = int(os.environ.get('REQUESTS', '500'))
WIDTHS = (390, 820, 1280)


class Site:
    """A server, its page and short ways to ask both."""

    def __init__(self, weir, page):
        self.weir, self.page = weir, page
        self.root = f'http://127.0.0.1:{weir.port}/weir/'

    def api(self, path=''):
        return json.loads(self.weir.get('/weir/v1/traffic' + path)[1])

    def show(self, view, until):
        self.page.go('about:blank')
        self.page.go(self.root + '#/' + view)
        return bool(self.page.wait(f'!!document.querySelector({json.dumps(until)})'))

    def value(self, selector, name='value'):
        return self.page.eval(
            f'Number(document.querySelector({json.dumps(selector)})?.dataset.{name})')


def sessions_view(site):
    ok('sessions are listed', site.show('sessions', 'tbody tr'))
    told = report_of(site)['all']
    ok('saved is as `weir report` has it', site.value('#sum-saved'), told['saved_micro_usd'])
    ok('so is paid', site.value('#sum-paid'), told['micro_usd'])
    ok('and what was sent', site.value('#sum-sent'), told['sent_tokens'])
    listed = site.api('/sessions')['sessions']
    rows = site.page.eval('[...document.querySelectorAll("tbody tr")].map(r => [r.dataset.session,'
                          'Number(r.querySelector("[data-saved]").dataset.saved)])')
    ok('rows are as the server has them', rows,
       [[s['session'], s['saved_micro_usd']] for s in listed])
    ok('the top line is live', site.page.wait('document.querySelector("#live")?.textContent'
                                              ' === "live"'))
    name = listed[-1]['session']
    site.page.eval('(() => { const f = document.querySelector("input[type=search]");'
                   f'f.value = {json.dumps(name[-6:])}; f.dispatchEvent(new Event("input")); }})()')
    ok('a search finds one', site.page.wait(
        'document.querySelectorAll("tbody tr").length === 1 &&'
        f'document.querySelector("tbody tr").dataset.session === {json.dumps(name)}'))
    return listed


def session_view(site, session):
    name = session['session']
    ok('a session is drawn', site.show('session?s=' + quote(name), '.charts svg path.k-results'))
    ok('its money is the server\'s', site.value('#session-saved'), session['saved_micro_usd'])
    rows = site.api('/session?session=' + quote(name))['rows']
    ok('the table says the same', site.page.eval(
        '[...document.querySelectorAll("td[data-sent]")].map(c => Number(c.dataset.sent))'),
       [r['sent'] for r in rows])
    ok('it can be reached by keys', site.page.eval(
        'document.querySelector("[role=slider]").focus(), document.activeElement.role'), 'slider')
    site.page.key('Home')
    site.page.key('ArrowRight')
    ok('the arrow keys read one request', site.page.wait(
        'document.querySelector("[role=slider]").getAttribute("aria-valuenow") === "2"'))
    ok('in words', 'Request 2 of' in site.page.text('#readout'))
    site.page.key('Enter')
    ok('Enter opens it', site.page.wait('!!document.querySelector("#request-lead")'))
    ok('the right one', f'id={rows[1]["id"]}' in site.page.eval('location.hash'))
    return rows


def row_with_edits(site, listed):
    """A request that has a result in a shorter form."""
    for session in listed:
        rows = site.api('/session?session=' + quote(session['session']))['rows']
        for row in rows[::-5]:
            if any(s['change'] == 'edited' and s.get('handle')
                   for s in site.api(f'/request?id={row["id"]}')['segments']):
                return row
    raise RuntimeError('no request has a shorter form of anything')


def request_view(site, row):
    ok('a request is shown', site.show(f'request?id={row["id"]}', '.changes li'))
    view = site.api(f'/request?id={row["id"]}')
    ok('its size is that of the bytes', site.value('#request-lead', 'sent'), view['sent_bytes'])
    edited = [s for s in view['segments'] if s['change'] == 'edited' and s.get('handle')]
    shown = site.page.eval('[...document.querySelectorAll(".change .sizes[data-before]")].map(n =>'
                           ' [Number(n.dataset.before), Number(n.dataset.after)])')
    ok('each change has its sum', all([s['tokens_before'], s['tokens_after']] in shown
                                      for s in edited[:20]))
    says = site.page.text('.changes')
    ok('and a sentence', all(s['says'] in says for s in edited[:20]))
    ok('a difference is shown', site.page.click_text('.change button', 'Difference') and
       site.page.wait('document.querySelectorAll(".diff.gone").length > 0'))
    ok('an original is shown', site.page.click_text('.change button', 'Original') and
       site.page.wait('!!document.querySelector(".change pre.text")'))
    ok('the map has both', site.page.eval('document.querySelectorAll(".minimap rect").length > 4'))


def report_of(site):
    return json.loads(subprocess.run(
        [os.environ.get('WEIR', 'build/weir'), 'report', '--json', '--store', site.weir.store],
        stdout=subprocess.PIPE, check=True).stdout)


def overview(site):
    """The sums of `weir report`, as the file that it writes shows them."""
    ok('the overview is drawn', site.show('overview', '#answer'))
    sums = report_of(site)['all']
    for name, member in (('saved', 'saved_micro_usd'), ('paid', 'micro_usd'),
                         ('sent', 'sent_tokens')):
        ok(f'overview: {name} is as `weir report` has it', site.value(f'#all-{name}'),
           sums[member])
    ok('in a sentence', f'{sums["requests"]:,} requests' in site.page.text('#answer'))


def cache_view(site):
    ok('the cache view has its culprits', site.show('cache', '.advice li'))
    busts = site.api('/busts')['busts']
    others = [b for b in busts if b['bust'] != 'weir']
    sums = report_of(site)['all']
    ok('its tokens are those of `weir report`', sum(b['lost'] for b in busts),
       sum(sums['bust_tokens'].values()))
    ok('so is its money', sum(b['micro_usd'] for b in busts),
       sum(sums['bust_micro_usd'].values()))
    lead = site.page.text('.lead')
    ok('said in words', f'{sum(b["lost"] for b in others):,} tokens' in lead)
    site.page.eval('(s => { s.value = "money"; s.dispatchEvent(new Event("change")); })'
                   '(document.querySelector("[data-key=\\"f:unit\\"]"))')
    ok('bars of money too', site.page.wait('!!document.querySelector("[data-unit=money] .chart")')
       and '$' in site.page.eval('document.querySelector(".chart .axis").textContent'))
    told = site.page.text('.advice')
    ok('each culprit has its advice', all(b['says'] in told for b in others))


def recall_view(site, again):
    """Who asked for what again, and when; a search by text and by pattern."""
    name = quote(again)
    ok('what was taken out is listed', site.show('recall?s=' + name, 'tbody tr'))
    listed = site.api('/originals?session=' + name)
    ok('an original a row', site.page.eval(
        'document.querySelector("[aria-label=Originals] tbody").rows.length'),
       len(listed['originals']))
    ok('two recalls, one missed', site.page.eval(
        '[...document.querySelectorAll("tr[data-recalls]")].map(r => [Number(r.dataset.recalls),'
        ' Number(r.dataset.misses)])'), [[1, 0], [0, 1]])
    ok('with their handles', all(r['handle'] in site.page.text('[aria-label=Recalls]')
                                 for r in listed['recalls']))
    ok('as `weir report` counts them', [site.api()['all']['quality'].get(k) for k in (
        'recalls', 'missing_artifact_requests')], [1, 1])
    first = site.weir.get('/weir/v1/traffic/original?handle=' +
                          listed['originals'][0]['handle'])[1].decode()
    word = max(re.findall(r'[A-Za-z_]{4,20}', first[:150]), key=len)
    for pattern, wanted in ((False, word.upper()), (True, re.escape(word[:3]) + r'\w+')):
        site.page.eval(f'document.querySelector("#find").value = {json.dumps(wanted)};'
                       f'document.querySelector("#pattern").checked = {json.dumps(pattern)}')
        site.page.click_text('form button', 'Search')
        ok(f'a search for {"a pattern" if pattern else "text"} finds it', site.page.wait(
            '[...document.querySelectorAll(".hits code")].some(c => c.textContent.includes('
            f'{json.dumps(word)}))') or site.page.text('[aria-live=polite]:not(#notice)'), True)
    ok('a hit opens its original', site.page.click('.hits button') and
       site.page.wait('!!document.querySelector("pre.text .hit")'))
    site.page.eval('document.querySelector("#find").value = "("')
    site.page.click_text('form button', 'Search')
    ok('a wrong pattern is told', site.page.wait(
        '!!document.querySelector("[aria-live] p.bad")'))


def tail_view(site):
    ok('the tail has lines', site.show('tail', '.tail li'))


HOSTILE = '\n'.join([
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked=2">',
    '"></script><svg onload=window.hacked=3>', '\x1b[31mred\x1b]0;title\x07\x1b[2J',
    '\u202egnp.exe\u202c \u2066mixed\u2069', 'x' * 5000000, '{{constructor.constructor("1")()}}',
    'javascript:window.hacked=4', '\x00\x01\x02 tail']) + '\nFAIL test_1: at src/a.c:12\n'


def hostile(site, provider):
    """Whatever stands in a result stays text."""
    messages = [
        {'role': 'user', 'content': [{'type': 'text', 'text': '<script>window.hacked=9</script> '
                                                              '\u202eevil words'}]},
        {'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 'toolu_h', 'name':
                                           'Bash<b>', 'input': {'command': '<i>make</i> test'}}]},
        {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 'toolu_h',
                                      'content': HOSTILE}]}]
    name = '<img src=x onerror=window.hacked=5>'
    status = site.weir.post('/v1/messages', play.body_of(messages, 'claude-sonnet-5-5'),
                            play.headers_of('hostile'))[0]
    ok('a hostile session passes', status, 200)
    row = wait_for(lambda: next((s for s in site.api('/sessions')['sessions']
                                 if s['session'].endswith('hostile')), None))
    ok('it is listed', site.show('sessions', f'tr[data-session="{row["session"]}"]'))
    rows = site.api('/session?session=' + quote(row['session']))['rows']
    ok('its request is shown', site.show(f'request?id={rows[-1]["id"]}', 'table.sides tr'))
    view = site.api(f'/request?id={rows[-1]["id"]}')
    big = next(s for s in view['segments'] if s['kind'] == 'tool_result')
    if big['change'] == 'edited':
        site.page.click_text('.change button', 'Difference')
        ok('its difference too',
           site.page.wait('document.querySelectorAll(".diff").length > 2'))
        site.page.click_text('.change button', 'Original')
        ok('and its original', site.page.wait('!!document.querySelector(".change pre.text")'))
        text = site.page.eval('document.querySelector(".change pre.text").textContent')
        ok('tags are text', '<script>window.hacked = 1</script>' in text)
        ok('escapes are named', '\u241b[31mred' in text and '\x1b' not in text)
        ok('what turns text around is named', '⟨U+202E⟩gnp.exe' in text)
        ok('a long line is cut', len(text) < 100000 and 'characters more' in text)
    ok('nothing of it ran', site.page.eval('String(window.hacked)'), 'undefined')
    ok('nothing of it is an element', site.page.eval(
        'document.querySelectorAll("main img, main script, main iframe, main i").length'), 0)
    site.show('session?s=' + quote(name), 'main h1')
    ok('an unknown session is an answer', 'no such session' in site.page.text())
    ok('nor did that run', site.page.eval('String(window.hacked)'), 'undefined')


YES = 'dialog[open] button[value=yes]'


def order(site, click, says):
    """Presses a button, says yes where the price is asked, and waits for what the page says."""
    site.page.eval('document.querySelector("#notice").textContent = ""')
    ok(f'{says}: there is a button', click())
    site.page.wait(f'!!document.querySelector("{YES}") ||'
                   ' document.querySelector("#notice.shown")?.textContent')
    if site.page.eval(f'!!document.querySelector("{YES}")'):
        ok(f'{says}: its price is said first',
           'tokens of the cache' in (site.page.text('dialog') or ''))
        site.page.click(YES)
    ok(f'{says}: it is confirmed', site.page.wait(
        f'document.querySelector("#notice").textContent.includes({json.dumps(says)})'))


def whole_results(messages, text_of):
    """Which of the results are there as they came."""
    return [block['content'] == text_of[block['tool_use_id']] for m in messages
            for block in m['content'] if block['type'] == 'tool_result']


def buttons(site, provider):
    """Each does at the proxy what it says: seen in the bytes that the provider gets."""
    model = 'claude-sonnet-5-5'
    made = {n: play.made_session(n, 40) for n in (55, 56, 57, 58)}
    played = {}

    def go_on(n, count):
        name, messages, ends = made[n]
        at = played.get(n, 0)
        play.play(site.weir, name, messages, ends[at:], count, model)
        played[n] = at + count
        return json.loads(provider.bodies[-1])['messages']

    def came(n):
        _, messages, ends = made[n]
        return play.body_of(messages[:ends[played[n] - 1]], model)['messages']

    def session(n):
        return 'claude:' + made[n][0]

    def show_last_request(n):
        rows = site.api('/session?session=' + quote(session(n)))['rows']
        return site.show(f'request?id={rows[-1]["id"]}', '.changes li')

    # exact from now on
    ok('prompts are shortened', go_on(55, 16) != came(55))
    ok('a session can be told', site.show('session?s=' + quote(session(55)), '[data-key=exact]'))
    order(site, lambda: site.page.click('[data-key=exact]'), 'as it comes from now on')
    ok('exact from now on: as it came', go_on(55, 1), came(55))
    ok('the session says so', site.show('session?s=' + quote(session(55)), '#steering') and
       site.page.text('#steering'), 'goes as it comes')
    ok('and has the way back', site.page.wait('!!document.querySelector("[data-key=resume]")'))
    order(site, lambda: site.page.click('[data-key=resume]'), 'shortened again')
    ok('the page shows it', site.page.wait('!!document.querySelector("[data-key=exact]")'))
    ok('the server too', steering(site, session(55))['exact'], False)

    # keep this whole, undo, plan
    texts = {b['tool_use_id']: b['content'] for m in made[57][1] for b in m['content']
             if b['type'] == 'tool_result'}
    before = whole_results(go_on(57, 20), texts)
    ok('a request has changes', show_last_request(57))
    handle = site.page.eval('[...document.querySelectorAll(".change")].find(c =>'
                            ' [...c.querySelectorAll("button")].some(b => b.textContent ==='
                            ' "Keep this whole")).querySelector("button[title]").title')
    original = site.weir.get('/weir/v1/traffic/original?handle=' + handle)[1].decode()
    order(site, lambda: site.page.click_text('.change button', 'Keep this whole'),
          'this is sent whole')
    after = go_on(57, 1)
    ok('keep this whole: it is there as it came', any(
        block.get('content') == original or block.get('text') == original
        for m in after for block in m['content']))
    ok('and more is whole than before', sum(whole_results(after, texts)[:len(before)]) >
       sum(before))
    order(site, lambda: show_last_request(57) and site.page.click_text(
        '.change button', 'Keep this tool whole'), 'stay whole from now on')

    plan_view(site, session(57))
    pending(site)

    # take the next step, and undo it
    whole = len(json.dumps(go_on(58, 9)))
    planned(site, session(58), lambda plan: plan['next']['pieces_count'])
    ok('a step can be asked for',
       site.show('session?s=' + quote(session(58)), '[data-key=plan]'))
    order(site, lambda: site.page.click('[data-key=plan]'), 'step is taken')
    stepped = go_on(58, 1)
    ok('take the next step: the prompt is shorter', len(json.dumps(stepped)) < whole)
    row = site.api('/session?session=' + quote(session(58)))['rows'][-1]
    ok('and it is a declared step', wait_for(lambda: site.api(
        '/session?session=' + quote(session(58)))['rows'][-1].get('step')), 'asked')
    planned(site, session(58), lambda plan: plan['undo'])
    site.show('session?s=' + quote(session(58)), '[data-key=undo]')
    order(site, lambda: site.page.click('[data-key=undo]'), 'last step is undone')
    undone = go_on(58, 1)
    ok('undo the last step: it is longer again', len(json.dumps(undone)) > whole, True)
    ok('it was one request', row['id'] > 0)

    # pause and go on
    ok('pause asks first', site.page.click('[data-key=pause]') and
       site.page.wait('!!document.querySelector("dialog[open]")'))
    site.page.click(YES)
    ok('all is paused', site.page.wait('document.querySelector(".mode").textContent === "paused"'))
    ok('a new session too goes as it came', go_on(56, 14), came(56))
    site.page.eval('document.querySelector("#notice").textContent = ""')
    site.page.click('[data-key=pause]')
    ok('to go on is asked', 'Go on?' in site.page.wait(
        'document.querySelector("dialog[open]")?.innerText'))
    site.page.click(YES)
    ok('it is said', site.page.wait('document.querySelector("#notice").textContent'),
       'Weir goes on.')
    ok('and goes on', site.page.wait('document.querySelector(".mode").textContent !== "paused"'))
    ok('prompts are shortened again', go_on(58, 4) != came(58))


def steering(site, session):
    return json.loads(site.weir.get('/weir/v1/plan?session=' + quote(session))[1])['steering']


def planned(site, session, has):
    """A plan is made behind its request: waits for one that has that."""
    def look():
        plan = steering(site, session)['plan']
        return plan and has(plan)
    ok(f'{session} has a plan', bool(wait_for(look)) or
       json.dumps(steering(site, session))[:400], True)


def plan_view(site, session):
    """What the next step would take, what is out, what is pinned: as `weir plan` has it."""
    ok('a plan is shown', site.show('plan?s=' + quote(session), '#said'))
    plan = steering(site, session)['plan']
    ok('its sizes', site.page.eval('(p => p && [Number(p.dataset.before), Number(p.dataset.after)])'
                                   '(document.querySelector("#next p[data-before]"))'),
       [plan['next'].get(k) for k in ('tokens_before', 'tokens_after')]
       if plan['next']['pieces_count'] else None)
    for part in ('next', 'out'):
        listed = plan[part].get('pieces', [])
        ok(f'a row a piece: {part}', sorted(site.page.eval(
            f'[...document.querySelectorAll("#{part} tr[data-segment]")].map(r =>'
            ' Number(r.dataset.segment))')),
           sorted(p['segment'] for p in sorted(listed, key=lambda p: p['tokens_left'] - p['tokens'])
                  [:40]))
    ok('when it comes is said', 'expires' in site.page.text('#next'))
    pins = len(steering(site, session)['pins'])
    ok('something is pinned', site.page.eval('document.querySelectorAll("#said li").length'), pins)
    order(site, lambda: site.page.click('#said li button'), 'not pinned any more')
    ok('one pin less', site.page.wait(
        f'document.querySelectorAll("#said li").length === {pins - 1}'))
    ok('the server too', len(steering(site, session)['pins']), pins - 1)
    if plan['out']['pieces_count']:
        order(site, lambda: site.page.click_text('#out tr button', 'Keep it whole'),
              'this is sent whole')
        ok('and one more', site.page.wait(
            f'document.querySelectorAll("#said li").length === {pins}'))


def pending(site):
    """Where signed thinking binds the prompt, an order waits for the user, and the page says so."""
    _, messages, ends = play.made_session(59, 14)
    for message in messages:
        if message['role'] == 'assistant':
            message['content'].insert(0, {'type': 'thinking', 'thinking': 'I see.',
                                          'signature': 'c2lnbmVk'})
    play.play(site.weir, 'made-59', messages, ends, 12, 'claude-sonnet-5-5')
    planned(site, 'claude:made-59', lambda plan: plan['bound'])
    site.show('session?s=claude%3Amade-59', '[data-key=exact]')
    order(site, lambda: site.page.click('[data-key=exact]'), 'waits for the user')
    ok('it is shown as pending', site.page.wait('document.querySelector("#steering")?.textContent'
                                                '.includes("pending")'))


def what_if(site, session, folder):
    ok('what if', site.show('whatif?s=' + quote(session['session']), 'button.primary'))
    site.page.click_text('main button', 'Play it')
    ok('it says how far it is', site.page.wait('!!document.querySelector("progress") ||'
                                               ' document.querySelectorAll("tbody tr").length'))
    ok('four policies were played', site.page.wait(
        'document.querySelectorAll("tbody tr").length === 4', 4 * PATIENCE_SECONDS))
    site.page.click_text('tbody button', 'Use for new sessions')
    ok('it is used', site.page.wait('!!document.querySelector("#use h2")'))
    policy = json.loads(site.weir.get('/weir/v1/policy')[1])
    ok('the server says so', (policy['is_wanted'], site.page.text('#use h2')),
       (True, f'New sessions get {policy["policy"]}'))
    site.page.click_text('#use button', 'Go back to')
    ok('and back', site.page.wait(
        'document.querySelector("#use p").textContent.startsWith("As the server is configured")'))
    ok('the server too', json.loads(site.weir.get('/weir/v1/policy')[1])['is_wanted'], False)
    if folder != '-':
        site.page.picture(os.path.join(folder, 'whatif.png'))


def pages_in_files(site, folder):
    """`weir report --html` of this store and `weir simulate --html` of recorded sessions."""
    weir = os.environ.get('WEIR', 'build/weir')
    pages = [os.path.join(folder, 'report.html')]
    subprocess.run([weir, 'report', '--store', site.weir.store, '--html', pages[0]], check=True,
                   stdout=subprocess.DEVNULL)
    logs = sorted(glob.glob(os.path.join(play.TRACES, 'cc-*-01.jsonl')))[:4]
    if logs:
        pages.append(os.path.join(folder, 'simulate.html'))
        subprocess.run([weir, 'simulate', *logs, '--all', '--html', pages[1]], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    here = os.path.dirname(os.path.abspath(__file__))
    shown = subprocess.run([sys.executable, os.path.join(here, 'file_cases.py'), folder, *pages],
                           stdout=subprocess.PIPE, text=True, check=False)
    print('in files:', shown.stdout.strip())
    ok('pages in files', shown.returncode, 0)


def keyboard(site):
    """Tab goes through all that can be pressed, and shows where it is."""
    ok('a page for the keyboard', site.show('sessions', 'tbody tr'))
    site.page.eval('document.activeElement.blur()')
    reached = []
    for _ in range(14):
        site.page.key('Tab')
        reached.append(site.page.eval('(e => [e.tagName, e.textContent.slice(0, 30) || e.type,'
                                      ' getComputedStyle(e).outlineStyle !== "none"])'
                                      '(document.activeElement)'))
    ok('first the way to the content', reached[0][1], 'To the content')
    names = [name for _, name, _ in reached]
    ok('then views, pause, search', all(any(w in n for n in names) for w in (
        'Overview', 'Cache', 'Tail', 'Pause', 'search')), True)
    ok('and it can be seen where', all(seen for tag, _, seen in reached if tag != 'BODY'))


def screen_reader(site, session):
    """What a screen reader is told: names and roles of the session's view."""
    site.show('session?s=' + quote(session['session']), '[role=slider]')
    nodes = site.page.call('Accessibility.getFullAXTree')['nodes']
    told = {(n['role']['value'], n.get('name', {}).get('value', '')) for n in nodes
            if not n.get('ignored')}
    roles = {role for role, _ in told}
    ok('landmarks', {'banner', 'main', 'navigation'} <= roles, True)
    ok('nothing that can be pressed is without a name', [
        (role, name) for role, name in told
        if role in ('button', 'link', 'combobox', 'slider', 'searchbox') and not name], [])
    ok('the chart says which request it shows, in words', bool(re.match(
        r'Request \d+ of \d+, .* Came .*, sent .* tokens', site.page.eval(
            'document.querySelector("[role=slider]").getAttribute("aria-valuetext")'))))


def on_paper(site, session, folder):
    site.show('session?s=' + quote(session['session']), '.charts svg path')
    site.page.call('Emulation.setEmulatedMedia', media='print')
    ok('on paper there are no buttons', site.page.eval(
        '[...document.querySelectorAll("main button, header")].filter(n => n.offsetParent)'
        '.length'), 0)
    if folder != '-':
        site.page.picture(os.path.join(folder, 'print.png'))
    site.page.call('Emulation.setEmulatedMedia', media='')


def many_sessions(chromium, folder, provider, count=10000):
    """A store with ten thousand sessions: what is drawn is a page of them, and at once."""
    weir = play.serve(folder, provider, config='keep: originals\n')
    play.many(weir, count)
    site = Site(weir, chromium.page())
    wait_for(lambda: site.api()['sessions'] == count)
    ok(f'{count} sessions: a page of them', site.show('sessions', 'tbody tr') and
       site.page.eval('document.querySelectorAll("tbody tr").length'), 50)
    shown = []
    for _ in range(3):
        site.page.go('about:blank')
        site.page.go(site.root)
        site.page.wait('!!document.querySelector("tbody tr")')
        shown.append(site.page.eval(
            'Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime)'))
    site.page.eval('window.began = performance.now();'
                   'new MutationObserver(() => { window.took ??= performance.now() - began; })'
                   '.observe(document.querySelector("tbody"), {childList: true});'
                   '(f => { f.value = "many-7777"; f.dispatchEvent(new Event("input")); })'
                   '(document.querySelector("input[type=search]"))')
    ok('a search among them', site.page.wait(
        'document.querySelectorAll("tbody tr").length === 1'))
    print(f'figure: {count} sessions, first paint {sorted(shown)} ms, '
          f'a search {round(site.page.eval("took"))} ms')
    site.page.close()
    weir.stop()


def live_and_tabs(site, chromium, provider, folder):
    """Two tabs see what happens; a reload and a server that comes back lose nothing."""
    other = Site(site.weir, chromium.page())
    ok('two tabs', site.show('tail', '.tail') and other.show('sessions', 'tbody tr'))
    for one in (site, other):
        one.page.wait('document.querySelector("#live").textContent === "live"')
    before = other.value('#sum-paid')
    name, messages, ends = play.made_session(77, 4)
    play.play(site.weir, name, messages, ends, 3, 'claude-sonnet-5-5')
    ok('the tail has it', site.page.wait('document.querySelector(".tail li").innerText'
                                         f'.includes({json.dumps(name)})'))
    ok('so has the list', other.page.wait(
        f'!!document.querySelector("tr[data-session=\\"claude:{name}\\"]")'))
    ok('the sum grew', other.page.wait(
        f'Number(document.querySelector("#sum-paid").dataset.value) > {before}'))
    other.page.eval('window.isOld = true; location.reload()')
    ok('a reload shows the same', other.page.wait(  # in the new document, and to its end
        '!window.isOld && document.querySelector("#live")?.textContent === "live" &&'
        f'!!document.querySelector("tr[data-session=\\"claude:{name}\\"]")'))
    port = site.weir.port
    site.weir.stop()
    ok('without a server the page says so', other.page.wait(
        'document.querySelector("#live")?.textContent === "not connected"'))
    weir = play.serve(folder, provider, store=site.weir.store, config='learning: off\n',
                      arguments=('--listen', f'127.0.0.1:{port}'))
    ok('it comes back by itself', other.page.wait(
        'document.querySelector("#live")?.textContent === "live"'))
    play.play(weir, name, messages, ends, 4, 'claude-sonnet-5-5')
    ok('and goes on', site.page.wait('document.querySelectorAll(".tail li").length > 3'))
    other.page.close()
    site.weir = weir
    hidden_tab(site)


def hidden_tab(site):
    """A tab that nobody sees holds no stream, and has missed nothing when it is seen again."""
    def seen(is_seen):
        site.page.eval("Object.defineProperty(document, 'hidden', {configurable: true, value: "
                       f"{json.dumps(not is_seen)}}});"
                       "document.dispatchEvent(new Event('visibilitychange'))")

    site.show('tail', '.tail li')
    site.page.wait('document.querySelector("#live").textContent === "live"')
    streams = lambda: site.page.eval(
        'performance.getEntriesByType("resource").filter(r => r.name.endsWith("/live")).length')
    seen(False)
    ok('a tab that is not seen gives its stream back', wait_for(streams) >= 1)
    name, messages, ends = play.made_session(78, 6)
    play.play(site.weir, name, messages, ends, 3, 'claude-sonnet-5-5')
    wait_for(lambda: site.api('/sessions?q=made-78')['total'] == 1)
    ok('it hears nothing', site.page.eval(
        f'document.querySelector(".tail").innerText.includes({json.dumps(name)})'), False)
    seen(True)
    lines = ('[...document.querySelectorAll(".tail li")].filter(l => l.innerText.includes('
             f'{json.dumps(name)})).length')
    ok('seen again, it has what it missed', site.page.wait(f'{lines} === 3'))
    play.play(site.weir, name, messages, ends[3:], 1, 'claude-sonnet-5-5')
    ok('and each once', site.page.wait(f'{lines} === 4'))


def accessible(site, where):
    path = os.environ.get('AXE')
    if not path:
        return
    with open(path, encoding='utf-8') as file:
        site.page.eval(file.read() + '; 0')
    found = site.page.eval(
        'axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations'
        '.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " +'
        ' v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | ")))')
    ok(f'axe finds nothing serious in {where}', found, [])


def pictures(site, folder, listed, rows, again):
    os.makedirs(folder, exist_ok=True)
    longest = max(listed, key=lambda s: s['steps'] * 1000 + s['requests'])['session']
    views = {'sessions': ('sessions', 'tbody tr'),
             'session': ('session?s=' + quote(longest), '.charts svg path'),
             'request': (f'request?id={rows[-1]["id"]}', '.changes li'),
             'overview': ('overview', '.chart rect'), 'cache': ('cache', '.card'),
             'recall': ('recall?s=' + quote(again), 'h1'),
             'plan': ('plan?s=' + quote(longest), '#said'), 'tail': ('tail', '.tail li')}
    for dark in (False, True):
        site.page.dark(dark)
        for width in WIDTHS:
            site.page.size(width)
            for name, (view, until) in views.items():
                ok(f'{name} at {width}', site.show(view, until))
                wide = site.page.eval('document.documentElement.scrollWidth <= innerWidth')
                ok(f'{name} at {width} does not scroll sideways', wide)
                ok(f'{name} at {width}: every figure is one', site.page.eval(
                    '/NaN|undefined|\\[object/.test(document.querySelector("main").innerText)'),
                   False)
                site.page.picture(os.path.join(
                    folder, f'{name}-{width}-{"dark" if dark else "light"}.png'))
                if width != 820:
                    accessible(site, f'{name} at {width}, {"dark" if dark else "light"}')
    site.page.dark(False)
    site.page.size(1280)


def login(chromium, folder, provider):
    token = 'page-token-0123456789'
    weir = play.serve(folder, provider, config=f'tokens: [{token}]\n')
    page = chromium.page(f'http://127.0.0.1:{weir.port}/weir/')
    ok('a token is asked for', page.wait('!!document.querySelector("#token")'))
    fill = ('document.querySelector("#token").value = %s;'
            'document.querySelector("form button").click()')
    page.eval(fill % json.dumps('wrong-token-0123456789'))
    ok('a wrong one is told',
       page.wait('/not known/.test(document.querySelector("main").innerText)'))
    page.eval(fill % json.dumps(token))
    ok('the right one opens', page.wait('!!document.querySelector("#live.on")'))
    page.eval('location.reload()')
    ok('and is remembered', page.wait('!!document.querySelector("#live.on")'))
    ok('where no script can read it', page.eval('document.cookie'), '')
    page.close()
    weir.stop()


def small_functions(site):
    """What is computed in the browser, without one drawn."""
    table = site.page.eval('''
        Promise.all([import('/weir/words.js'), import('/weir/draw.js')]).then(([w, d]) => [
        w.money(2440175), w.money(54000), w.money(6000), w.money(0), w.money(-1500000),
        w.money(1234567890000), w.money(12),
        w.money(-12), w.short(950), w.short(12345), w.short(99999), w.short(999600),
        w.short(21289884), w.grouped(1234567), w.plural(1, 'request'), w.ago(0, 90000),
        JSON.stringify(d.ticks(71000)), JSON.stringify(d.ticks(0)),
        JSON.stringify(d.stack([[1, 2], [3, 4]])),
        d.stepArea([0, 0], [1, 2], x => x * 10, y => 10 - y), d.stepLine([1, 2], x => x, y => y),
        JSON.stringify(d.placeFlags([{from: 0, to: 50}, {from: 20, to: 70}, {from: 60, to: 90},
                                     {from: 61, to: 99}], 2).map(f => f.row)),
        JSON.stringify(w.diff('a\\nb\\nc', 'a\\nx\\nc')), w.visible('a\\x1b[1m\\u202eb\\r\\n'),
        w.paidBackAfter([10, 1, 1, 1], [5, 4, 4, 4])])''')
    ok('small functions', table, [
        '$2.44', '$0.054', '$0.0060', '$0', '−$1.50', '$1,234,568', '<$0.0001',
        '−$0.0001', '950', '12.3K', '100K', '1M',
        '21.3M', '1,234,567', '1 request', '2 min ago', '[0,20000,40000,60000,80000]', '[0]',
        '[[[0,0],[1,2]],[[1,2],[4,6]]]', 'M0,9V9H10V8H20V10H10V10H0Z', 'M0,1H1V2H2', '[0,1,0,-1]',
        '[[" ","a"],["-","b"],["+","x"],[" ","c"]]', 'a␛[1m⟨U+202E⟩b\n', 2])


def main():
    if not chrome.find():
        print('SKIPPED: there is no chromium; `apt-get install chromium` brings it')
        return 0
    if not os.environ.get('AXE'):
        print('SKIPPED in part: AXE names no axe.min.js, so accessibility is not judged')
    provider = play.Provider()
    with Folder() as folder:
        # What is learnt of sessions that go badly would give later ones a gentler policy.
        weir = play.serve(folder, provider, config='learning: off\n')
        count, again = play.fill(weir, provider, REQUESTS)
        wait_for(lambda: json.loads(weir.get('/weir/v1/traffic')[1])['all']['requests'] == count)
        chromium = chrome.Chrome(folder)
        try:
            site = Site(weir, chromium.page())
            listed = sessions_view(site)
            session = max(listed, key=lambda s: s['changed'])
            rows = session_view(site, session)
            last = listed[0]
            last_rows = site.api('/session?session=' + quote(last['session']))['rows']
            ok('the size is that of the bytes',
               site.api(f'/request?id={last_rows[-1]["id"]}')['sent_bytes'],
               len(provider.bodies[-1]))
            request_view(site, row_with_edits(site, listed))
            overview(site)
            cache_view(site)
            recall_view(site, again)
            tail_view(site)
            keyboard(site)
            screen_reader(site, session)
            on_paper(site, session, sys.argv[1])
            small_functions(site)
            hostile(site, provider)
            what_if(site, session, sys.argv[1])
            buttons(site, provider)
            live_and_tabs(site, chromium, provider, folder)
            if sys.argv[1] != '-':
                pictures(site, sys.argv[1], listed, rows, again)
                pages_in_files(site, sys.argv[1])
            login(chromium, folder, provider)
            many_sessions(chromium, folder, provider)
            ok('the browser complained about nothing', [
                t for t in site.page.troubles() if not re.search(
                    r'v1/pause|ERR_CONNECTION_RE(FUSED|SET)|ERR_INCOMPLETE|no such session|404|'
                    r'pattern=%28', t)], [])
        finally:
            chromium.stop()
        site.weir.stop()
    provider.stop()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

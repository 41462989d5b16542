"""Pages in a file, `weir report --html` and `weir simulate --html`, in a real Chromium.

  file_cases.py PICTURES PAGE...     shows each page at three widths, light and dark; pictures go to
                                     the folder PICTURES (-: none)

What must hold of every page: it shows, draws, asks nobody for anything, complains about nothing,
does not scroll sideways, no text of a chart is cut or stands on another, figures are those of the
JSON in it, and no text of it is markup. AXE names axe.min.js of axe-core; without it nothing is
said of accessibility. BRIEF=1: two widths, and no accessibility.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
import chrome  # noqa: E402
from harness import Checks, Folder  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
IS_BRIEF = os.environ.get('BRIEF') == '1'
WIDTHS = (360, 1280) if IS_BRIEF else (360, 412, 820, 1280)

MEASURE = '''(() => {
    const root = document.documentElement, meets = (a, b) => a.left < b.right - 1 &&
        b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    let overlaps = [], cut = [], drawn = 0;
    for (const svg of document.querySelectorAll('main svg')) {
        const box = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent,
            t.getBoundingClientRect()]);
        texts.forEach(([w, a], i) => texts.slice(i + 1).forEach(([v, b]) => {
            if (meets(a, b)) overlaps.push(w + ' / ' + v); }));
        for (const [w, t] of texts)
            if (t.right > box.right + 1 || t.bottom > box.bottom + 1 || t.left < box.left - 1)
                cut.push(w);
        drawn += box.width > 20 && box.height > 10 && !!svg.querySelector('rect, path, circle');
    }
    return {wide: root.scrollWidth > root.clientWidth, overlaps, cut, drawn};
})()'''


def data_of(path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text,
                                re.S).group(1))


def money(usd):
    size = abs(usd)
    if size >= 1000:
        return f'${round(size):,}'
    if size >= 1:
        return f'${size:.2f}'
    if size >= 0.01:
        text = f'${size:.3f}'
        return text[:-1] if text.endswith('0') else text
    return f'${size:.4f}' if size else '$0'


def figures_of_simulate(page, data):
    report = data['report']
    rows = {p['policy']: p for p in report['policies']}
    answer = page.text('#answer')
    ok('the answer stands first', page.eval('document.querySelector("main h1").id'), 'answer')
    ok('with the number of sessions', answer.startswith(f'{report["sessions"]} session'))
    if 'exact' in rows and 'auto' in rows:
        ok('what they were', f'{money(rows["exact"]["cost_usd"])} as they were' in answer, True)
        ok('what auto would be', f'{money(rows["auto"]["cost_usd"])} with auto' in answer, True)
    lost = rows.get('auto', {}).get('evidence', {}).get('lost')
    if lost is not None:
        ok('what is lost', (f'{lost} lost' if lost else 'nothing lost') in answer, True)
        ok('auto is marked', page.eval(
            '[...document.querySelectorAll("#cost li.marked")].map(n => n.dataset.name)'), ['auto'])
    for chart in ('cost', 'evidence', 'cache'):
        shown = page.eval(f'[...document.querySelectorAll("#{chart} .bars li")]'
                          '.map(n => n.dataset.name)')
        ok(f'{chart}: a bar a policy, the cheapest first', shown,
           [p['policy'] for p in sorted(report['policies'], key=lambda p: p['cost_usd'])])
    costs = page.eval('[...document.querySelectorAll("#agents table")][0] && '
                      '[...document.querySelectorAll("#agents table")[0].querySelectorAll('
                      '"tbody tr")].map(r => [r.dataset.policy, r.cells[1].innerText])')
    ok('the table has the same sums', dict(costs),
       {name: money(p['cost_usd']) for name, p in rows.items()})
    if data.get('longest'):
        ok('a life a policy', page.eval('document.querySelectorAll("#life figure").length'),
           len(data['longest']['policies']))
        ok('its path is text', data['longest']['path'] in page.text('#life'))


def figures_of_report(page, data):
    report = data['report']
    sums = report['all']
    value = lambda name: page.eval(f'Number(document.querySelector("#{name}").dataset.value)')
    ok('saved', value('all-saved'), sums['saved_micro_usd'])
    ok('paid', value('all-paid'), sums['micro_usd'])
    ok('sent', value('all-sent'), sums['sent_tokens'])
    answer = page.text('#answer')
    ok('the answer stands first', page.eval('document.querySelector("main h1").id'), 'answer')
    ok('with the number of requests', answer.startswith(f'{sums["requests"]:,} request'))
    ok('and the money', money(sums['micro_usd'] / 1e6) in answer)
    for what in ('agent', 'model'):
        ok(f'a row a {what}', page.eval(
            f'[...document.querySelectorAll("#by-{what} tbody tr")].map(r => r.dataset.name)'),
           [part[what] for part in report[what + 's']])


def accessible(page, where):
    path = os.environ.get('AXE')
    if not path or IS_BRIEF:
        return
    with open(path, encoding='utf-8') as file:
        source = file.read()
    page.eval(source + '; 0')
    found = page.eval(
        'axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations'
        '.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " +'
        ' v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(" | ")))')
    ok(f'axe finds nothing serious in {where}', found, [])


def shows(chromium, path, folder):
    name = os.path.basename(path)[:-5]
    data = data_of(path)
    page = chromium.page()
    for dark in (False, True):
        page.dark(dark)
        for width in WIDTHS:
            where = f'{name}, {width} px, {"dark" if dark else "light"}'
            page.size(width)
            page.go('about:blank')
            page.go('file://' + os.path.abspath(path))
            ok(f'{where}: it shows', bool(page.wait('!!document.querySelector("#answer")')))
            # The charts are drawn when the place they stand in is known.
            page.wait('[...document.querySelectorAll(".chart-box")].every(b => b.firstChild)')
            measured = page.eval(MEASURE)
            ok(f'{where}: charts are drawn', measured.pop('drawn') >= 3)
            ok(f'{where}: nothing is cut', measured, {'wide': False, 'overlaps': [], 'cut': []})
            ok(f'{where}: every figure is one', page.eval(
                '/NaN|undefined|\\[object|null/.test(document.querySelector("main").innerText)'),
               False)
            hints = page.eval(
                '[...document.querySelectorAll(".table-wrap")].filter(w => w.offsetParent &&'
                ' (w.lastChild.scrollWidth > w.lastChild.clientWidth + 1) ==='
                ' w.firstChild.hidden).length')
            ok(f'{where}: tables say that they scroll', hints, 0)
            if folder != '-':
                os.makedirs(folder, exist_ok=True)
                page.picture(os.path.join(
                    folder, f'{name}-{width}-{"dark" if dark else "light"}.png'))
            accessible(page, where)
    (figures_of_simulate if data['view'] == 'simulate' else figures_of_report)(page, data)
    ok(f'{name}: nothing of it ran', page.eval('String(window.hacked)'), 'undefined')
    ok(f'{name}: no text is an element', page.eval(
        'document.querySelectorAll("main script, main img, main iframe, main b b").length'), 0)
    ok(f'{name}: nothing is loaded', page.eval(
        'performance.getEntriesByType("resource").length'), 0)
    ok(f'{name}: the browser complains about nothing', page.troubles(), [])
    page.close()


def notices_what_is_wrong(chromium, path, folder):
    """What measures must be able to fail."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    page = chromium.page()
    page.size(360)

    def shown(name, old, new):
        made = os.path.join(folder, name)
        ok(f'{name} is another page', old in text)
        with open(made, 'w', encoding='utf-8') as file:
            file.write(text.replace(old, new, 1))
        page.go('file://' + made)
        page.wait('document.readyState === "complete"')
        return page

    ok('a page that is too wide is noticed', shown(
        'wide.html', '<header id="top">', '<header id="top"><pre>' + 'x' * 400 + '</pre>').eval(
            MEASURE)['wide'], True)
    shown('other.html', 'showFile();\n</script>', 'showFile();window.hacked=1\n</script>')
    ok('another script does not run', page.eval('String(window.hacked)'), 'undefined')
    ok('and that is noticed', any('Content Security Policy' in t or 'hash' in t
                                  for t in page.troubles()))
    page.close()


def main():
    if not chrome.find():
        print('SKIPPED: there is no chromium; `apt-get install chromium` brings it')
        return 0
    with Folder() as folder:
        chromium = chrome.Chrome(folder)
        try:
            for path in sys.argv[2:]:
                shows(chromium, path, sys.argv[1])
            notices_what_is_wrong(chromium, sys.argv[2], folder)
        finally:
            chromium.stop()
    return CHECK.end()


sys.exit(main())

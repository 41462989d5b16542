/* One request: what left and why, before and after side by side, whole texts and differences. */
import { el, svg, scale } from './draw.js';
import { grouped, bytes, visible, plural, clock, percent, agentName } from './words.js';
import { ask, askText, notice, link, canSteer } from './app.js';
import { order } from './orders.js';
import { diffBox, textBox } from './text.js';

/* ---- the minimap ---- */

function kindOf(s) {
  if (s.kind === 'system' || s.role === 'system' || s.role === 'developer') return 'system';
  if (s.kind === 'tools') return 'tools';
  if (s.kind === 'tool_call') return 'calls';
  if (s.kind === 'tool_result') return 'results';
  if (s.change === 'inserted') return 'other';
  return s.role === 'user' ? 'user' : s.role === 'assistant' ? 'assistant' : 'other';
}

/* Both prompts from top to bottom, each part as high as it is long; lines lead from what came to
 * what stands for it. */
function minimap(segments, jump) {
  const height = 420,
    width = 150,
    column = 46,
    came = segments.reduce((n, s) => n + s.came_bytes, 0),
    sent = segments.reduce((n, s) => n + s.sent_bytes, 0);
  const y = scale(0, Math.max(came, sent, 1), 0, height),
    parts = [];
  let a = 0,
    b = 0;
  segments.forEach((s, i) => {
    const h = y(s.came_bytes),
      g = y(s.sent_bytes),
      k = kindOf(s),
      changed = s.change !== 'same';
    if (changed && (h > 1 || g > 1))
      parts.push(
        svg('path', {
          class: 'map-link',
          d: `M${column},${y(a)}L${width - column},${y(b)}V${y(b) + g}L${column},${y(a) + h}Z`,
        }),
      );
    if (h > 0.2)
      parts.push(
        svg('rect', {
          class: `k-${k}${changed ? ' changed' : ''}`,
          x: 0,
          y: y(a),
          width: column,
          height: Math.max(0.6, h - 0.3),
          onclick: () => jump(i),
        }),
      );
    if (g > 0.2)
      parts.push(
        svg('rect', {
          class: `k-${k}`,
          x: width - column,
          y: y(b),
          width: column,
          height: Math.max(0.6, g - 0.3),
          onclick: () => jump(i),
        }),
      );
    a += s.came_bytes;
    b += s.sent_bytes;
  });
  return el(
    'div',
    { class: 'minimap' },
    el(
      'div',
      { class: 'map-heads', 'aria-hidden': 'true' },
      el('span', null, 'came'),
      el('span', null, 'sent'),
    ),
    svg(
      'svg',
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: 'img',
        'aria-label': `What came, ${bytes(came)}, beside what was sent, ${bytes(sent)}`,
      },
      parts,
    ),
  );
}

/* ---- changes ---- */

function nameOf(s) {
  if (s.what) return visible(s.what);
  if (s.stands_for) return 'Summary of a finished task';
  if (s.kind === 'tool_call') return 'call of ' + (s.tool || 'a tool');
  if (s.kind === 'tool_result') return 'result of ' + (s.tool || 'a tool');
  if (s.kind === 'reasoning') return 'thinking';
  return visible(s.text).slice(0, 90) || s.role;
}

function kindWords(s) {
  const what =
    { tool_result: 'result', tool_call: 'call', text: s.role + ' message', reasoning: 'thinking' }[
      s.kind
    ] || s.kind;
  return `${s.tool && s.kind.startsWith('tool') ? s.tool + ' ' : ''}${what}, turn ${s.turn}`;
}

function changeRow(view, s, inner) {
  const place = el('div'),
    id = view.id;
  const show = async make => {
    place.replaceChildren(el('p', { class: 'quiet' }, 'One moment.'));
    try {
      place.replaceChildren(await make());
    } catch (error) {
      place.replaceChildren(el('p', { class: 'bad' }, error.message));
    }
  };
  const came = () => askText('/text', { id, side: 'came', i: s.i }),
    sent = () => askText('/text', { id, side: 'sent', i: s.j });
  const buttons = [];
  if (s.change === 'edited')
    buttons.push(
      el(
        'button',
        { onclick: () => show(async () => diffBox(await came(), await sent())) },
        'Difference',
      ),
    );
  if (s.i !== undefined && s.change !== 'inserted')
    buttons.push(
      el(
        'button',
        { onclick: () => show(async () => textBox(await came(), 'As it came')) },
        'Original',
      ),
    );
  if (s.j !== undefined)
    buttons.push(
      el(
        'button',
        { onclick: () => show(async () => textBox(await sent(), 'As it was sent')) },
        'As sent',
      ),
    );
  if (s.handle)
    buttons.push(
      el(
        'button',
        {
          onclick: () =>
            navigator.clipboard.writeText(s.handle).then(
              () => notice(s.handle + ' is copied'),
              () => notice(s.handle),
            ),
          title: s.handle,
        },
        'Copy handle',
      ),
    );
  if (canSteer() && s.handle && s.change !== 'inserted')
    buttons.push(
      el(
        'button',
        {
          class: 'keep',
          onclick: () =>
            order(
              'Keep this whole?',
              '/pin',
              { session: view.session, handle: s.handle, now: true },
              'From the next request on this is sent whole.',
            ),
        },
        'Keep this whole',
      ),
    );
  if (canSteer() && s.tool && s.kind === 'tool_result')
    buttons.push(
      el(
        'button',
        {
          class: 'keep',
          onclick: () =>
            order(
              `Keep results of ${s.tool} whole?`,
              '/pin',
              { session: view.session, tool: s.tool },
              `Results of ${s.tool} stay whole from now on.`,
            ),
        },
        'Keep this tool whole',
      ),
    );
  return el(
    'li',
    { class: 'change ' + s.change, 'data-segment': s.i ?? '' },
    el(
      'div',
      { class: 'change-head' },
      el(
        'div',
        null,
        el('h3', { dir: 'auto' }, nameOf(s)),
        el('p', { class: 'note' }, kindWords(s)),
      ),
      s.tokens_before
        ? el(
            'p',
            { class: 'sizes', 'data-before': s.tokens_before, 'data-after': s.tokens_after },
            grouped(s.tokens_before),
            ' → ',
            el('b', null, grouped(s.tokens_after)),
            el('span', { class: 'note' }, ' tokens'),
          )
        : el(
            'p',
            { class: 'sizes' },
            bytes(s.came_bytes),
            ' → ',
            el('b', null, bytes(s.sent_bytes)),
          ),
    ),
    el('p', null, s.says || (s.change === 'inserted' ? 'Put in.' : 'Changed.')),
    s.sum ? el('p', { class: 'good' }, s.sum) : '',
    el('div', { class: 'actions small' }, buttons),
    inner || '',
    place,
  );
}

/* What a summary stands for is listed with it, not beside it. */
function changesList(view) {
  const changed = view.segments.filter(s => s.change !== 'same' && !s.rolled_back);
  const inside = new Map();
  for (const s of changed) if (s.in) inside.set(s.in, [...(inside.get(s.in) || []), s]);
  const rows = [];
  for (const s of changed) {
    if (s.in && changed.some(o => o.change === 'inserted' && o.handle === s.in)) continue;
    const parts = s.change === 'inserted' && inside.get(s.handle);
    rows.push([
      s,
      parts
        ? el(
            'details',
            null,
            el('summary', null, `The ${plural(parts.length, 'part')} it stands for`),
            el(
              'ul',
              { class: 'parts' },
              parts.map(p =>
                el(
                  'li',
                  { dir: 'auto' },
                  nameOf(p),
                  el(
                    'span',
                    { class: 'note' },
                    ` ${kindWords(p)}, ${grouped(p.tokens_before || 0)} tokens`,
                  ),
                ),
              ),
            ),
          )
        : null,
    ]);
  }
  rows.sort(
    (x, y) =>
      (y[0].tokens_before || 0) -
      (y[0].tokens_after || 0) -
      ((x[0].tokens_before || 0) - (x[0].tokens_after || 0)),
  );
  return rows;
}

/* ---- both sides, part by part ---- */

function sides(view) {
  const rows = [];
  for (let i = 0; i < view.segments.length;) {
    let end = i;
    while (end < view.segments.length && view.segments[end].change === 'same') end++;
    if (end - i > 2) {
      const run = view.segments.slice(i, end),
        size = run.reduce((n, s) => n + s.came_bytes, 0);
      const row = el(
        'tr',
        { class: 'same' },
        el(
          'td',
          { colspan: 2 },
          el(
            'button',
            { class: 'plain', onclick: () => row.replaceWith(...run.map(side)) },
            `${plural(run.length, 'part')} the same on both sides, ${bytes(size)}`,
          ),
        ),
      );
      rows.push(row);
      i = end;
    } else rows.push(side(view.segments[i++]));
  }
  function side(s) {
    const cell = (there, text, size) =>
      el(
        'td',
        { class: there ? 'k-edge k-' + kindOf(s) : 'nothing' },
        there
          ? [
              el('span', { class: 'note' }, `${kindWords(s)}, ${bytes(size)}`),
              el('span', { class: 'excerpt', dir: 'auto' }, visible(text)),
            ]
          : el('span', { class: 'quiet' }, s.change === 'dropped' ? 'not sent' : ''),
      );
    return el(
      'tr',
      { class: s.change, id: `part-${s.i ?? 'x'}-${s.j ?? 'x'}` },
      cell(s.i !== undefined, s.text, s.came_bytes),
      cell(s.j !== undefined, s.change === 'edited' ? s.now : s.text, s.sent_bytes),
    );
  }
  return el(
    'table',
    { class: 'sides' },
    el('caption', { class: 'sr' }, 'What came beside what was sent'),
    el(
      'thead',
      null,
      el(
        'tr',
        null,
        el('th', { scope: 'col' }, 'As it came'),
        el('th', { scope: 'col' }, 'As it was sent'),
      ),
    ),
    el('tbody', null, rows),
  );
}

/* What may be done to the session that this request is of. */
function sessionOrders(view) {
  if (!canSteer()) return '';
  return el(
    'div',
    { class: 'actions' },
    el('a', { class: 'button', href: link('plan', { s: view.session }) }, 'Plan'),
    el(
      'button',
      {
        'data-key': 'undo',
        onclick: () =>
          order(
            'Undo the last step?',
            '/undo',
            { session: view.session },
            'The last step is undone with the next request.',
          ),
      },
      'Undo the last step',
    ),
  );
}

function leadWords(view, count, left) {
  const sizes = `${bytes(view.came_bytes)} came, ${bytes(view.sent_bytes)} were sent`;
  if (left <= 0) return sizes + '.';
  return `${sizes}: ${percent(left, view.came_bytes)} left out, in ${plural(count, 'change')}.`;
}

export async function requestView(words) {
  const view = await ask('/request', { id: words.id });
  const crumbs = el(
    'p',
    { class: 'crumbs' },
    el('a', { href: '#/sessions' }, 'Sessions'),
    ' › ',
    el('a', { href: link('session', { s: view.session }) }, 'Session'),
  );
  const title = `Request at ${clock(view.time_ms)}`;
  const head = [
    crumbs,
    el('h1', null, title),
    el('p', { class: 'sub' }, `${agentName(view.agent)} · ${view.model}`),
  ];
  if (!view.kept)
    return {
      title,
      node: el(
        'div',
        null,
        head,
        el(
          'section',
          { class: 'card' },
          el('h2', null, 'What it said was not kept'),
          el(
            'p',
            null,
            'Before and after can be shown only for requests that came while `keep: transcript` ' +
              'held in weir.yaml.',
          ),
        ),
      ),
    };
  const rows = changesList(view),
    left = view.came_bytes - view.sent_bytes;
  const list = el('ol', { class: 'changes' });
  const FIRST = 25;
  const add = from =>
    list.append(...rows.slice(from, from + FIRST).map(([s, inner]) => changeRow(view, s, inner)));
  add(0);
  let shown = FIRST;
  const more =
    rows.length > FIRST
      ? el(
          'button',
          {
            onclick: () => {
              add(shown);
              shown += FIRST;
              if (shown >= rows.length) more.remove();
            },
          },
          `Show more of ${grouped(rows.length)}`,
        )
      : '';
  const whole = view.segments.filter(s => s.rolled_back);
  const table = sides(view);
  const node = el(
    'div',
    null,
    head,
    el(
      'p',
      {
        class: 'lead',
        id: 'request-lead',
        'data-came': view.came_bytes,
        'data-sent': view.sent_bytes,
      },
      rows.length
        ? leadWords(view, rows.length, left)
        : 'Nothing was changed: what was sent is what came, byte for byte.',
    ),
    view.step_says
      ? el(
          'p',
          { class: 'step-note' },
          el('b', null, 'A planned step: '),
          view.step_says,
          '. The cache behind the first change was written anew, and that is in the sums.',
        )
      : '',
    view.bust_says ? el('p', { class: 'note' }, view.bust_says) : '',
    sessionOrders(view),
    rows.length
      ? el(
          'div',
          { class: 'two' },
          el(
            'section',
            { class: 'card' },
            el('h2', null, 'What left, and why'),
            list,
            more,
            whole.length
              ? el(
                  'details',
                  null,
                  el('summary', null, `${plural(whole.length, 'part')} stayed whole after all`),
                  el(
                    'ul',
                    { class: 'parts' },
                    whole.map(s =>
                      el(
                        'li',
                        { dir: 'auto' },
                        nameOf(s),
                        ' ',
                        el('span', { class: 'note' }, s.says),
                      ),
                    ),
                  ),
                )
              : '',
          ),
          minimap(view.segments, i => {
            const s = view.segments[i],
              row = document.getElementById(`part-${s.i ?? 'x'}-${s.j ?? 'x'}`);
            (row || table).scrollIntoView({ block: 'center' });
          }),
        )
      : '',
    el(
      'section',
      { class: 'card' },
      el('h2', null, 'Before and after'),
      el(
        'div',
        { class: 'table-box', role: 'region', 'aria-label': 'Before and after', tabindex: '0' },
        table,
      ),
    ),
  );
  return { node, title };
}

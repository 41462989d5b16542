/* One session: what fills its context, request by request, and the provider's cache below it. */
import { el, svg, ticks, scale, stack, stepArea, stepLine } from './draw.js';
import { placeFlags, responsive, gridLines } from './draw.js';
import { money, grouped, short, percent, plural, span, clock } from './words.js';
import { agentName, userName, bust, step, stepFlag, paidBackAfter } from './words.js';
import { ask, askSteering, onRequest, calm, link, facts, canSteer } from './app.js';
import { LEFT, RIGHT, agoNode, chip, wordsOf, shortModel, figure, tableBox } from './parts.js';
import { legend } from './parts.js';
import { order } from './orders.js';
import { steeringChips } from './plan.js';

/* What a prompt consists of, from the bottom up: the kinds of the server, put together as people
 * ask for them. */
const LAYERS = [
  ['system', 'system', ['system', 'instructions']],
  ['tools', 'tools', ['tools']],
  ['user', 'user', ['user']],
  ['assistant', 'assistant', ['assistant', 'reasoning']],
  ['calls', 'calls', ['calls']],
  ['results', 'results', ['results', 'media']],
  ['other', 'summaries and framing', ['other']],
];

function mainRows(session) {
  const sums = {};
  for (const r of session.rows) sums[r.model] = (sums[r.model] || 0) + r.came;
  const model = Object.keys(sums).sort((a, b) => sums[b] - sums[a])[0];
  return session.rows.filter(r => r.model === model && r.came > 0);
}

function layersOf(session, rows) {
  return LAYERS.map(([key, name, kinds]) => {
    const places = kinds.map(k => session.kinds.indexOf(k)).filter(i => i >= 0);
    return {
      key,
      name,
      values: rows.map(r => places.reduce((sum, i) => sum + (r.kinds[i] || 0), 0)),
    };
  }).filter(layer => layer.values.some(v => v > 0));
}

function stepNote(rows, i) {
  const r = rows[i],
    rest = rows.slice(i);
  const after = paidBackAfter(
    rest.map(x => x.micro_usd),
    rest.map(x => x.unchanged_micro_usd ?? x.micro_usd),
  );
  return (
    `Planned step: ${step(r.step)}` +
    (r.step_micro_usd ? `; cost ${money(r.step_micro_usd)}` : '') +
    (after
      ? `, paid back after ${plural(after, 'request')}`
      : r.step_micro_usd
        ? ', not paid back yet'
        : '')
  );
}

function flagsOf(rows) {
  const out = [];
  rows.forEach((r, i) => {
    if (r.blind_edits)
      out.push({
        i,
        kind: 'red',
        text: 'blind edit',
        says: 'An edit failed: the model had last seen the file in a shorter form',
      });
    if (r.step) out.push({ i, kind: 'blue', text: stepFlag(r.step), says: stepNote(rows, i) });
    else if (r.bust && r.bust !== 'weir')
      out.push({
        i,
        kind: r.bust === 'host' || r.bust === 'provider' ? 'red' : 'grey',
        text: bust(r.bust, r.place),
        says: `${bust(r.bust, r.place)}: ${grouped(r.lost)} tokens written again`,
      });
  });
  return out;
}

function recallWords(r) {
  const words = [];
  if (r.recalls) words.push(plural(r.recalls, 'recall') + ' answered');
  if (r.misses) words.push(plural(r.misses, 'recall') + ' brought nothing');
  return words.join(', ');
}

/* Signs that what was taken out is missed. */
function missedChips(r) {
  const out = [];
  if (r.blind_edits)
    out.push(
      chip(
        'red',
        plural(r.blind_edits, 'blind edit'),
        'An edit failed because the model had last seen the file in a shorter form',
      ),
    );
  if (r.placeholders) out.push(chip('red', 'placeholder written'));
  if (r.rereads) out.push(chip('amber', plural(r.rereads, 'read') + ' again'));
  if (r.broke_after) out.push(chip('amber', 'a test broke after'));
  return out;
}

function readLine(rows, i) {
  const r = rows[i],
    out = [];
  const total = (r.read || 0) + (r.written || 0) + (r.fresh || 0);
  out.push(
    `Request ${i + 1} of ${rows.length}, ${clock(r.time_ms)}. Came ${short(r.came)}, sent ` +
      `${short(r.sent)} tokens`,
  );
  if (r.usage_known)
    out.push(
      `Cache: ${percent(r.read, total)} read, ${short(r.written)} written, ` +
        `${short(r.fresh)} neither`,
    );
  if (r.priced)
    out.push(
      money(r.micro_usd) +
        (r.unchanged_micro_usd !== undefined ? ` instead of ${money(r.unchanged_micro_usd)}` : ''),
    );
  if (r.step) out.push(stepNote(rows, i));
  else if (r.bust) out.push(bust(r.bust, r.place) + `: ${grouped(r.lost)} tokens written again`);
  if (r.recalls || r.misses) out.push(recallWords(r));
  if (r.pending) out.push('a change waits for the user’s next message');
  return out.join('. ') + '.';
}

function compositionChart(width, session, rows, chosen) {
  const layers = layersOf(session, rows),
    flags = flagsOf(rows);
  const narrow = width < 560,
    height = narrow ? 260 : 330,
    flagRows = narrow ? 2 : 3;
  const right = width - RIGHT,
    x = scale(0, rows.length, LEFT, right);
  const placed = placeFlags(
    flags.map(f => {
      const w = Math.min(f.text.length * 6.3 + 18, 260),
        from = Math.min(x(f.i), right - w);
      return { ...f, from, to: from + w };
    }),
    flagRows,
  );
  const usedRows = Math.max(0, ...placed.map(f => f.row + 1)),
    top = 10 + usedRows * 24;
  const bottom = height - 26,
    most = Math.max(...rows.map(r => r.came), ...rows.map(r => r.sent), 1);
  const window_ = Math.max(...rows.map(r => r.window || 0)),
    showsWindow = window_ && window_ <= most * 1.6;
  const steps = ticks(showsWindow ? Math.max(most, window_) : most, narrow ? 4 : 5);
  const y = scale(0, steps[steps.length - 1], bottom, top + 4);
  const came = rows.map(r => r.came),
    sent = rows.map(r => r.sent),
    zero = came.map(() => 0);
  const stacked = stack(layers.map(l => l.values));
  const chart = svg(
    'svg',
    { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true', class: 'chart' },
    gridLines(steps, y, LEFT, right, short),
    svg('path', { class: 'ghost-area', d: stepArea(zero, came, x, y) }),
    stacked.map(([low, high], i) =>
      svg('path', { class: 'k-' + layers[i].key, d: stepArea(low, high, x, y) }),
    ),
    svg('path', { class: 'sent-edge', d: stepLine(sent, x, y) }),
    svg('path', { class: 'ghost', d: stepLine(came, x, y) }),
    showsWindow
      ? [
          svg('line', { class: 'limit', x1: LEFT, x2: right, y1: y(window_), y2: y(window_) }),
          svg(
            'text',
            { class: 'axis', x: right, y: y(window_) - 5, 'text-anchor': 'end' },
            `window ${short(window_)}`,
          ),
        ]
      : '',
    placed.map(f =>
      svg(
        'g',
        { class: 'flag ' + f.kind },
        svg('title', null, f.says),
        svg('line', {
          x1: x(f.i),
          x2: x(f.i),
          y1: f.row < 0 ? top : 4 + f.row * 24 + 18,
          y2: bottom,
        }),
        f.row < 0
          ? svg('circle', { cx: x(f.i), cy: top, r: 4 })
          : [
              svg('rect', {
                x: f.from,
                y: 4 + f.row * 24,
                width: f.to - f.from,
                height: 19,
                rx: 9.5,
              }),
              svg(
                'text',
                { x: f.from + 9, y: 17.5 + f.row * 24 },
                f.text.length > 40 ? f.text.slice(0, 39) + '…' : f.text,
              ),
            ],
      ),
    ),
    rows.map((r, i) =>
      r.recalls || r.misses
        ? svg(
            'circle',
            {
              class: r.misses ? 'recall missed' : 'recall',
              cx: (x(i) + x(i + 1)) / 2,
              cy: bottom + 7,
              r: 3.5,
            },
            svg('title', null, recallWords(r)),
          )
        : '',
    ),
    svg('text', { class: 'axis', x: LEFT, y: height - 4 }, `request 1, ${clock(rows[0].time_ms)}`),
    svg(
      'text',
      { class: 'axis', x: right, y: height - 4, 'text-anchor': 'end' },
      `request ${rows.length}, ${clock(rows[rows.length - 1].time_ms)}`,
    ),
    chosen >= 0
      ? svg('rect', {
          class: 'chosen',
          x: x(chosen),
          y: top,
          width: Math.max(2, x(chosen + 1) - x(chosen)),
          height: bottom - top,
        })
      : '',
  );
  chart.placeAt = px =>
    Math.max(
      0,
      Math.min(rows.length - 1, Math.floor((px - LEFT) / ((right - LEFT) / rows.length))),
    );
  return chart;
}

function cacheChart(width, rows, chosen) {
  const height = 96,
    bottom = height - 6,
    right = width - RIGHT,
    x = scale(0, rows.length, LEFT, right);
  const part = name => rows.map(r => r[name] || 0);
  const lost = rows.map(r =>
    r.bust && r.bust !== 'weir' ? Math.min(r.lost || 0, r.written || 0) : 0,
  );
  const layers = [part('read'), part('written').map((w, i) => w - lost[i]), lost, part('fresh')];
  const stacked = stack(layers),
    most = Math.max(...stacked[3][1], 1),
    steps = ticks(most, 2);
  const y = scale(0, steps[steps.length - 1], bottom, 8);
  return svg(
    'svg',
    { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true', class: 'chart' },
    gridLines(steps, y, LEFT, right, short),
    stacked.map(([low, high], i) =>
      svg('path', {
        class: ['c-read', 'c-written', 'c-lost', 'c-fresh'][i],
        d: stepArea(low, high, x, y),
      }),
    ),
    chosen >= 0
      ? svg('rect', {
          class: 'chosen',
          x: x(chosen),
          y: 4,
          width: Math.max(2, x(chosen + 1) - x(chosen)),
          height: bottom - 4,
        })
      : '',
  );
}

/* Both charts and what is read of the chosen request. One place is chosen at a time: by the mouse,
 * by a click, which keeps it, or by the arrow keys. */
function charts(session, rows) {
  const state = { at: rows.length - 1, pinned: false };
  const line = el('p', { class: 'readout', id: 'readout' }),
    open = el('a', { class: 'button' }, 'Look at this request');
  const draw = () => {
    slider.setAttribute('aria-valuenow', state.at + 1);
    slider.setAttribute('aria-valuetext', readLine(rows, state.at));
    line.textContent = readLine(rows, state.at);
    open.href = link('request', { id: rows[state.at].id });
    top.redraw();
    below.redraw();
  };
  const choose = (i, pins) => {
    const to = Math.max(0, Math.min(rows.length - 1, i));
    if (to === state.at && !pins) return;
    state.at = to;
    if (pins !== undefined) state.pinned = pins;
    draw();
  };
  const top = responsive('chart-box', width => compositionChart(width, session, rows, state.at));
  const below = responsive('chart-box', width => cacheChart(width, rows, state.at));
  const placeOf = event => top.firstChild.placeAt(event.clientX - top.getBoundingClientRect().left);
  const slider = el(
    'div',
    {
      class: 'charts',
      role: 'slider',
      tabindex: '0',
      'aria-label': 'Requests of this session, use the arrow keys',
      'aria-valuemin': 1,
      'aria-valuemax': rows.length,
      'data-key': 'chart',
      onmousemove: event => {
        if (!state.pinned && top.firstChild) choose(placeOf(event));
      },
      onclick: event => {
        if (top.firstChild) choose(placeOf(event), true);
      },
      onkeydown: event => {
        const moves = {
          ArrowLeft: -1,
          ArrowRight: 1,
          PageUp: -10,
          PageDown: 10,
          Home: -1e9,
          End: 1e9,
        };
        if (event.key in moves) {
          choose(state.at + moves[event.key], true);
          event.preventDefault();
        }
        if (event.key === 'Enter') location.hash = open.getAttribute('href');
        if (event.key === 'Escape') state.pinned = false;
      },
    },
    top,
    legend([
      ...layersOf(session, rows).map(l => ['k-' + l.key, l.name]),
      ['ghost-key', 'as it came'],
      ...(rows.some(r => r.recalls || r.misses) ? [['recall', 'a recall']] : []),
    ]),
    el('h2', { class: 'small' }, 'The provider’s cache'),
    below,
    legend([
      ['c-read', 'read'],
      ['c-written', 'written'],
      ...(rows.some(r => r.lost && r.bust !== 'weir')
        ? [['c-lost', 'written again, because the cache was broken']]
        : []),
      ['c-fresh', 'neither'],
    ]),
  );
  draw();
  return { node: el('div', null, slider, el('div', { class: 'readout-row' }, line, open)), state };
}

function requestTable(rows) {
  const cells = (r, i) => {
    const total = (r.read || 0) + (r.written || 0) + (r.fresh || 0),
      chips = [];
    if (r.step) chips.push(chip('blue', stepFlag(r.step), stepNote(rows, i)));
    else if (r.bust)
      chips.push(
        chip(r.bust === 'host' || r.bust === 'provider' ? 'red' : 'grey', bust(r.bust, r.place)),
      );
    if (r.recalls) chips.push(chip('green', plural(r.recalls, 'recall')));
    if (r.misses) chips.push(chip('red', 'recall missed'));
    chips.push(...missedChips(r));
    if (r.pending) chips.push(chip('amber', 'pending'));
    if (r.shadow) chips.push(chip('grey', 'shadow'));
    if (r.held) chips.push(chip('grey', 'held back: ' + r.held));
    if (r.not_read) chips.push(chip('grey', 'not read: ' + r.not_read));
    if (r.status !== 200) chips.push(chip('red', r.status ? 'status ' + r.status : 'no answer'));
    return el(
      'tr',
      null,
      el(
        'th',
        { scope: 'row', class: 'number' },
        el('a', { href: link('request', { id: r.id }) }, i + 1),
      ),
      el('td', null, clock(r.time_ms)),
      el('td', { class: 'number', 'data-came': r.came }, grouped(r.came)),
      el('td', { class: 'number', 'data-sent': r.sent }, grouped(r.sent)),
      el('td', { class: 'number' }, r.usage_known ? percent(r.read, total) : '?'),
      el('td', { class: 'number' }, r.usage_known ? grouped(r.written) : '?'),
      el('td', { class: 'number' }, r.priced ? money(r.micro_usd) : '?'),
      el(
        'td',
        { class: 'number' },
        r.priced && r.unchanged_micro_usd !== undefined ? money(r.unchanged_micro_usd) : '?',
      ),
      el('td', { class: 'chips' }, chips),
    );
  };
  return el(
    'details',
    { class: 'card' },
    el('summary', null, 'The same as a table'),
    tableBox(
      'Requests',
      el('caption', { class: 'sr' }, 'Requests of this session'),
      el(
        'thead',
        null,
        el(
          'tr',
          null,
          [
            '#',
            'Time',
            'Came',
            'Sent',
            'Read',
            'Written',
            'Cost',
            'Unchanged',
            'What happened',
          ].map((t, i) =>
            el('th', { scope: 'col', class: (i > 1 && i < 8) || i === 0 ? 'number' : null }, t),
          ),
        ),
      ),
      el('tbody', null, rows.map(cells)),
    ),
  );
}

/* `said`: what somebody has said of the session already. */
function orderButtons(session, said, again) {
  const s = { session: session.session };
  const button = (key, text, title, path, done) =>
    el(
      'button',
      { 'data-key': key, onclick: () => order(title, path, s, done).then(again) },
      text,
    );
  return [
    said.exact
      ? button(
          'resume',
          'Shorten it again',
          'Shorten it again?',
          '/resume',
          'What comes is shortened again; what went whole stays so until the next step.',
        )
      : button(
          'exact',
          'Exact from now on',
          'Exact from now on?',
          '/exact',
          'This session goes out as it comes from now on.',
        ),
    button(
      'undo',
      'Undo the last step',
      'Undo the last step?',
      '/undo',
      'The last step is undone with the next request.',
    ),
    button(
      'plan',
      'Take the next step',
      'Take the next step now?',
      '/plan',
      'The step is taken with the next request.',
    ),
  ];
}

function sessionActions(session, said, again) {
  const to = (view, text) =>
    el('a', { class: 'button', href: link(view, { s: session.session }) }, text);
  return el(
    'div',
    { class: 'actions' },
    said ? to('plan', 'Plan') : '',
    to('recall', 'What was taken out'),
    facts()?.whatif ? to('whatif', 'What if') : '',
    said ? orderButtons(session, said, again) : '',
  );
}

function sessionFigures(s) {
  const saved = s.unchanged_micro_usd - s.micro_usd,
    total = s.cache_read_tokens + s.cache_write_tokens + s.input_tokens;
  const broken = s.busts.host + s.busts.provider + s.busts.model + s.busts.expired,
    q = s.quality || {};
  return el(
    'dl',
    { class: 'figures-row' },
    figure(
      'Saved',
      money(saved),
      `${percent(saved, s.unchanged_micro_usd)} of ${money(s.unchanged_micro_usd)}`,
      saved >= 0 ? 'good' : 'bad',
      { id: 'session-saved', 'data-value': saved },
    ),
    figure('Paid', money(s.micro_usd), plural(s.requests, 'request'), '', {
      id: 'session-paid',
      'data-value': s.micro_usd,
    }),
    figure('Tokens sent', short(s.sent_tokens), `of ${short(s.raw_tokens)} that came`, '', {
      'data-value': s.sent_tokens,
    }),
    figure(
      'Read from cache',
      percent(s.cache_read_tokens, total),
      broken ? 'broken ' + plural(broken, 'time') : 'never broken',
      broken ? '' : '',
    ),
    figure(
      'Planned steps',
      String(s.steps),
      s.steps ? `cost ${money(s.steps_micro_usd)}, in the sum` : 'none yet',
    ),
    figure(
      'Recalls',
      String(q.recalls || 0),
      q.missing_artifact_requests
        ? plural(q.missing_artifact_requests, 'miss', 'misses')
        : 'none missed',
    ),
  );
}

export async function sessionView(words) {
  const node = el('div');
  const read = async () => {
    const [session, said] = await Promise.all([
      ask('/session', { session: words.s }),
      canSteer() ? askSteering(words.s).catch(() => null) : null,
    ]);
    const rows = mainRows(session),
      others = session.rows.length - rows.length;
    const focused = document.activeElement?.dataset?.key;
    node.replaceChildren(
      el('p', { class: 'crumbs' }, el('a', { href: '#/sessions' }, 'Sessions')),
      el('h1', { dir: 'auto', class: 'quote' }, wordsOf(session)),
      el(
        'p',
        { class: 'sub' },
        `${agentName(session.agent)} · ${shortModel(session.model)} · ` +
          `${userName(session.user)} · ` +
          `${plural(session.requests, 'request')} in ${span(session.last_ms - session.first_ms)} ` +
          `· policy ${session.policy || 'none'}, ${session.mode || 'not read'} · last `,
        agoNode(session.last_ms),
        el('span', { class: 'wide-only' }, ' · ', el('code', null, session.session)),
      ),
      sessionFigures(session),
      said && steeringChips(said).length
        ? el('p', { class: 'chips', id: 'steering' }, steeringChips(said))
        : '',
      sessionActions(session, said, () => again()),
    );
    if (!rows.length)
      node.append(
        el(
          'p',
          { class: 'quiet' },
          'No request of this session was read, so there is nothing to draw.',
        ),
      );
    else {
      node.append(
        el(
          'section',
          { class: 'card' },
          el('h2', null, 'What fills the context'),
          charts(session, rows).node,
          others
            ? el(
                'p',
                { class: 'note' },
                `${plural(others, 'request')} to other models (an agent’s helpers) are in the ` +
                  `sums and not drawn.`,
              )
            : '',
        ),
        requestTable(rows),
      );
    }
    if (focused) node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    return session;
  };
  const again = calm(read, 1500);
  const session = await read();
  const stop = onRequest(row => {
    if (row.session === session.session && !node.querySelector('details[open]')) again();
  });
  return { node, title: wordsOf(session).slice(0, 60), leave: stop };
}

/* Who broke the provider's cache, when, what that cost in tokens and money, and what to change. */
import { el, svg, ticks, scale, stack, responsive, gridLines } from './draw.js';
import { money, grouped, short, plural, span, day, agentName, bust, bustName } from './words.js';
import { ask, calm, link, onRequest } from './app.js';
import { LEFT, RIGHT, chip, tableBox, tableHead, legend } from './parts.js';

const RANGES = [
  [1, 'last hour'],
  [24, 'last day'],
  [168, 'last week'],
  [720, 'last 30 days'],
];
const ROWS_MAX = 500; /* of the table */

const CULPRITS = ['host', 'expired', 'model', 'provider', 'moved', 'weir'];

/* `unit`: what a bar is as high as, tokens or money. */
function bustChart(width, busts, unit) {
  const height = 180,
    bottom = height - 22,
    right = width - RIGHT;
  const from = busts.reduce((least, b) => Math.min(least, b.time_ms), Infinity),
    to = busts.reduce((most, b) => Math.max(most, b.time_ms), 0) + 1;
  const places = Math.max(1, Math.min(48, Math.floor((width - LEFT) / 14)));
  const sums = CULPRITS.map(() => new Array(places).fill(0));
  for (const b of busts)
    sums[CULPRITS.indexOf(b.bust)][
      Math.min(places - 1, Math.floor(((b.time_ms - from) / (to - from)) * places))
    ] += unit === 'money' ? b.micro_usd || 0 : b.lost;
  const stacked = stack(sums),
    most = Math.max(...stacked[CULPRITS.length - 1][1], 1),
    steps = ticks(most, 4);
  const x = scale(0, places, LEFT, right),
    y = scale(0, steps[steps.length - 1], bottom, 8);
  return svg(
    'svg',
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      class: 'chart',
      role: 'img',
      'aria-label':
        (unit === 'money' ? 'What it cost' : 'Tokens written again') +
        ' over time, by who broke the cache; the table below says the same',
    },
    gridLines(steps, y, LEFT, right, unit === 'money' ? money : short),
    stacked.map(([low, high], k) =>
      high.map((h, i) =>
        h > low[i]
          ? svg('rect', {
              class: 'b-' + CULPRITS[k],
              x: x(i) + 1,
              width: Math.max(1, x(i + 1) - x(i) - 2),
              y: y(h),
              height: Math.max(1, y(low[i]) - y(h)),
            })
          : '',
      ),
    ),
    svg('text', { class: 'axis', x: LEFT, y: height - 4 }, day(from)),
    svg('text', { class: 'axis', x: right, y: height - 4, 'text-anchor': 'end' }, day(to)),
  );
}

/* Those of one kind together: what to change is the same for all of them. */
function culprits(busts) {
  const groups = new Map();
  for (const b of busts) {
    const key = b.bust + '|' + b.says;
    const g = groups.get(key) || {
      bust: b.bust,
      says: b.says,
      count: 0,
      lost: 0,
      paid: 0,
      places: new Map(),
      last: b,
    };
    const place = b.place || 'nothing in the prompt';
    g.count++;
    g.lost += b.lost;
    g.paid += b.micro_usd || 0;
    g.last = b;
    g.places.set(place, (g.places.get(place) || 0) + 1);
    groups.set(key, g);
  }
  return [...groups.values()].sort((a, b) => b.lost - a.lost);
}

function adviceCard(groups) {
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'What to change'),
    el(
      'ul',
      { class: 'advice' },
      groups.map(g =>
        el(
          'li',
          null,
          el(
            'b',
            null,
            `${bustName(g.bust)}, ${plural(g.count, 'time')}, ${grouped(g.lost)} tokens, ` +
              money(g.paid),
          ),
          el('p', null, g.says),
          el(
            'p',
            { class: 'note' },
            'Where: ' + [...g.places].map(([p, n]) => p + (n > 1 ? ` (${n})` : '')).join(', '),
            ' · ',
            el('a', { class: 'lined', href: link('request', { id: g.last.id }) }, 'the latest'),
          ),
        ),
      ),
    ),
  );
}

function bustRow(b) {
  return el(
    'tr',
    null,
    el('td', null, day(b.time_ms)),
    el(
      'td',
      null,
      chip(
        b.bust === 'host' || b.bust === 'provider' ? 'red' : b.bust === 'weir' ? 'blue' : 'grey',
        bust(b.bust, b.place),
      ),
    ),
    el('td', { class: 'number' }, grouped(b.lost)),
    el('td', { class: 'number' }, b.micro_usd === undefined ? '?' : money(b.micro_usd)),
    el('td', null, agentName(b.agent)),
    el('td', null, el('a', { href: link('request', { id: b.id }) }, 'request')),
    el('td', null, el('a', { href: link('session', { s: b.session }) }, b.session)),
  );
}

function bustTable(busts) {
  return el(
    'details',
    { class: 'card' },
    el('summary', null, 'All of them as a table'),
    tableBox(
      'Broken caches',
      el('caption', { class: 'sr' }, 'Requests whose cache was broken'),
      tableHead(['Time', 'Who', '#Tokens', '#Cost', 'Agent', 'Request', 'Session']),
      el('tbody', null, busts.slice(-ROWS_MAX).reverse().map(bustRow)),
    ),
    busts.length > ROWS_MAX
      ? el('p', { class: 'note' }, `The newest ${ROWS_MAX} of ${grouped(busts.length)}.`)
      : '',
  );
}

function leadWords(own, others, hours) {
  const sum = list => list.reduce((n, b) => n + b.lost, 0),
    cost = list => list.reduce((n, b) => n + (b.micro_usd || 0), 0);
  return (
    (others.length
      ? `${plural(others.length, 'time')} in ${span(hours * 3600000)} a prompt was not read ` +
        `from the provider’s cache although it could have been: ${grouped(sum(others))} ` +
        `tokens were written again, which cost ${money(cost(others))}.`
      : 'Nobody but Weir’s own planned steps.') +
    ` ${plural(own.length, 'planned step')} of Weir’s own wrote ${grouped(sum(own))} tokens ` +
    `again for ${money(cost(own))}, because that pays.`
  );
}

export async function cacheView(words) {
  const state = { hours: Number(words.hours) || 168, unit: words.unit || 'tokens' };
  const shown = el('div');
  const read = async () => {
    const since_ms = Date.now() - state.hours * 3600000;
    const { busts } = await ask('/busts', { since_ms });
    const others = busts.filter(b => b.bust !== 'weir'),
      own = busts.filter(b => b.bust === 'weir');
    if (shown.querySelector('details[open]')) return; /* somebody reads the table */
    shown.replaceChildren(
      el('p', { class: 'lead' }, leadWords(own, others, state.hours)),
      ...(busts.length
        ? [
            el(
              'section',
              { class: 'card', 'data-unit': state.unit },
              el('h2', null, state.unit === 'money' ? 'What it cost' : 'Tokens written again'),
              responsive('chart-box', width => bustChart(width, busts, state.unit)),
              legend(
                CULPRITS.filter(c => busts.some(b => b.bust === c)).map(c => [
                  'b-' + c,
                  bustName(c),
                ]),
              ),
            ),
            others.length ? adviceCard(culprits(others)) : '',
            bustTable(busts),
          ]
        : []),
    );
  };
  const again = calm(read, 2000);
  const select = (name, label, options) =>
    el(
      'label',
      null,
      el('span', null, label),
      el(
        'select',
        {
          'data-key': 'f:' + name,
          onchange: event => {
            state[name] = event.target.value;
            shown.querySelector('details')?.removeAttribute('open');
            history.replaceState(null, '', link('cache', state));
            again();
          },
        },
        options.map(([value, text]) =>
          el('option', { value, selected: String(state[name]) === String(value) }, text),
        ),
      ),
    );
  await read();
  const node = el(
    'div',
    null,
    el('h1', null, 'Who broke the cache'),
    el(
      'form',
      { class: 'filters', onsubmit: event => event.preventDefault() },
      select('hours', 'When', RANGES),
      select('unit', 'Bars', [
        ['tokens', 'tokens'],
        ['money', 'money'],
      ]),
    ),
    shown,
  );
  return { node, title: 'Cache', leave: onRequest(again) };
}

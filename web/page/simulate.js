/* What recorded sessions would have cost: the page of `weir simulate --html`. */
import { el } from './draw.js';
import { money, grouped, short, plural } from './words.js';
import { chip, tableBox, tableHead, legend } from './parts.js';
import { barList, scatter, lives } from './charts.js';

const usd = dollars => money(dollars * 1e6);
const share = (part, digits = 1) => (100 * part).toFixed(digits) + '\u00a0%';
const DEFAULT = 'auto';

function markOf(policy) {
  return policy === DEFAULT ? 'default' : '';
}

/* ---- the answer ---- */

export function simulateSentence(report) {
  const find = name => report.policies.find(p => p.policy === name),
    raw = find('exact') || find('raw'),
    auto = find(DEFAULT),
    words = [plural(report.sessions, 'session')];
  const best = auto || report.policies.find(p => p !== raw);
  if (raw) words.push(`${usd(raw.cost_usd)} as they were`);
  if (best) {
    words.push(`${usd(best.cost_usd)} with ${best.policy}`);
    words.push(best.evidence.lost ? `${grouped(best.evidence.lost)} lost` : 'nothing lost');
    if (best.recalls) words.push(plural(best.recalls, 'recall'));
  }
  return words.join(', ') + '.';
}

function circumstances(report) {
  const model = report.model || 'each log’s own model',
    timeless = report.sessions_without_times;
  return (
    `At the prices and cache rules of ${model}, in a window of ` +
    `${grouped(report.window_tokens)} tokens. ` +
    (timeless
      ? `${grouped(timeless)} of the logs ${timeless === 1 ? 'has' : 'have'} no time stamps: ` +
        'there nothing expires from the cache, so they come out cheaper than in life.'
      : 'Every log has time stamps, so pauses count.')
  );
}

/* ---- charts ---- */

const ranked = report => report.policies.slice().sort((a, b) => a.cost_usd - b.cost_usd);

/* How far bars go: policies that are far dearer than sending all do not squeeze the others. */
function barMost(values, base) {
  const most = Math.max(...values, 0);
  return base && most > 1.5 * base ? 1.25 * base : most;
}

function baseOf(report) {
  return report.policies.find(p => p.policy === 'exact' || p.policy === 'raw');
}

function colourOf(policy, data, base) {
  if (base && policy.cost_usd > base.cost_usd * 1.000001) return 's-dear';
  return data.others.includes(policy.policy) ? 's-other' : 's-ours';
}

function costBars(data) {
  const report = data.report,
    rows = ranked(report),
    base = baseOf(report);
  const most = barMost(
    rows.map(p => p.cost_usd),
    base?.cost_usd,
  );
  return barList(
    'What each policy costs',
    rows.map(p => ({
      name: p.policy,
      chip: markOf(p.policy),
      is_bad: base && p.cost_usd > base.cost_usd * 1.000001,
      figures:
        usd(p.cost_usd) +
        (p.cost_ratio_to_exact === undefined ? '' : ` · ${share(p.cost_ratio_to_exact)}`) +
        ` · ${p.floor_multiple.toFixed(2)}×`,
      parts: [[colourOf(p, data, base), p.cost_usd]],
      mark: report.floor_usd,
    })),
    most,
  );
}

function evidenceBars(data) {
  return barList(
    'What the answers still found',
    ranked(data.report).map(p => ({
      name: p.policy,
      chip: markOf(p.policy),
      is_bad: p.evidence.lost > 0,
      figures:
        `at hand ${share(p.evidence.supported)} · blind ${share(p.evidence.blind_quotes)} · lost ` +
        grouped(p.evidence.lost),
      parts: [
        ['e-hand', p.evidence.supported],
        ['e-call', p.evidence.recallable],
        ['e-lost', p.evidence.lost ? 1 - p.evidence.supported - p.evidence.recallable : 0],
      ],
    })),
    1,
  );
}

function cacheBars(data) {
  const rows = ranked(data.report),
    base = baseOf(data.report);
  return barList(
    'What is read from the cache, and written to it',
    rows.map(p => {
      const read = p.cached_share * p.prompt_tokens;
      return {
        name: p.policy,
        chip: markOf(p.policy),
        figures:
          `${short(p.prompt_tokens)} tokens · read ${share(p.cached_share)} · written ` +
          share(p.prompt_tokens ? p.written_tokens / p.prompt_tokens : 0),
        parts: [
          ['c-read', read],
          ['c-written', p.written_tokens],
          ['c-fresh', Math.max(0, p.prompt_tokens - read - p.written_tokens)],
        ],
      };
    }),
    barMost(
      rows.map(p => p.prompt_tokens),
      base?.prompt_tokens,
    ),
  );
}

/* Nobody chooses what costs more than raw by a fifth: it is named below the chart. */
const PLOTTED_MAX = 1.2;

function frontier(data) {
  const report = data.report,
    dearest = Math.max(...report.policies.map(p => p.cost_usd));
  const all = report.policies.map(p => ({
    name: p.policy,
    cost: p.cost_ratio_to_exact ?? (dearest ? p.cost_usd / dearest : 0),
    blind: p.evidence.blind_quotes,
  }));
  const shown = all.filter(p => p.cost <= PLOTTED_MAX),
    left = all.filter(p => p.cost > PLOTTED_MAX);
  const isBeaten = p =>
    all.some(
      o =>
        o !== p &&
        !o.name.startsWith('clairvoyant') &&
        o.cost <= p.cost &&
        o.blind <= p.blind &&
        (o.cost < p.cost || o.blind < p.blind),
    );
  return [
    scatter(
      'Cost against blind quotes, the tables below say the same',
      shown.map(p => ({
        name: p.name,
        x: p.blind,
        y: p.cost,
        class: data.others.includes(p.name) ? 's-other' : 's-ours',
        is_large: !isBeaten(p),
        is_bold: p.name === DEFAULT,
        says: `${p.name}: ${share(p.cost)} of raw, ${share(p.blind, 2)} blind`,
      })),
      {
        xMin: 0.02,
        yMin: 1,
        xSay: v => share(v, v < 0.1 && v ? 1 : 0),
        ySay: v => share(v, 0),
        xName: 'blind quotes, of requests with evidence',
      },
    ),
    left.length
      ? el(
          'p',
          { class: 'note' },
          'Not drawn, because they cost over a fifth more than raw: ' +
            left.map(p => `${p.name} (${share(p.cost, 0)})`).join(', ') +
            '.',
        )
      : '',
  ];
}

function livesOf(data) {
  const life = data.longest,
    points = new Map(life.policies.map(p => [p.policy, p.points]));
  const base = points.get('exact') || points.get('raw');
  return lives(
    ranked(data.report)
      .filter(p => points.has(p.policy))
      .map(p => ({
        name: p.policy,
        chip: markOf(p.policy),
        isOurs: !data.others.includes(p.policy),
        points: points.get(p.policy),
      })),
    base,
    life.requests,
  );
}

/* ---- tables ---- */

const nameCell = policy =>
  el('th', { scope: 'row' }, policy, markOf(policy) ? [' ', chip('blue', markOf(policy))] : '');

function number(text, isBad) {
  return el('td', { class: 'number' + (isBad ? ' bad' : '') }, text);
}

const POLICY_COLUMNS = [
  'Policy',
  '#USD',
  '#Of raw',
  '#Median',
  '#Times the floor',
  '#Blind quotes',
  '#Nothing at hand',
  '#User tokens gone',
  '#First sight',
  '#By result',
  '#At hand',
  '#Lost',
  '#Recalls',
  '#Cached',
  '#Steps',
  '#Over window',
];

function policyRow(p) {
  const e = p.evidence,
    ratio = p.cost_ratio_to_exact;
  return el(
    'tr',
    { class: p.policy === DEFAULT ? 'marked' : null, 'data-policy': p.policy },
    nameCell(p.policy),
    number(usd(p.cost_usd)),
    number(ratio === undefined ? '' : share(ratio), ratio > 1.000001),
    number(p.median_ratio === undefined || p.median_ratio < 0 ? '' : share(p.median_ratio)),
    number(p.floor_multiple.toFixed(2) + '×'),
    number(share(e.blind_quotes, 2)),
    number(share(e.all_missing, 2)),
    number(grouped(e.user_tokens_gone), e.user_tokens_gone > 0),
    number(share(e.first_sight_supported, 2)),
    number(share(e.first_sight_results, 2)),
    number(share(e.supported, 2)),
    number(grouped(e.lost), e.lost > 0),
    number(grouped(p.recalls)),
    number(share(p.cached_share)),
    number(grouped(p.steps)),
    number(grouped(p.over_window), p.over_window > 0),
  );
}

function policiesTable(title, rows) {
  return tableBox(
    title,
    el('caption', { class: 'sr' }, title),
    tableHead(POLICY_COLUMNS),
    el('tbody', null, rows.sort((a, b) => a.cost_usd - b.cost_usd).map(policyRow)),
  );
}

function agentTables(report) {
  const agents = (report.policies[0]?.by_agent || []).map(a => a.agent);
  const tables = [
    el('h3', null, `All ${plural(report.sessions, 'session')}, floor ${usd(report.floor_usd)}`),
    policiesTable('All sessions', report.policies.slice()),
  ];
  if (agents.length > 1)
    for (const name of agents) {
      const rows = report.policies.flatMap(p =>
        p.by_agent.filter(a => a.agent === name).map(a => ({ ...a, policy: p.policy })),
      );
      tables.push(
        el(
          'details',
          null,
          el('summary', null, `${name}, ${plural(rows[0].sessions, 'session')}`),
          policiesTable('Sessions of ' + name, rows),
        ),
      );
    }
  return tables;
}

function sessionsTable(data) {
  const rows = ranked(data.report);
  return tableBox(
    'Session by session',
    el('caption', { class: 'sr' }, 'Each policy against raw, session by session'),
    tableHead(['Policy', '#Median', '#Dearer by over 2 %', '#Worst', 'The worst session']),
    el(
      'tbody',
      null,
      rows.map(p => {
        const worst = data.worst.find(w => w.policy === p.policy) || {};
        return el(
          'tr',
          { class: p.policy === DEFAULT ? 'marked' : null },
          nameCell(p.policy),
          number(share(p.median_ratio)),
          number(grouped(p.sessions_dearer), p.sessions_dearer > 0),
          number(worst.ratio === undefined ? '' : share(worst.ratio), worst.ratio > 1.02),
          el('td', { class: 'path' }, worst.path || ''),
        );
      }),
    ),
  );
}

function modelsTable(report) {
  const order = ranked(report).map(p => p.policy);
  return tableBox(
    'At other prices',
    el('caption', { class: 'sr' }, 'Policies at the prices of several models'),
    tableHead(['Policy', ...report.by_model.map(m => '#' + m.model)]),
    el(
      'tbody',
      null,
      order.map(name =>
        el(
          'tr',
          { class: name === DEFAULT ? 'marked' : null },
          nameCell(name),
          report.by_model.map(m => {
            const p = m.policies.find(o => o.policy === name);
            const ratio = p.cost_ratio_to_exact;
            return number(
              usd(p.cost_usd) +
                (ratio === undefined ? '' : ` · ${share(ratio)}`) +
                ` · ${p.floor_multiple.toFixed(2)}×`,
              ratio > 1.000001,
            );
          }),
        ),
      ),
    ),
  );
}

/* ---- the page ---- */

function section(id, title, ...parts) {
  return el('section', { class: 'card', id }, el('h2', null, title), parts);
}

const says = (...words) => el('p', { class: 'note' }, words);

export function simulateNode(data) {
  const report = data.report;
  return el(
    'div',
    { class: 'simulate' },
    el('h1', { id: 'answer' }, simulateSentence(report)),
    el('p', { class: 'sub' }, circumstances(report)),
    section(
      'cost',
      'What each policy costs',
      says(
        'All sessions together, the cheapest first: dollars, share of what they were, times the ' +
          'floor (the dashed mark). The floor is a clairvoyant that keeps of each result only ' +
          'the lines that a later answer uses.',
      ),
      costBars(data),
      legend([
        ['s-ours', 'Weir'],
        ['s-other', 'as it was, or a model of another system'],
        ['s-dear', 'dearer than as it was'],
      ]),
    ),
    section(
      'evidence',
      'What the answers still found',
      says(
        'Of all that recorded answers took from earlier results. Blind: answers that quote a ' +
          'whole line which is not in the prompt.',
      ),
      evidenceBars(data),
      legend([
        ['e-hand', 'at hand'],
        ['e-call', 'a recall away, which is paid for'],
        ['e-lost', 'lost'],
      ]),
    ),
    section(
      'frontier',
      'Cost against blind quotes',
      says(
        'Lower is cheaper, further left is safer. Large dots: no other policy is both cheaper ' +
          'and safer.',
      ),
      frontier(data),
    ),
    section(
      'cache',
      'What is read from the cache, and written to it',
      says('Tokens of all prompts.'),
      cacheBars(data),
      legend([
        ['c-read', 'read'],
        ['c-written', 'written'],
        ['c-fresh', 'neither'],
      ]),
    ),
    data.longest
      ? section(
          'life',
          'How the prompt grows in the largest session',
          says(
            el('span', { class: 'path' }, data.longest.path),
            `, ${plural(data.longest.requests, 'request')} from left to right, tokens from ` +
              'bottom to top; the dashed line is the prompt as the agent sent it.',
          ),
          livesOf(data),
        )
      : '',
    baseOf(report) ? section('sessions', 'Session by session', sessionsTable(data)) : '',
    report.by_model ? section('models', 'At other prices', modelsTable(report)) : '',
    section('agents', 'All figures', agentTables(report)),
    says(
      'Every request went through the real engine; a recall is a whole extra request. What ' +
        'this page does not show: whether the agent would have answered as well.',
    ),
  );
}

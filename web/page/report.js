/* What all came to: the sums of `weir report`, as the page's overview and as a page in a file. */
import { el } from './draw.js';
import { money, grouped, short, percent, plural, day, bustName, agentName } from './words.js';
import { figure, tableBox, tableHead, legend } from './parts.js';
import { overTime, barList } from './charts.js';

const WHO = ['host', 'expired', 'model', 'provider', 'weir'];

/* The answer in a sentence. */
export function reportSentence(data) {
  const a = data.all,
    saved = a.unchanged_micro_usd - a.micro_usd,
    q = a.quality || {},
    missed = q.missing_artifact_requests || 0,
    words = [plural(a.requests, 'request')];
  if (data.sessions) words[0] += ` in ${plural(data.sessions, 'session')}`;
  if (!a.requests) return 'Nothing has come through yet.';
  if (a.unpriced === a.requests) return words[0] + ', to models without a known price.';
  words.push(`${money(a.unchanged_micro_usd)} as they came`, `${money(a.micro_usd)} with Weir`);
  words.push(
    saved >= 0
      ? `saved ${money(saved)} (${percent(saved, a.unchanged_micro_usd)})`
      : `${money(-saved)} more than without`,
  );
  words.push(
    missed
      ? `${plural(missed, 'recall')} brought nothing`
      : q.recalls
        ? `${plural(q.recalls, 'recall')}, all answered`
        : 'nothing was asked for again',
  );
  return words.join(', ') + '.';
}

/* What the sums leave out, or only guess. */
function leftOut(a) {
  const words = ['Money is what the providers’ usage says, at their prices.'];
  if (a.estimated)
    words.push(`For ${plural(a.estimated, 'request')} without usage it is estimated.`);
  if (a.unpriced)
    words.push(
      `${plural(a.unpriced, 'request')} to models without a price are in no sum of money.`,
    );
  if (a.shadow)
    words.push(
      `${plural(a.shadow, 'request')} in shadow went out as they came: ` +
        `${short(a.shadow_prompt_tokens)} tokens would have been ` +
        `${short(a.shadow_would_send_tokens)}, which is in no sum.`,
    );
  return words.join(' ');
}

function sumFigures(a) {
  const saved = a.unchanged_micro_usd - a.micro_usd,
    broken = WHO.filter(w => w !== 'weir').reduce((n, w) => n + a.busts[w], 0),
    q = a.quality || {};
  return el(
    'dl',
    { class: 'figures-row' },
    figure(
      'Saved',
      money(saved),
      `${percent(saved, a.unchanged_micro_usd)} of ${money(a.unchanged_micro_usd)}`,
      saved >= 0 ? 'good' : 'bad',
      { id: 'all-saved', 'data-value': saved },
    ),
    figure('Paid', money(a.micro_usd), plural(a.requests, 'request'), '', {
      id: 'all-paid',
      'data-value': a.micro_usd,
    }),
    figure('Tokens sent', short(a.sent_tokens), `of ${short(a.raw_tokens)} that came`, '', {
      id: 'all-sent',
      'data-value': a.sent_tokens,
    }),
    figure('Planned steps', grouped(a.busts.weir), `cost ${money(a.steps_micro_usd)}, in the sum`),
    figure('Cache broken', grouped(broken), 'by others than Weir'),
    figure(
      'Recalls',
      grouped(q.recalls || 0),
      q.missing_artifact_requests
        ? plural(q.missing_artifact_requests, 'miss', 'misses')
        : 'none missed',
    ),
  );
}

/* A sign of quality; those that were not seen are not written. */
const sign = (t, name) => (t.quality && t.quality[name]) || 0;

const COLUMNS = [
  ['#Requests', t => grouped(t.requests)],
  ['#Changed', t => grouped(t.changed)],
  ['#Paid', t => (t.unpriced === t.requests ? '?' : money(t.micro_usd))],
  ['#Saved', t => (t.unpriced === t.requests ? '?' : money(t.unchanged_micro_usd - t.micro_usd))],
  ['#Sent of what came', t => percent(t.sent_tokens, t.raw_tokens)],
  ['#Cache broken', t => grouped(WHO.reduce((n, w) => n + (w === 'weir' ? 0 : t.busts[w]), 0))],
  ['#Recalls', t => grouped(sign(t, 'recalls'))],
  ['#Recalls missed', t => grouped(sign(t, 'missing_artifact_requests')), true],
  ['#Tasks completed', t => grouped(sign(t, 'task_completed'))],
  ['#Corrections', t => grouped(sign(t, 'corrective_user_messages'))],
  ['#Repeated calls', t => grouped(sign(t, 'repeated_tool_call_count'))],
  ['#Read again', t => grouped(sign(t, 'model_reread_requests'))],
  ['#Tests broken after', t => grouped(sign(t, 'test_or_build_failed_after_rewrite'))],
  ['#Bad pairs', t => grouped(sign(t, 'invalid_tool_call_continuation')), true],
  ['#Too long', t => grouped(sign(t, 'upstream_context_errors'))],
  ['#Failed edits', t => grouped(sign(t, 'failed_edits'))],
  ['#Blind edits', t => grouped(sign(t, 'blind_edits')), true],
  ['#Placeholders written', t => grouped(sign(t, 'placeholders_written')), true],
];

function partsTable(title, what, parts, nameOf) {
  return el(
    'section',
    { class: 'card', id: 'by-' + what },
    el('h2', null, title),
    tableBox(
      title,
      el('caption', { class: 'sr' }, title),
      tableHead([what[0].toUpperCase() + what.slice(1), ...COLUMNS.map(c => c[0])]),
      el(
        'tbody',
        null,
        parts.map(part =>
          el(
            'tr',
            { 'data-name': part[what] },
            el('th', { scope: 'row', class: 'name' }, nameOf(part[what])),
            COLUMNS.map(([, say, isBad]) => {
              const text = say(part);
              return el('td', { class: 'number' + (isBad && text !== '0' ? ' bad' : '') }, text);
            }),
          ),
        ),
      ),
    ),
  );
}

function culprits(all) {
  const rows = WHO.filter(w => all.busts[w]).sort(
    (a, b) => all.bust_tokens[b] - all.bust_tokens[a],
  );
  return rows.length
    ? barList(
        'Tokens written again, by who broke the cache',
        rows.map(w => ({
          name: bustName(w),
          figures: `${short(all.bust_tokens[w])} tokens, ${plural(all.busts[w], 'time')}`,
          parts: [['b-' + w, all.bust_tokens[w]]],
        })),
        Math.max(...rows.map(w => all.bust_tokens[w])),
      )
    : el('p', { class: 'quiet' }, 'Nobody broke it.');
}

export function reportNode(data) {
  const a = data.all,
    hours = data.hours || [];
  const span = hours.length ? ` From ${day(data.first_ms)} to ${day(data.last_ms)}.` : '';
  return el(
    'div',
    { class: 'report' },
    el('h1', { id: 'answer' }, reportSentence(data)),
    el('p', { class: 'sub' }, leftOut(a) + span),
    sumFigures(a),
    hours.length
      ? el(
          'div',
          { class: 'pair' },
          el(
            'section',
            { class: 'card' },
            el('h2', null, 'Money over time'),
            overTime(
              'Money over time',
              hours,
              [
                ['t-came', 'unchanged_micro_usd'],
                ['t-sent', 'micro_usd'],
              ],
              money,
            ),
            legend([
              ['t-came', 'had nothing been changed'],
              ['t-sent', 'paid'],
            ]),
          ),
          el(
            'section',
            { class: 'card' },
            el('h2', null, 'Tokens over time'),
            overTime(
              'Tokens over time',
              hours,
              [
                ['t-came', 'raw_tokens'],
                ['t-sent', 'sent_tokens'],
              ],
              short,
            ),
            legend([
              ['t-came', 'came'],
              ['t-sent', 'sent'],
            ]),
          ),
        )
      : '',
    el(
      'section',
      { class: 'card' },
      el('h2', null, 'Who broke the cache'),
      el(
        'p',
        { class: 'note' },
        'Tokens that were in the provider’s cache and had to be written again. Planned steps are ' +
          'Weir’s own: they pay for themselves, and their cost is in the sums.',
      ),
      culprits(a),
    ),
    partsTable('By agent', 'agent', data.agents || [], agentName),
    partsTable('By model', 'model', data.models || [], m => m || 'none'),
    el(
      'p',
      { class: 'note' },
      'Signs of quality are counts of what was seen, not verdicts: docs/quality.md says what ' +
        'each one means.',
    ),
  );
}

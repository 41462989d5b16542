/* The list of sessions. */
import { el, spark } from './draw.js';
import { money, grouped, short, percent, plural, agentName, userName } from './words.js';
import { ask, onRequest, calm, link, facts } from './app.js';
import { agoNode, chip, wordsOf, shortModel, figure, tableBox } from './parts.js';

const SORTS = [
  ['last', 'newest'],
  ['saved', 'most saved'],
  ['cost', 'most expensive'],
  ['trouble', 'most trouble'],
  ['requests', 'most requests'],
];
const PAGE = 50;

function sessionChips(s) {
  const q = s.quality || {},
    out = [];
  if (s.steps)
    out.push(
      chip(
        'blue',
        plural(s.steps, 'planned step'),
        'Weir rewrote older parts once, because it pays: the cost is in the sums',
      ),
    );
  if (s.busts.host)
    out.push(chip('red', `agent broke the cache${s.busts.host > 1 ? ' ×' + s.busts.host : ''}`));
  if (s.busts.provider)
    out.push(
      chip('red', `provider lost the cache${s.busts.provider > 1 ? ' ×' + s.busts.provider : ''}`),
    );
  if (s.busts.model)
    out.push(
      chip('grey', 'model or tools changed' + (s.busts.model > 1 ? ' ×' + s.busts.model : '')),
    );
  if (s.busts.expired)
    out.push(chip('grey', 'cache expired' + (s.busts.expired > 1 ? ' ×' + s.busts.expired : '')));
  if (q.recalls) out.push(chip('green', plural(q.recalls, 'recall')));
  if (q.missing_artifact_requests)
    out.push(chip('red', plural(q.missing_artifact_requests, 'recall') + ' missed'));
  if (q.model_reread_requests)
    out.push(
      chip(
        'amber',
        plural(q.model_reread_requests, 'read') + ' again',
        'A file was read again whose earlier read had been taken out',
      ),
    );
  if (q.test_or_build_failed_after_rewrite) out.push(chip('amber', 'a test broke after'));
  if (q.blind_edits)
    out.push(
      chip(
        'red',
        plural(q.blind_edits, 'blind edit'),
        'An edit failed because the model had last seen the file in a shorter form',
      ),
    );
  if (q.placeholders_written)
    out.push(
      chip(
        'red',
        'placeholder written',
        'A line of Weir’s own stands in what the model wrote into a file',
      ),
    );
  if (s.failed) out.push(chip('red', s.failed + ' failed'));
  if (s.shadow) out.push(chip('grey', 'shadow'));
  if (s.pending)
    out.push(
      chip('amber', 'pending', 'A change that was asked for waits for the user’s next message'),
    );
  return out;
}

function savedCell(s) {
  const saved = s.unchanged_micro_usd - s.micro_usd;
  if (s.unpriced === s.requests) return el('span', { class: 'quiet' }, 'no price known');
  return [
    el('b', { class: saved > 0 ? 'good' : saved < 0 ? 'bad' : '' }, money(saved)),
    el(
      'span',
      { class: 'note' },
      `${money(s.micro_usd)} instead of ${money(s.unchanged_micro_usd)}`,
    ),
  ];
}

function sessionRow(s) {
  return el(
    'tr',
    { 'data-session': s.session },
    el(
      'td',
      { class: 'first' },
      el(
        'a',
        { href: link('session', { s: s.session }), 'data-key': 's:' + s.session, dir: 'auto' },
        wordsOf(s),
      ),
      el(
        'span',
        { class: 'note' },
        agentName(s.agent),
        ' · ',
        shortModel(s.model),
        ' · ',
        agoNode(s.last_ms),
      ),
    ),
    el('td', { class: 'user', title: s.user }, userName(s.user)),
    el(
      'td',
      { class: 'sparks' },
      spark(s.spark_came, s.spark_sent),
      el('span', { class: 'note' }, `${short(s.raw_tokens)} → ${short(s.sent_tokens)}`),
    ),
    el('td', { class: 'number count', 'data-requests': s.requests }, grouped(s.requests)),
    el(
      'td',
      { class: 'number', 'data-saved': s.saved_micro_usd, 'data-paid': s.micro_usd },
      savedCell(s),
    ),
    el('td', { class: 'chips' }, sessionChips(s)),
  );
}

export async function sessionsView(words) {
  const state = {
    q: words.q || '',
    agent: words.agent || '',
    model: words.model || '',
    sort: words.sort || 'last',
    since: words.since || '',
    offset: Number(words.offset) || 0,
  };
  const body = el('tbody'),
    count = el('p', { class: 'note', 'aria-live': 'polite' }),
    pager = el('p', { class: 'pager' });
  const sums = el('dl', { class: 'figures-row' });
  const since = () => (state.since ? Date.now() - Number(state.since) * 3600000 : '');

  const read = async () => {
    const answer = await ask('/sessions', {
      q: state.q,
      agent: state.agent,
      model: state.model,
      sort: state.sort,
      since_ms: since() && Math.round(since()),
      offset: state.offset,
      limit: PAGE,
    });
    const focused = document.activeElement?.dataset?.key;
    body.replaceChildren(...answer.sessions.map(sessionRow));
    if (focused) body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    count.textContent = answer.reading
      ? `reading the store: ${grouped(answer.reading.read)} of ${grouped(answer.reading.of)} ` +
        `requests`
      : plural(answer.total, 'session') +
        (state.q || state.agent || state.model || state.since ? ' found' : '');
    const last = Math.min(answer.total, state.offset + PAGE);
    pager.replaceChildren(
      ...(answer.total > PAGE
        ? [
            el(
              'button',
              { disabled: state.offset === 0, onclick: () => go(state.offset - PAGE) },
              'Newer',
            ),
            ` ${grouped(state.offset + 1)} to ${grouped(last)} of ${grouped(answer.total)} `,
            el(
              'button',
              { disabled: last >= answer.total, onclick: () => go(state.offset + PAGE) },
              'Older',
            ),
          ]
        : []),
    );
    drawSums();
    if (answer.reading) setTimeout(again, 200);
  };
  const again = calm(read, 1000);
  const go = offset => {
    state.offset = Math.max(0, offset);
    again();
  };
  const pick = (name, value) => {
    state[name] = value;
    state.offset = 0;
    history.replaceState(
      null,
      '',
      link('sessions', {
        q: state.q,
        agent: state.agent,
        model: state.model,
        sort: state.sort === 'last' ? '' : state.sort,
        since: state.since,
      }),
    );
    again();
  };

  const drawSums = () => {
    const o = facts();
    if (!o) return;
    const a = o.all,
      saved = a.unchanged_micro_usd - a.micro_usd,
      rest = a.raw_tokens - a.sent_tokens;
    sums.replaceChildren(
      figure(
        'Saved so far',
        money(saved),
        `${percent(saved, a.unchanged_micro_usd)} of ${money(a.unchanged_micro_usd)}`,
        saved >= 0 ? 'good' : 'bad',
        { id: 'sum-saved', 'data-value': saved },
      ),
      figure('Paid', money(a.micro_usd), plural(a.requests, 'request'), '', {
        id: 'sum-paid',
        'data-value': a.micro_usd,
      }),
      figure(
        'Tokens sent',
        short(a.sent_tokens),
        `${short(rest)} of ${short(a.raw_tokens)} left out`,
        '',
        { id: 'sum-sent', 'data-value': a.sent_tokens },
      ),
      figure(
        'Read from cache',
        percent(a.cache_read_tokens, a.cache_read_tokens + a.cache_write_tokens + a.input_tokens),
        'of what providers counted',
        '',
        { id: 'sum-read', 'data-value': a.cache_read_tokens },
      ),
    );
  };

  const select = (name, label, options) =>
    el(
      'label',
      null,
      el('span', null, label),
      el(
        'select',
        { 'data-key': 'f:' + name, onchange: event => pick(name, event.target.value) },
        options.map(([value, text]) =>
          el('option', { value, selected: state[name] === value }, text),
        ),
      ),
    );
  const o = facts();
  const filters = el(
    'form',
    { class: 'filters', role: 'search', onsubmit: event => event.preventDefault() },
    el(
      'label',
      { class: 'grow' },
      el('span', null, 'Search'),
      el('input', {
        type: 'search',
        value: state.q,
        placeholder: 'words, session, user, agent, model',
        oninput: event => pick('q', event.target.value),
      }),
    ),
    select('agent', 'Agent', [
      ['', 'all'],
      ...(o ? o.agents : []).map(a => [a.agent, agentName(a.agent)]),
    ]),
    select('model', 'Model', [
      ['', 'all'],
      ...(o ? o.models : []).map(m => [m.model, shortModel(m.model) || 'none']),
    ]),
    select('since', 'Used', [
      ['', 'any time'],
      ['1', 'last hour'],
      ['24', 'last day'],
      ['168', 'last week'],
    ]),
    select('sort', 'Order', SORTS),
  );
  const head = el(
    'thead',
    null,
    el(
      'tr',
      null,
      ['Session', 'User', 'Prompt size', 'Requests', 'Saved', 'What happened'].map((text, i) =>
        el('th', { scope: 'col', class: i === 3 || i === 4 ? 'number' : null }, text),
      ),
    ),
  );
  const kept =
    o && o.keep !== 'transcript'
      ? el(
          'p',
          { class: 'note' },
          'Only originals are kept here (keep: originals in weir.yaml), so first words and ' +
            'before-and-after are not shown.',
        )
      : '';
  const skipped = o?.transcripts_skipped
    ? el(
        'p',
        { class: 'note', id: 'skipped' },
        `Of ${plural(o.transcripts_skipped, 'request')} since the server began only figures are ` +
          `kept: writing what they said could not keep up.`,
      )
    : '';
  const node = el(
    'div',
    null,
    el('h1', { class: 'sr' }, 'Sessions'),
    sums,
    filters,
    kept,
    skipped,
    tableBox(
      'Sessions',
      el('caption', { class: 'sr' }, 'Sessions that went through Weir'),
      head,
      body,
    ),
    count,
    pager,
  );
  await read();
  if (!body.children.length && !state.q && !state.agent && !state.model && !state.since)
    node.append(
      el(
        'section',
        { class: 'card' },
        el('h2', null, 'Nothing has come through yet'),
        el(
          'p',
          null,
          'Start an agent through this server and its sessions appear here as they happen:',
        ),
        el('pre', null, 'weir run -- claude'),
      ),
    );
  return { node, title: 'Sessions', leave: onRequest(again) };
}

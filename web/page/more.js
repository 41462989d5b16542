/* Views beside the sessions: what was taken out, what if, the tail. */
import { el } from './draw.js';
import { money, grouped, short, plural, clock, day, agentName } from './words.js';
import { bust, stepFlag, visible, userName } from './words.js';
import { ask, askText, tell, notice, onRequest, link, facts } from './app.js';
import { chip, shortModel, tableBox, tableHead } from './parts.js';
import { textBox } from './text.js';

/* ---- what was taken out ---- */

const FORMS = {
  summary: 'a finished task, summed up',
  cleared: 'taken out, one line is left',
  tidied: 'all that it says is left',
  condensed: 'only the lines that matter are left',
  masked: 'taken out, one line is left',
  reference: 'stands elsewhere in the prompt, too',
  capped: 'its beginning and end are left',
  evicted: 'taken out, one line is left',
  edited: 'long parts of it are left out',
  folded: 'a finished task, summed up',
  summarised: 'summed up',
  pruned: 'long arguments of the call are left out',
  dropped: 'part of something that is summed up',
};

/* Requests that brought something back, or did not: who asked, and when. */
function askedTable(rows, recalls) {
  const asked = rows.filter(r => r.recalls || r.misses);
  if (!asked.length) return '';
  let next = 0;
  const inOrder =
    asked.reduce((n, r) => n + (r.recalls || 0) + (r.misses || 0), 0) === recalls.length;
  const handles = r =>
    inOrder
      ? recalls
          .slice(next, (next += (r.recalls || 0) + (r.misses || 0)))
          .map(c => [el('code', null, c.handle), ' '])
      : '';
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'Who asked for something again'),
    tableBox(
      'Recalls',
      el('caption', { class: 'sr' }, 'Recalls of this session'),
      tableHead(['When', 'Who', 'What came', 'Handle', 'Request']),
      el(
        'tbody',
        null,
        asked.map(r =>
          el(
            'tr',
            { 'data-recalls': r.recalls || 0, 'data-misses': r.misses || 0 },
            el('td', { class: 'when' }, day(r.time_ms)),
            el('td', { class: 'agent' }, `${agentName(r.agent)}, ${shortModel(r.model)}`),
            el(
              'td',
              null,
              r.recalls ? chip('green', plural(r.recalls, 'original')) : '',
              r.misses ? chip('red', plural(r.misses, 'miss', 'misses')) : '',
            ),
            el('td', null, handles(r)),
            el(
              'td',
              { class: 'when' },
              el('a', { href: link('request', { id: r.id }) }, clock(r.time_ms)),
            ),
          ),
        ),
      ),
    ),
  );
}

export async function recallView(words) {
  const [{ originals, recalls }, session] = await Promise.all([
    ask('/originals', { session: words.s }),
    ask('/session', { session: words.s }),
  ]);
  const asked = new Map();
  for (const r of recalls) asked.set(r.handle, [...(asked.get(r.handle) || []), r]);
  const shown = el('div'),
    hits = el('div', { 'aria-live': 'polite' });
  const open = async (o, line) => {
    try {
      shown.replaceChildren(
        textBox(await askText('/original', { handle: o.handle }), o.what || o.kind, line),
      );
      shown.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      notice(error.message, true);
    }
  };
  const field = el('input', {
    type: 'search',
    id: 'find',
    placeholder: 'text that stood in a result',
  });
  const isPattern = el('input', { type: 'checkbox', id: 'pattern' });
  const search = async event => {
    event.preventDefault();
    hits.replaceChildren(el('p', { class: 'quiet' }, 'Searching.'));
    try {
      const answer = await ask('/search', {
        session: words.s,
        [isPattern.checked ? 'pattern' : 'words']: field.value,
      });
      hits.replaceChildren(
        el(
          'p',
          { class: 'note' },
          `${plural(answer.matches, 'line')} in ${plural(answer.searched, 'original')}` +
            (answer.hits.length < answer.matches ? `, the first ${answer.hits.length}` : ''),
        ),
        el(
          'ul',
          { class: 'hits' },
          answer.hits.map(h =>
            el(
              'li',
              null,
              el(
                'button',
                { class: 'plain', onclick: () => open(h, h.line) },
                el('span', { class: 'note' }, `${visible(h.what || h.kind)}, line ${h.line}`),
                el('code', { dir: 'auto' }, visible(h.text)),
              ),
            ),
          ),
        ),
      );
    } catch (error) {
      hits.replaceChildren(el('p', { class: 'bad' }, error.message));
    }
  };
  const row = o => {
    const calls = asked.get(o.handle) || [];
    return el(
      'tr',
      null,
      el(
        'td',
        { class: 'first' },
        el(
          'button',
          { class: 'plain', onclick: () => open(o) },
          visible(o.what || (o.form === 'summary' ? 'A finished task' : o.tool || o.kind)),
        ),
        el(
          'span',
          { class: 'note' },
          (o.tool && o.what ? o.tool + ' · ' : '') + (FORMS[o.form] || o.form),
        ),
      ),
      el('td', { class: 'number' }, grouped(o.tokens)),
      el('td', null, el('code', null, o.handle)),
      el(
        'td',
        null,
        calls.length
          ? calls.map(c =>
              chip(c.answered ? 'green' : 'red', `turn ${c.turn}${c.answered ? '' : ', missed'}`),
            )
          : el('span', { class: 'quiet' }, 'nobody'),
      ),
    );
  };
  const node = el(
    'div',
    null,
    el(
      'p',
      { class: 'crumbs' },
      el('a', { href: '#/sessions' }, 'Sessions'),
      ' › ',
      el('a', { href: link('session', { s: words.s }) }, 'Session'),
    ),
    el('h1', null, 'What was taken out'),
    el(
      'p',
      { class: 'lead' },
      originals.length
        ? `${plural(originals.length, 'original')} of the newest prompt, ` +
            `${grouped(originals.reduce((n, o) => n + o.tokens, 0))} tokens, are in the store, ` +
            `whole. The model gets them back with weir_recall, you with a click.`
        : 'Nothing was taken out of this session.',
    ),
    originals.length
      ? el(
          'form',
          { class: 'filters', role: 'search', onsubmit: search },
          el('label', { class: 'grow', for: 'find' }, el('span', null, 'Search in them'), field),
          el('label', { class: 'check', for: 'pattern' }, isPattern, ' regular expression'),
          el('button', { class: 'primary' }, 'Search'),
        )
      : '',
    hits,
    shown,
    askedTable(session.rows, recalls),
    originals.length
      ? tableBox(
          'Originals',
          el('caption', { class: 'sr' }, 'What was taken out of this session'),
          el(
            'thead',
            null,
            el(
              'tr',
              null,
              ['What', 'Tokens', 'Handle', 'Asked for again'].map((t, i) =>
                el('th', { scope: 'col', class: i === 1 ? 'number' : null }, t),
              ),
            ),
          ),
          el('tbody', null, originals.map(row)),
        )
      : '',
  );
  return { node, title: 'What was taken out' };
}

/* ---- what if ---- */

/* What new sessions get from now on, as the server has answered; `back` takes it back. */
function usedWords(said, back) {
  return el(
    'section',
    { class: 'card', id: 'use' },
    el('h2', null, `New sessions get ${said.policy}`),
    el(
      'p',
      null,
      said.is_wanted
        ? 'From now on, in every process that shares this store. '
        : 'As the server is configured. ',
      'Sessions that have begun keep the policy they began with.',
      said.rules ? ` Rules of weir.yaml that name a policy (${said.rules}) still hold.` : '',
    ),
    said.is_wanted
      ? el('button', { onclick: back }, `Go back to ${said.configured}, as configured`)
      : '',
  );
}

/* The server will not: a policy was typed for it. */
function refusedWords(policy, message) {
  return el(
    'section',
    { class: 'card', id: 'use' },
    el('h2', null, `New sessions do not get ${policy}`),
    el('p', { class: 'bad' }, message),
  );
}

export async function whatIfView(words) {
  const place = el('div', { 'aria-live': 'polite' }),
    use = el('div', { 'aria-live': 'polite' });
  let isGone = false;
  const useIt = async policy => {
    try {
      const said = await tell('/policy', { policy });
      use.replaceChildren(usedWords(said, () => useIt(null)));
      notice(`New sessions get ${said.policy} from now on.`);
    } catch (error) {
      use.replaceChildren(refusedWords(policy, error.message));
    }
    use.scrollIntoView({ block: 'nearest' });
  };
  const row = (name, r, best) =>
    el(
      'tr',
      null,
      el('th', { scope: 'row' }, name, name === 'auto' ? [' ', chip('blue', 'default')] : ''),
      el(
        'td',
        { class: 'number' },
        el('b', { class: r.micro_usd <= best ? 'good' : '' }, money(r.micro_usd)),
      ),
      el('td', { class: 'number' }, grouped(r.sent_tokens)),
      el('td', { class: 'number' }, grouped(r.blind)),
      el('td', { class: 'number' }, grouped(r.recalls)),
      el('td', { class: 'number' }, grouped(r.steps)),
      el('td', null, el('button', { onclick: () => useIt(name) }, 'Use for new sessions')),
    );
  const draw = job => {
    const done = job.results || [],
      best = Math.min(...done.map(r => r.micro_usd));
    place.replaceChildren(
      job.error
        ? el('p', { class: 'bad' }, job.error)
        : job.is_done
          ? ''
          : el(
              'p',
              null,
              el('progress', { max: job.total, value: job.done, 'aria-label': 'policies played' }),
              ` ${job.done} of ${job.total} policies played`,
            ),
      done.length
        ? tableBox(
            'What if',
            el('caption', { class: 'sr' }, 'This session under other policies'),
            el(
              'thead',
              null,
              el(
                'tr',
                null,
                [
                  'Policy',
                  'Cost',
                  'Tokens sent',
                  'Used and not in view',
                  'Recalls',
                  'Steps',
                  'Use it',
                ].map((t, i) => el('th', { scope: 'col', class: i && i < 6 ? 'number' : null }, t)),
              ),
            ),
            el(
              'tbody',
              null,
              done.map(r => row(r.policy, r, best)),
            ),
          )
        : '',
    );
  };
  const run = async () => {
    try {
      let job = await tell('/traffic/whatif', { session: words.s });
      draw(job);
      while (!job.is_done && !job.error && !isGone) {
        await new Promise(resolve => setTimeout(resolve, 500));
        job = await ask('/whatif');
        draw(job);
      }
    } catch (error) {
      place.replaceChildren(el('p', { class: 'bad' }, error.message));
    }
  };
  const node = el(
    'div',
    null,
    el(
      'p',
      { class: 'crumbs' },
      el('a', { href: '#/sessions' }, 'Sessions'),
      ' › ',
      el('a', { href: link('session', { s: words.s }) }, 'Session'),
    ),
    el('h1', null, 'What if'),
    el(
      'p',
      { class: 'lead' },
      'This session, as it came, played again by the real engine under other policies, at the ' +
        'provider’s cache prices. Nothing is sent anywhere.',
    ),
    el('p', null, el('button', { class: 'primary', onclick: run }, 'Play it')),
    place,
    use,
  );
  return {
    node,
    title: 'What if',
    leave: () => {
      isGone = true;
    },
  };
}

/* ---- tail ---- */

const TAIL_MAX = 500;

function tailLine(r) {
  const left = r.came - r.sent,
    words = [];
  if (r.not_read) words.push('not read: ' + r.not_read);
  else if (r.shadow) words.push(`would have been ${short(r.would_send)}`);
  else if (r.changed) words.push(`${short(left)} left out`);
  else words.push('as it came');
  if (r.step) words.push(stepFlag(r.step));
  else if (r.bust) words.push(bust(r.bust, r.place));
  if (r.recalls) words.push(plural(r.recalls, 'recall'));
  return el(
    'li',
    { class: r.status === 200 ? '' : 'bad' },
    el('time', null, clock(r.time_ms)),
    ' ',
    el('a', { href: link('request', { id: r.id }) }, `${short(r.came)} → ${short(r.sent)}`),
    ' ',
    el(
      'span',
      { class: 'who' },
      `${agentName(r.agent)}, ${shortModel(r.model)}` +
        (!facts() || facts().tenant === 'local' ? '' : ', ' + userName(facts().tenant)),
    ),
    ' ',
    el('span', null, words.join(', ')),
    ' ',
    el(
      'span',
      { class: 'note' },
      r.status === 200
        ? r.priced
          ? money(r.micro_usd)
          : ''
        : r.status
          ? 'status ' + r.status
          : 'no answer',
    ),
    ' ',
    el('a', { class: 'note', href: link('session', { s: r.session }) }, r.session),
  );
}

export async function tailView() {
  const list = el('ol', {
    class: 'tail',
    'aria-live': 'polite',
    'aria-label': 'Requests, newest first',
  });
  const { rows } = await ask('/rows', { since_ms: Date.now() - 3600000 });
  list.append(...rows.slice(-TAIL_MAX).reverse().map(tailLine));
  const stop = onRequest(row => {
    list.prepend(tailLine(row));
    while (list.children.length > TAIL_MAX) list.lastChild.remove();
  });
  const node = el(
    'div',
    null,
    el('h1', null, 'Tail'),
    el('p', { class: 'lead' }, 'A line a request, as it happens. The last hour is here.'),
    list,
  );
  return { node, title: 'Tail', leave: stop };
}

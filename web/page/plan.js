/* What was said of a session, what is out of its prompt, and what its next step would take: the
 * stages' own plan, as `weir plan` prints it, with the buttons that change it. */
import { el } from './draw.js';
import { money, grouped, plural, span, visible } from './words.js';
import { askSteering, canSteer, calm, link, onRequest } from './app.js';
import { agoNode, chip, tableBox, tableHead } from './parts.js';
import { order, priceWords } from './orders.js';

const PIECES_AT_ONCE = 40;

/* ---- what was said ---- */

function pinWords(pin) {
  if (pin.tool) return ['everything of the tool ', el('code', null, visible(pin.tool))];
  if (pin.path) return [el('code', null, visible(pin.path))];
  return ['the text of ', el('code', null, pin.handle)];
}

/* Chips for a session's head: what somebody has said of it and is in force, or waits. */
export function steeringChips(s) {
  const out = [];
  if (s.exact) out.push(chip('amber', 'goes as it comes', 'Exact was said of this session'));
  if (s.all_paused) out.push(chip('amber', 'everything is paused'));
  if (s.pins?.length) out.push(chip('green', plural(s.pins.length, 'pin')));
  if (s.waits_for === 'user')
    out.push(
      chip(
        'amber',
        'pending',
        'It waits for the user’s next message: signed thinking is bound to the prompt',
      ),
    );
  else if (s.waits_for === 'request')
    out.push(chip('grey', 'heard with the next request', 'The session’s next request does it'));
  return out;
}

function waitWords(s) {
  if (s.waits_for === 'user')
    return (
      'Pending: what was said waits for the user’s next message, because signed thinking is ' +
      'bound to the prompt.'
    );
  return s.waits_for === 'request' ? 'What was said is heard by the session’s next request.' : '';
}

function saidCard(s, again) {
  const name = { session: s.session };
  return el(
    'section',
    { class: 'card', id: 'said' },
    el('h2', null, 'What was said of this session'),
    waitWords(s) ? el('p', { class: 'step-note' }, waitWords(s)) : '',
    s.all_paused ? el('p', null, 'Everything is paused: all requests go as they came.') : '',
    s.exact
      ? el(
          'p',
          null,
          'Its messages go as they come. ',
          el(
            'button',
            {
              'data-key': 'resume',
              onclick: () =>
                order(
                  'Shorten it again?',
                  '/resume',
                  name,
                  'What comes is shortened again; what went whole stays so until the next step.',
                ).then(again),
            },
            'Shorten it again',
          ),
        )
      : '',
    s.pins.length
      ? el(
          'ul',
          { class: 'parts pins' },
          s.pins.map(pin =>
            el(
              'li',
              { dir: 'auto' },
              pinWords(pin),
              ' stays whole. ',
              el(
                'button',
                {
                  class: 'plain',
                  'data-key': 'unpin:' + Object.values(pin)[0],
                  onclick: () =>
                    order(
                      'Unpin it?',
                      '/unpin',
                      { ...name, ...pin },
                      'It is not pinned any more.',
                    ).then(again),
                },
                'Unpin',
              ),
            ),
          ),
        )
      : el('p', { class: 'quiet' }, 'Nothing is pinned.'),
  );
}

/* ---- pieces ---- */

function pieceName(p) {
  if (p.last_segment !== undefined && !p.tool)
    return `Messages ${p.segment} to ${p.last_segment}, summed up`;
  const name = visible(p.path || p.name || '');
  return [p.tool || p.kind, name].filter(Boolean).join(' ');
}

function pieceMoney(p, isOut) {
  if (isOut)
    return p.once_micro_usd === undefined
      ? `${grouped(p.rewrites_tokens || 0)} tokens written again`
      : `${money(p.once_micro_usd)} to have it back`;
  return p.a_request_micro_usd ? `${money(-p.a_request_micro_usd)} less a request` : '';
}

function keepButton(session, p, isOut, again) {
  if (p.pinned) return el('span', { class: 'note' }, 'pinned: comes back with the next step');
  const pin = p.handle
    ? { handle: p.handle }
    : p.path
      ? { path: p.path }
      : { segment: p.segment };
  return el(
    'button',
    {
      class: 'keep',
      onclick: () =>
        order(
          'Keep this whole?',
          '/pin',
          { session, ...pin, now: isOut },
          isOut ? 'From the next request on this is sent whole.' : 'This stays whole.',
        ).then(again),
    },
    'Keep it whole',
  );
}

function pieceRow(session, p, isOut, again) {
  const inner = (p.holds || []).map(h =>
    el(
      'li',
      { dir: 'auto' },
      pieceName(h),
      el('span', { class: 'note' }, ` ${grouped(h.tokens)} tokens `),
      h.path
        ? el(
            'button',
            {
              class: 'plain',
              onclick: () =>
                order(
                  'Keep this whole?',
                  '/pin',
                  { session, path: h.path, now: true },
                  'From the next request on this is sent whole.',
                ).then(again),
            },
            'Keep it whole',
          )
        : '',
    ),
  );
  return el(
    'tr',
    { 'data-segment': p.segment },
    el(
      'td',
      { class: 'first' },
      el('span', { dir: 'auto' }, pieceName(p)),
      el('span', { class: 'note' }, `#${p.segment} · ${p.form} by ${p.stage}`),
      inner.length
        ? el(
            'details',
            null,
            el('summary', null, `The ${plural(inner.length, 'result')} in it`),
            el('ul', { class: 'parts' }, inner),
          )
        : '',
    ),
    el(
      'td',
      { class: 'number' },
      grouped(p.tokens),
      ' → ',
      el('b', null, grouped(p.tokens_left)),
      ' tokens',
    ),
    el('td', { class: 'number' }, pieceMoney(p, isOut)),
    el('td', null, canSteer() ? keepButton(session, p, isOut, again) : ''),
  );
}

function piecesTable(session, part, isOut, again) {
  const body = el('tbody'),
    pieces = [...part.pieces].sort((a, b) => b.tokens - b.tokens_left - (a.tokens - a.tokens_left));
  let shown = 0;
  const more = el('button', { onclick: () => add() }, '');
  const add = () => {
    body.append(
      ...pieces
        .slice(shown, shown + PIECES_AT_ONCE)
        .map(p => pieceRow(session, p, isOut, again)),
    );
    shown = Math.min(pieces.length, shown + PIECES_AT_ONCE);
    more.textContent = `Show more of ${grouped(pieces.length)}`;
    if (shown >= pieces.length) more.remove();
  };
  const foot = el('p', null, more);
  add();
  const label = isOut ? 'Out of the prompt' : 'The next step';
  return el(
    'div',
    null,
    tableBox(
      label,
      el('caption', { class: 'sr' }, label),
      tableHead(['What', '#Size', isOut ? '#Price' : '#Saves', 'Keep']),
      body,
    ),
    more.parentNode ? foot : '',
    part.pieces_count > pieces.length
      ? el(
          'p',
          { class: 'note' },
          `The ${plural(pieces.length, 'piece')} that the plan lists, of ` +
            `${grouped(part.pieces_count)}.`,
        )
      : '',
  );
}

/* ---- the next step ---- */

function whenWords(when, coldAfterS) {
  /* What may come any time first; then the stages that wait for the window to fill. */
  const first = [...(when || [])].sort((a, b) => Boolean(b.words) - Boolean(a.words));
  const items = first.map(w => {
    const at = w.at_tokens ? `at ${grouped(w.at_tokens)} tokens` : '';
    return `${[w.words, at].filter(Boolean).join(', or ')} (${w.stage})`;
  });
  if (coldAfterS) items.push(`the cache expires ${span(coldAfterS * 1000)} after a request`);
  return el(
    'div',
    null,
    el('h2', { class: 'small' }, 'When it comes'),
    el(
      'ul',
      { class: 'parts' },
      items.map(text => el('li', null, text)),
    ),
  );
}

function nextCard(s, again) {
  const next = s.plan.next;
  const has = next.pieces_count > 0;
  return el(
    'section',
    { class: 'card', id: 'next' },
    el('h2', null, 'What the next step would take'),
    has
      ? el(
          'p',
          { 'data-before': next.tokens_before, 'data-after': next.tokens_after },
          `${plural(next.pieces_count, 'piece')}: the prompt goes from ` +
            `${grouped(next.tokens_before)} to ${grouped(next.tokens_after)} tokens. `,
          priceWords(next),
          next.pays_back_requests
            ? ` That pays back after ${plural(next.pays_back_requests, 'request')}.`
            : '',
        )
      : el('p', { class: 'quiet' }, 'Nothing, as things are.'),
    has && canSteer()
      ? el(
          'p',
          null,
          el(
            'button',
            {
              class: 'primary',
              'data-key': 'plan',
              onclick: () =>
                order(
                  'Take the next step now?',
                  '/plan',
                  { session: s.session },
                  'The step is taken with the next request.',
                ).then(again),
            },
            'Take it with the next request',
          ),
        )
      : '',
    whenWords(next.when, s.plan.cold_after_s),
    has ? piecesTable(s.session, next, false, again) : '',
  );
}

function outCard(s, again) {
  const { out, undo } = s.plan;
  return el(
    'section',
    { class: 'card', id: 'out' },
    el('h2', null, 'What is out of the prompt now'),
    el(
      'p',
      null,
      out.pieces_count
        ? `${plural(out.pieces_count, 'piece')}: ${grouped(out.tokens_before)} tokens came, ` +
            `${grouped(out.tokens_after)} were sent.`
        : 'Nothing: all of it is sent as it came.',
    ),
    undo && canSteer()
      ? el(
          'p',
          null,
          el(
            'button',
            {
              'data-key': 'undo',
              onclick: () =>
                order(
                  'Undo the last step?',
                  '/undo',
                  { session: s.session },
                  'The last step is undone with the next request.',
                ).then(again),
            },
            'Undo the last step',
          ),
          el('span', { class: 'note' }, ` ${priceWords(undo)}`),
        )
      : '',
    out.pieces_count ? piecesTable(s.session, out, true, again) : '',
  );
}

export async function planView(words) {
  const node = el('div');
  const read = async () => {
    const s = await askSteering(words.s);
    const focused = document.activeElement?.dataset?.key;
    node.replaceChildren(
      el(
        'p',
        { class: 'crumbs' },
        el('a', { href: '#/sessions' }, 'Sessions'),
        ' › ',
        el('a', { href: link('session', { s: words.s }) }, 'Session'),
      ),
      el('h1', null, 'Plan'),
      s.plan
        ? el(
            'p',
            { class: 'sub' },
            `${s.plan.model} under ${s.plan.policy}, as of the last request, `,
            agoNode(s.plan.time_ms),
          )
        : '',
      ...(s.plan
        ? [nextCard(s, again), outCard(s, again)]
        : [
            el(
              'p',
              { class: 'lead' },
              'There is no plan of this session yet: it is made behind a request that was read.',
            ),
          ]),
      saidCard(s, again),
    );
    if (focused) node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    return s;
  };
  const again = calm(read, 1000);
  const s = await read();
  const stop = onRequest(row => {
    if (row.session === s.session && !node.querySelector('details[open]')) again();
  });
  return { node, title: 'Plan', leave: stop };
}

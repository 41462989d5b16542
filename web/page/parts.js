/* Small parts that several views are made of. They ask no server, so a page in a file has them,
 * too. */
import { el } from './draw.js';
import { ago, visible } from './words.js';

export const LEFT = 52,
  RIGHT = 12; /* of charts: room for the axis, and behind the last bar */

/* ---- small parts ---- */

export function drawAgo(node) {
  node.textContent = ago(Number(node.dataset.ago));
}

export function agoNode(ms) {
  return el(
    'time',
    { 'data-ago': ms, datetime: new Date(ms).toISOString(), title: new Date(ms).toLocaleString() },
    ago(ms),
  );
}

export function chip(kind, text, title) {
  return el('span', { class: 'chip ' + kind, title }, text);
}

export function wordsOf(session) {
  return session.words ? visible(session.words) : session.session;
}

export function shortModel(model) {
  return model.replace(/-20\d{6}$/, '');
}

export function figure(label, value, note, kind, data) {
  return el(
    'div',
    { class: 'figure' + (kind ? ' ' + kind : ''), ...data },
    el('dt', null, label),
    el(
      'dd',
      null,
      el('span', { class: 'value' }, value),
      note ? el('span', { class: 'note' }, note) : '',
    ),
  );
}

/* Tables whose rows are cards on a phone. */
const CARDS = new Set(['Sessions', 'Out of the prompt', 'The next step']);

/* A table in a box that scrolls sideways by itself, and says so: in words above it where it does,
 * and to who cannot see it. */
export function tableBox(label, ...parts) {
  const hint = el(
    'p',
    { class: 'scroll-hint', hidden: true },
    'Scroll sideways to see all columns.',
  );
  const box = el(
    'div',
    { class: 'table-box', role: 'region', 'aria-label': label, tabindex: '0' },
    el('table', { class: CARDS.has(label) ? 'cards' : null }, parts),
  );
  const look = () => {
    const isWide = box.scrollWidth > box.clientWidth + 1;
    hint.hidden = !isWide;
    box.classList.toggle('scrolls', isWide);
  };
  new ResizeObserver(look).observe(box);
  return el('div', { class: 'table-wrap' }, hint, box);
}

/* The first row of a table; columns whose name begins with # hold numbers. */
export function tableHead(names) {
  return el(
    'thead',
    null,
    el(
      'tr',
      null,
      names.map(name =>
        name.startsWith('#')
          ? el('th', { scope: 'col', class: 'number' }, name.slice(1))
          : el('th', { scope: 'col' }, name),
      ),
    ),
  );
}

export function legend(items) {
  return el(
    'ul',
    { class: 'legend' },
    items.map(([key, text]) =>
      el('li', null, el('span', { class: 'swatch ' + key, 'aria-hidden': 'true' }), text),
    ),
  );
}

/* Texts as they were, however long and whatever is in them; and a question before something is
 * done. */
import { el } from './draw.js';
import { grouped, bytes, visible, diff, plural } from './words.js';

/* A question before something is done; true: yes. */
export function confirmDialog(title, question, yes) {
  return new Promise(resolve => {
    const dialog = el(
      'dialog',
      { 'aria-labelledby': 'ask-title' },
      el(
        'form',
        { method: 'dialog' },
        el('h2', { id: 'ask-title' }, title),
        el('p', null, question),
        el(
          'div',
          { class: 'actions' },
          el('button', { value: 'no' }, 'No'),
          el('button', { value: 'yes', class: 'primary' }, yes),
        ),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const LINES_AT_ONCE = 400,
  LINE_CHARS = 2000;

/* A long line is cut, with a button that shows more of it: five million characters in one line
 * would stop any browser. */
function lineNode(text, className) {
  const all = visible(text),
    node = el(
      'span',
      { class: 'line ' + (className || ''), dir: 'auto' },
      all.slice(0, LINE_CHARS) || '\u00a0',
    );
  if (all.length > LINE_CHARS) {
    let shown = LINE_CHARS;
    const more = el(
      'button',
      {
        class: 'plain more',
        onclick: () => {
          more.before(document.createTextNode(all.slice(shown, (shown += 20 * LINE_CHARS))));
          if (shown >= all.length) more.remove();
          else more.textContent = `… ${grouped(all.length - shown)} characters more`;
        },
      },
      `… ${grouped(all.length - LINE_CHARS)} characters more`,
    );
    node.append(more);
  }
  return node;
}

function linesNode(lines, render, at = 0) {
  const box = el('pre', { class: 'text', tabindex: '0' });
  let shown = Math.max(0, at - 20);
  const add = () => {
    const end = Math.min(lines.length, shown + LINES_AT_ONCE);
    box.append(...lines.slice(shown, end).map((l, i) => render(l, shown + i)));
    shown = end;
    if (shown < lines.length) {
      const more = el(
        'button',
        {
          class: 'plain more',
          onclick: () => {
            more.remove();
            add();
          },
        },
        `${plural(lines.length - shown, 'line')} more`,
      );
      box.append(more);
    }
  };
  if (shown) box.append(el('span', { class: 'line note' }, `(${plural(shown, 'line')} before)`));
  add();
  return box;
}

export function textBox(text, title, line) {
  const lines = text.split('\n');
  return el(
    'section',
    { class: 'card' },
    el('h3', { dir: 'auto' }, visible(title)),
    el('p', { class: 'note' }, `${plural(lines.length, 'line')}, ${bytes(text.length)}`),
    linesNode(lines, (l, i) => lineNode(l, line === i + 1 ? 'hit' : ''), line || 0),
  );
}

export function diffBox(before, after) {
  const all = diff(before, after),
    lines = [];
  /* Long runs that are the same are one line. */
  for (let i = 0; i < all.length;) {
    let end = i;
    while (end < all.length && all[end][0] === ' ') end++;
    if (end - i > 8) {
      lines.push(
        ...all.slice(i, i + 3),
        ['…', `${plural(end - i - 6, 'line')} the same`],
        ...all.slice(end - 3, end),
      );
      i = end;
    } else if (end > i) {
      lines.push(...all.slice(i, end));
      i = end;
    } else lines.push(all[i++]);
  }
  const kinds = { '-': 'gone', '+': 'new', '…': 'note', ' ': '' };
  return linesNode(lines, ([sign, text]) =>
    el(
      'span',
      { class: 'diff ' + kinds[sign] },
      el('span', { class: 'sign', 'aria-label': { '-': 'left out', '+': 'put in' }[sign] }, sign),
      lineNode(text),
    ),
  );
}

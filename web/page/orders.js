/* What a person orders: a session exact, a result whole, everything paused. */
import { el } from './draw.js';
import { money, grouped } from './words.js';
import { tell, notice } from './app.js';
import { confirmDialog } from './text.js';

/* What an order costs, as the server says it. */
export function priceWords(price) {
  if (!price) return 'It holds from the next request on.';
  const words = [`${grouped(price.rewrites_tokens)} tokens of the cache are written again`];
  if (price.cost_micro_usd !== undefined) {
    const each = price.a_request_micro_usd;
    words[0] +=
      each > 0
        ? `, and what comes back is written: up to ${money(price.once_micro_usd)} once`
        : `, which costs ${money(price.cost_micro_usd)} once`;
    if (each)
      words.push(`each request then costs ${money(Math.abs(each))} ${each < 0 ? 'less' : 'more'}`);
  }
  return words.join('; ') + '.';
}

/* An order is given twice: first to hear what it would cost, then for good. What signed thinking is
 * bound to cannot change before the user speaks, and then it says that it waits. */
export async function order(title, path, body, done) {
  try {
    let told = await tell(path, body);
    if (told && told.said === false && told.price) {
      if (!(await confirmDialog(title, priceWords(told.price), 'Yes'))) return;
      told = await tell(path, { ...body, confirm: true });
    }
    const waits = told?.steering?.waits_for === 'user';
    notice(waits ? done + ' It waits for the user’s next message.' : done);
  } catch (error) {
    notice('Not done: ' + error.message, true);
  }
}

export function modeControls(overview, { has, paused }, refresh) {
  const act = async () => {
    const words = paused
      ? [
          'Go on?',
          'Requests are shortened again. What was sent meanwhile stays as it was sent.',
          'Go on',
        ]
      : [
          'Pause everything?',
          'From now on every request goes out as it came. Prompts that were shortened are sent ' +
            'whole again, so their cache is written anew once.',
          'Pause everything',
        ];
    if (!(await confirmDialog(...words))) return;
    try {
      await tell(paused ? '/resume' : '/pause', {});
      notice(paused ? 'Weir goes on.' : 'Paused: every request goes out as it came.');
    } catch (error) {
      notice('Not done: ' + error.message, true);
    }
    refresh();
  };
  return el(
    'span',
    { class: 'controls' },
    el(
      'span',
      { class: 'mode', title: 'How requests are treated: weir.yaml says it' },
      paused ? 'paused' : overview.mode,
    ),
    has
      ? el(
          'button',
          { class: paused ? 'primary' : 'danger', 'data-key': 'pause', onclick: act },
          paused ? 'Go on' : 'Pause everything',
        )
      : '',
  );
}

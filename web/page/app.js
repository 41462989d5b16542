/* The page: which view is shown, what it asks the server, what it hears from it. Views are
 * functions that are given the words behind the # and return an element; what they need of the
 * server comes from `ask`, what they do there goes through `tell`. */
import { el } from './draw.js';
import { money, percent, grouped } from './words.js';
import { drawAgo } from './parts.js';
import { modeControls } from './orders.js';
import { sessionsView } from './sessions.js';
import { sessionView } from './session.js';
import { cacheView } from './cache.js';
import { recallView, whatIfView, tailView } from './more.js';
import { requestView } from './request.js';
import { planView } from './plan.js';
import { reportNode } from './report.js';

const API = 'v1/traffic';

/* ---- the server ---- */

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answerOf(response, asText) {
  if (response.ok)
    return response.status === 204 ? null : asText ? response.text() : response.json();
  let message = response.statusText;
  try {
    message = (await response.json()).error.message;
  } catch {
    /* no JSON: its status says it */
  }
  throw new Refusal(response.status, message);
}

function queryOf(parameters) {
  const words = Object.entries(parameters || {}).filter(
    ([, v]) => v !== undefined && v !== '' && v !== null,
  );
  return words.length ? '?' + new URLSearchParams(words) : '';
}

export async function ask(path, parameters) {
  return answerOf(await fetch(API + path + queryOf(parameters)));
}

export async function askText(path, parameters) {
  return answerOf(await fetch(API + path + queryOf(parameters)), true);
}

/* What was said of a session, and its plan. */
export async function askSteering(session) {
  return (await answerOf(await fetch('v1/plan' + queryOf({ session })))).steering;
}

/* `x-weir-page` says that this page asks: a page of another site cannot send it. */
export async function tell(path, body, headers) {
  return answerOf(
    await fetch('v1' + path, {
      method: 'POST',
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-weir-page': '1', ...headers },
    }),
  );
}

/* ---- what happened, said once ---- */

let noticeTimer;
export function notice(text, isBad) {
  const place = document.getElementById('notice');
  place.className = isBad ? 'shown bad' : 'shown';
  place.textContent = text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    place.className = '';
  }, 7000);
}

/* ---- live ---- */

/* A browser has six connections to a server, and a stream holds one: a page that nobody sees, in a
 * tab behind others or behind the back button, gives its own back. What it has missed it asks for
 * when it is seen again. */
const listeners = new Set();
let stream = null,
  isLive = false,
  lastId = 0,
  quietSince = 0;

export function onRequest(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function hear(row) {
  if (row.id <= lastId) return;
  lastId = row.id;
  for (const listener of listeners) listener(row);
  refreshTop();
}

function stopListening() {
  if (stream) stream.close();
  stream = null;
  isLive = false;
  quietSince = quietSince || Date.now();
}

async function listen() {
  stopListening();
  const since = quietSince;
  quietSince = 0;
  stream = new EventSource(API + '/live');
  stream.onopen = () => {
    isLive = true;
    drawTop();
  };
  stream.onerror = () => {
    isLive = false;
    drawTop();
  };
  stream.addEventListener('request', event => hear(JSON.parse(event.data)));
  if (!listeners.size) return;
  try {
    const missed = await ask('/rows', { since_ms: since });
    missed.rows.forEach(hear);
  } catch {
    /* the stream says what comes from now on */
  }
}

/* Calls that come close together are one, a moment later. */
export function calm(work, ms) {
  let timer = 0,
    isDue = false;
  const run = async () => {
    isDue = false;
    try {
      await work();
    } catch (error) {
      if (error.status === 401) showLogin();
    }
    timer = setTimeout(() => {
      timer = 0;
      if (isDue) run();
    }, ms);
  };
  return () => {
    isDue = true;
    if (!timer) {
      timer = -1;
      run();
    }
  };
}

/* ---- the top line ---- */

let overview = null,
  controls = { has: false, paused: false };

/* Whether this server takes orders (pause, pin, undo), and whether it is paused. */
async function readControls() {
  const response = await fetch('v1/pause');
  if (response.status >= 500) return; /* what was known is still the best there is */
  const told = response.ok ? await response.json() : null;
  const paused = Boolean(told && told.steering && told.steering.all_paused);
  controls = { has: response.ok, paused };
}

export function canSteer() {
  return controls.has;
}

function midnight() {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
}

async function readOverview() {
  overview = await ask('', { hours_since_ms: midnight() });
  await readControls();
  drawTop();
  if (overview.reading) setTimeout(refreshTop, 300);
}

const refreshTop = calm(readOverview, 2000);

function today() {
  const sum = { requests: 0, paid: 0, without: 0 };
  for (const hour of overview.hours) {
    sum.requests += hour.requests;
    sum.paid += hour.micro_usd;
    sum.without += hour.unchanged_micro_usd;
  }
  return sum;
}

function recallHealth() {
  const q = overview.all.quality,
    found = q.recalls || 0,
    missed = q.missing_artifact_requests || 0;
  if (!found && !missed) return el('span', { class: 'quiet' }, 'no recalls yet');
  return el(
    'span',
    {
      class: missed ? 'bad' : '',
      title: `${grouped(found)} of ${grouped(found + missed)} recalls were answered`,
    },
    `recalls ${grouped(found)} of ${grouped(found + missed)}`,
  );
}

const LINKS = [
  ['overview', 'Overview'],
  ['sessions', 'Sessions'],
  ['cache', 'Cache'],
  ['tail', 'Tail'],
];

function navigation() {
  const view = currentRoute().view;
  const inSession = ['session', 'request', 'recall', 'whatif', 'plan'].includes(view);
  return el(
    'nav',
    { 'aria-label': 'Views' },
    LINKS.map(([name, text]) =>
      el(
        'a',
        {
          href: '#/' + name,
          'aria-current': view === name || (inSession && name === 'sessions') ? 'page' : null,
        },
        text,
      ),
    ),
  );
}

function moneyToday() {
  const sum = today();
  if (!sum.requests) return el('span', { class: 'quiet', id: 'today' }, 'nothing yet today');
  const saved = sum.without - sum.paid;
  return el(
    'span',
    { id: 'today', 'data-paid': sum.paid, 'data-without': sum.without },
    'today ',
    el('b', null, money(sum.paid)),
    ' instead of ',
    money(sum.without),
    ' · ',
    el(
      'b',
      { class: saved >= 0 ? 'good' : 'bad' },
      saved >= 0
        ? `saved ${money(saved)} (${percent(saved, sum.without)})`
        : `${money(-saved)} more than without`,
    ),
  );
}

function liveDot() {
  const state =
    overview && overview.store_trouble
      ? ['bad', 'the store: ' + overview.store_trouble]
      : isLive
        ? ['on', 'live']
        : ['off', 'not connected'];
  return el('span', { class: 'live ' + state[0], id: 'live' }, state[1]);
}

function drawTop() {
  const top = document.getElementById('top');
  if (!top || document.body.classList.contains('login')) return;
  const parts = [el('a', { class: 'brand', href: '#/sessions' }, 'Weir'), liveDot()];
  if (overview)
    parts.push(
      el(
        'span',
        { class: 'figures' },
        moneyToday(),
        ' ',
        el('span', { class: 'wide-only' }, recallHealth()),
      ),
      navigation(),
      modeControls(overview, controls, refreshTop),
    );
  const focused =
    document.activeElement && document.activeElement.dataset
      ? document.activeElement.dataset.key
      : null;
  top.replaceChildren(el('div', { class: 'top-inner' }, parts));
  if (focused) top.querySelector(`[data-key="${focused}"]`)?.focus();
}

export function facts() {
  return overview;
}

/* ---- views ---- */

/* What all came to, with every hour: the page that `weir report --html` writes. */
async function overviewView() {
  const node = el('div');
  const read = async () => node.replaceChildren(reportNode(await ask('')));
  await read();
  return { node, title: 'Overview', leave: onRequest(calm(read, 5000)) };
}

const ROUTES = {
  overview: overviewView,
  sessions: sessionsView,
  session: sessionView,
  request: requestView,
  cache: cacheView,
  recall: recallView,
  whatif: whatIfView,
  plan: planView,
  tail: tailView,
};

function currentRoute() {
  const [path, query] = (location.hash.slice(2) || 'sessions').split('?');
  return {
    view: ROUTES[path] ? path : 'sessions',
    words: Object.fromEntries(new URLSearchParams(query || '')),
  };
}

export function link(view, words) {
  return '#/' + view + queryOf(words);
}

let leave = null,
  shown = 0;

async function show() {
  const { view, words } = currentRoute(),
    main = document.getElementById('main'),
    mine = ++shown;
  if (leave) leave();
  leave = null;
  drawTop();
  main.setAttribute('aria-busy', 'true');
  try {
    const made = await ROUTES[view](words);
    if (mine !== shown) {
      made.leave?.();
      return;
    }
    main.replaceChildren(made.node);
    leave = made.leave || null;
    document.title = (made.title ? made.title + ' · ' : '') + 'Weir';
    if (!words.keep) window.scrollTo(0, 0);
  } catch (error) {
    if (mine !== shown) return;
    if (error.status === 401) showLogin();
    else
      main.replaceChildren(
        el(
          'section',
          { class: 'card' },
          el('h1', null, 'That did not work'),
          el('p', null, error.message),
          el('p', null, el('button', { onclick: show }, 'Try again')),
        ),
      );
  }
  main.removeAttribute('aria-busy');
}

/* ---- the door ---- */

function showLogin(why) {
  document.body.classList.add('login');
  document.getElementById('top').replaceChildren();
  const field = el('input', {
    id: 'token',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  });
  const form = el(
    'form',
    {
      class: 'card login-form',
      onsubmit: async event => {
        event.preventDefault();
        try {
          await tell('/login', undefined, { 'x-weir-token': field.value });
          document.body.classList.remove('login');
          start();
        } catch (error) {
          showLogin(error.status === 401 ? 'That token is not known here.' : error.message);
        }
      },
    },
    el('h1', null, 'Weir'),
    el('p', null, 'This server asks for an access token: one of `tokens` in its weir.yaml.'),
    why ? el('p', { class: 'bad', role: 'alert' }, why) : '',
    el('label', { for: 'token' }, 'Access token'),
    field,
    el('button', { class: 'primary' }, 'Open'),
  );
  document.getElementById('main').replaceChildren(form);
  field.focus();
}

async function start() {
  try {
    await readOverview();
  } catch (error) {
    if (error.status === 401) {
      showLogin();
      return;
    }
  }
  listen();
  show();
}

window.addEventListener('hashchange', show);
window.addEventListener('pagehide', stopListening);
window.addEventListener('pageshow', event => {
  if (event.persisted) start();
});
document.addEventListener('visibilitychange', () => {
  if (document.body.classList.contains('login')) return;
  if (document.hidden) stopListening();
  else if (!stream) {
    listen();
    refreshTop();
  }
});
setInterval(() => {
  if (!document.hidden) for (const node of document.querySelectorAll('[data-ago]')) drawAgo(node);
}, 10000);
start();

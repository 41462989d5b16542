/* Numbers, times and texts as people read them. Nothing here touches the page: what goes in comes
 * out the same everywhere, and tests/page checks it. */

export function money(microUsd) {
  const usd = microUsd / 1e6,
    size = Math.abs(usd),
    sign = usd < 0 ? '−' : '';
  if (size >= 1000) return sign + '$' + grouped(Math.round(size));
  if (size >= 1) return sign + '$' + size.toFixed(2);
  if (size === 0) return '$0';
  if (size >= 0.01) return sign + '$' + size.toFixed(3).replace(/0$/, '');
  if (size < 0.00005) return sign ? '−$0.0001' : '<$0.0001';
  return sign + '$' + size.toFixed(4);
}

export function grouped(number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/* 950, 12.3K, 4.5M */
export function short(number) {
  const size = Math.abs(number);
  if (size < 1000) return String(Math.round(number));
  if (size < 99950) return trim(number / 1000) + 'K';
  if (size < 999500) return Math.round(number / 1000) + 'K';
  if (size < 99950000) return trim(number / 1e6) + 'M';
  return grouped(Math.round(number / 1e6)) + 'M';
}

function trim(number) {
  return number.toFixed(1).replace(/\.0$/, '');
}

export function percent(part, whole) {
  if (!whole) return '0\u00a0%';
  const p = (100 * part) / whole;
  return (Math.abs(p) >= 10 || p === 0 ? Math.round(p) : p.toFixed(1)) + '\u00a0%';
}

export function plural(count, one, many) {
  return grouped(count) + ' ' + (count === 1 ? one : many || one + 's');
}

export function ago(ms, now = Date.now()) {
  const s = Math.max(0, Math.round((now - ms) / 1000));
  if (s < 5) return 'now';
  if (s < 60) return s + ' s ago';
  if (s < 3600) return Math.round(s / 60) + ' min ago';
  if (s < 86400) return Math.round(s / 3600) + ' h ago';
  return plural(Math.round(s / 86400), 'day') + ' ago';
}

export function span(ms) {
  const s = Math.round(ms / 1000);
  if (s < 60) return s + ' s';
  if (s < 3600) return Math.round(s / 60) + ' min';
  if (s < 172800) return Math.floor(s / 3600) + ' h ' + Math.round((s % 3600) / 60) + ' min';
  return plural(Math.round(s / 86400), 'day');
}

export function clock(ms) {
  return new Date(ms).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

export function day(ms) {
  return new Date(ms).toLocaleString([], {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });
}

export function bytes(count) {
  if (count < 1000) return count + ' bytes';
  if (count < 1e6) return (count / 1000).toFixed(count < 1e4 ? 1 : 0) + ' KB';
  return (count / 1e6).toFixed(1) + ' MB';
}

const AGENTS = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  pi: 'pi',
  aider: 'Aider',
  'gemini-cli': 'Gemini CLI',
  'qwen-code': 'Qwen Code',
  'copilot-cli': 'Copilot CLI',
};

export function agentName(agent) {
  return AGENTS[agent] || agent || 'unknown agent';
}

/* Who asked: today the name of a tenant, which is a token's hash or the machine's own. */
export function userName(user) {
  if (!user || user === 'local') return 'this machine';
  return user.startsWith('token-') ? 'token ' + user.slice(6, 12) : user;
}

const BUSTS = {
  host: 'the agent changed',
  weir: 'planned step',
  model: 'model or tools changed',
  expired: 'cache expired',
  provider: 'provider lost its cache',
  moved: 'went on at another place',
};

/* Who broke the cache, in words: "the agent changed message 12, tool result". */
export function bust(who, place) {
  if (who === 'host') return 'the agent changed ' + whereWords(place);
  if (who === 'expired') return 'cache expired' + (place ? ' (' + place + ')' : '');
  if (who === 'weir') return 'planned step';
  return BUSTS[who] || who;
}

export function bustName(who) {
  return (
    {
      host: 'The agent',
      weir: 'Weir, planned',
      model: 'Another model or tools',
      expired: 'A pause',
      provider: 'The provider',
      moved: 'A place that failed',
    }[who] || who
  );
}

function whereWords(place) {
  if (!place) return 'what it had sent';
  if (place === 'system') return 'its instructions';
  if (place === 'tools') return 'its tools';
  return place;
}

const STEPS = {
  'loop completed': 'a task was finished: what it read is summed up',
  window: 'the window would not have held the prompt',
  pressure: 'the window was filling up',
  cold: 'the pause had emptied the cache, so changing older parts cost nothing',
  model: 'the model changed: its cache was empty anyway',
  tools: 'the tools changed: the cache was gone anyway',
  pays: 'writing the cache anew costs less than carrying the older parts on',
  policy: 'another policy or mode was asked for',
  store: 'an original was missing in the store',
  'late result': 'a result came for an older call',
  asked: 'somebody asked for it',
  pinned: 'what was pinned is whole again',
  undone: 'the last step was taken back',
  back: 'the request before had to leave otherwise: older parts are as they were',
};

/* The same in so few words that they fit on a flag. */
const FLAGS = {
  'loop completed': 'a task was done',
  window: 'the window was full',
  pressure: 'the window was filling',
  cold: 'the cache was empty',
  model: 'another model',
  tools: 'other tools',
  pays: 'it pays',
  policy: 'another policy',
  asked: 'asked for',
  pinned: 'something was pinned',
  undone: 'undone',
  back: 'back to its forms',
};

export function stepFlag(reason) {
  return 'step: ' + (FLAGS[reason] || reason);
}

export function step(reason) {
  return STEPS[reason] || 'older parts were changed';
}

/* Characters that would not be seen, or would turn a line around, are shown by name: what a tool
 * printed is text here and nothing else. */
export function visible(text) {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    c => {
      const code = c.charCodeAt(0);
      if (code < 0x20) return code === 0x0d ? '' : String.fromCharCode(0x2400 + code);
      if (code === 0x7f) return '\u2421';
      return '⟨U+' + code.toString(16).toUpperCase().padStart(4, '0') + '⟩';
    },
  );
}

/* Lines of two texts, as a list of [sign, line]: ' ' in both, '-' only before, '+' only after. What
 * both begin and end with is found first; in between the longest common lines are, up to a size
 * that a browser can do at once. */
export function diff(before, after, cellsMax = 4e6) {
  const a = before.split('\n'),
    b = after.split('\n'),
    out = [],
    tail = [];
  let from = 0,
    endA = a.length,
    endB = b.length;
  while (from < endA && from < endB && a[from] === b[from]) out.push([' ', a[from++]]);
  while (endA > from && endB > from && a[endA - 1] === b[endB - 1]) {
    tail.push([' ', a[--endA]]);
    endB--;
  }
  const n = endA - from,
    m = endB - from;
  if (n * m > cellsMax || !n || !m) {
    for (let i = from; i < endA; i++) out.push(['-', a[i]]);
    for (let j = from; j < endB; j++) out.push(['+', b[j]]);
    return out.concat(tail.reverse());
  }
  const width = m + 1,
    length = new Uint32Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i--)
    for (let j = m - 1; j >= 0; j--)
      length[i * width + j] =
        a[from + i] === b[from + j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
  let i = 0,
    j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[from + i] === b[from + j]) {
      out.push([' ', a[from + i]]);
      i++;
      j++;
    } else if (j >= m || (i < n && length[(i + 1) * width + j] >= length[i * width + j + 1]))
      out.push(['-', a[from + i++]]);
    else out.push(['+', b[from + j++]]);
  }
  return out.concat(tail.reverse());
}

/* After how many requests a step has paid for itself; 0: not yet. `rows` are those from the step
 * on, each with what it cost and would have cost. */
export function paidBackAfter(rows, costBefore) {
  let saved = 0;
  for (let n = 0; n < rows.length; n++) {
    saved += costBefore[n] - rows[n];
    if (n && saved >= 0) return n;
  }
  return 0;
}

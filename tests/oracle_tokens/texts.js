// Texts that try a tokenizer: every script, every category, and what merging finds hard.
// The same seed gives the same texts.
'use strict';

function random(seed) {
  let state = seed >>> 0;
  return function (below) { // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const SCRIPTS = [
  [0x20, 0x7e], [0x00, 0x1f], [0x80, 0xff], [0x100, 0x24f], [0x250, 0x2af], [0x2b0, 0x36f],
  [0x370, 0x3ff], [0x400, 0x52f], [0x530, 0x58f], [0x590, 0x5ff], [0x600, 0x6ff], [0x700, 0x74f],
  [0x900, 0x97f], [0x980, 0x9ff], [0xa00, 0xb7f], [0xb80, 0xd7f], [0xe00, 0xe7f], [0xe80, 0xfff],
  [0x1000, 0x109f], [0x10a0, 0x10ff], [0x1100, 0x11ff], [0x1200, 0x137f], [0x13a0, 0x13ff],
  [0x1680, 0x169f], [0x1780, 0x17ff], [0x1800, 0x18af], [0x1c80, 0x1cbf], [0x1d00, 0x1dbf],
  [0x1e00, 0x1fff], [0x2000, 0x206f], [0x2070, 0x209f], [0x20d0, 0x20ff], [0x2100, 0x218f],
  [0x2190, 0x23ff], [0x2460, 0x24ff], [0x2500, 0x27bf], [0x2c00, 0x2c5f], [0x2d00, 0x2dff],
  [0x3000, 0x303f], [0x3040, 0x30ff], [0x3100, 0x31ff], [0x4e00, 0x9fff], [0xa640, 0xa69f],
  [0xa720, 0xa7ff], [0xab30, 0xabbf], [0xac00, 0xd7a3], [0xe000, 0xe0ff], [0xf900, 0xfaff],
  [0xfb00, 0xfeff], [0xff00, 0xffef], [0xfff0, 0xffff], [0x10400, 0x1047f], [0x10d40, 0x10d8f],
  [0x1d400, 0x1d7ff], [0x1e900, 0x1e95f], [0x1f300, 0x1f6ff], [0x1f900, 0x1f9ff], [0x20000, 0x2a6df],
  [0x2ebf0, 0x2ee5f], [0xe0000, 0xe01ff], [0x10fff0, 0x10ffff], [0x1c40, 0x1c4f], [0xa4d0, 0xa4ff],
];

const SPACES = [' ', '  ', '\t', '\n', '\r\n', '\r', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028',
  '\u2029', '\u202f', '\u205f', '\u3000', '\ufeff', '\u200b', '\v', '\f', '\u001c', ' \n', '\n ', '\t\t'];
const PARTS = ["'s", "'S", "'t", "'re", "'RE", "'Ve", "'m", "'ll", "'lL", "'d", "'\u017f", "'x", "'", "''",
  '/', '//', '/\n/', '...', '!', '!?', '->', '==', '(', ')', '{', '};', '"', '":', '",', '#', '@', '$', '_',
  '__', '-', '--------', '<|endoftext|>', '<|endofprompt|>', '<|fim_prefix|>', '\u0301', '\u0300\u0301',
  '\ufe0f', '\u200d', '\u01c5', '\u02b0', '\u0e31', '\u0903', '\u20dd', 'a', 'A', 'ab', 'AB', 'Ab', 'aB',
  'the', ' The', 'HTTP', 'getElementById', 'x1', '1', '12', '123', '1234', '12345678', '\u0661\u0662',
  '\u00bd', '\u2167', '\u4e2d', '\u4e2d\u6587', '\u3042', '\u30a2', '\ud55c\uad6d', '\u{1f600}',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '\u{1f1e9}\u{1f1ea}', '\ufffd', '\u0000', 'return', 'int ', '0x1f'];

function pick(rand, list) { return list[rand(list.length)]; }

function codePoint(rand, low, high) {
  const c = low + rand(high - low + 1);
  return c >= 0xd800 && c <= 0xdfff ? '\ufffd' : String.fromCodePoint(c);
}

function repeat(count, make) {
  let text = '';
  for (let i = 0; i < count; i++) text += make();
  return text;
}

const KINDS = [
  (rand) => { const s = pick(rand, SCRIPTS); return repeat(1 + rand(40), () => codePoint(rand, s[0], s[1])); },
  (rand) => repeat(1 + rand(30), () => { const s = pick(rand, SCRIPTS); return codePoint(rand, s[0], s[1]); }),
  (rand) => repeat(1 + rand(16), () => codePoint(rand, 0, 0x10ffff)),
  (rand) => repeat(1 + rand(24), () => (rand(3) ? pick(rand, PARTS) : pick(rand, SPACES))),
  (rand) => repeat(1 + rand(12), () => {
    const s = pick(rand, SCRIPTS);
    return repeat(1 + rand(6), () => codePoint(rand, s[0], s[1])) + pick(rand, rand(2) ? SPACES : PARTS);
  }),
  (rand) => repeat(1 + rand(12), () => pick(rand, SPACES)) + pick(rand, PARTS),
  (rand, tokens) => repeat(1 + rand(16), () => pick(rand, tokens)),
  (rand, tokens) => repeat(1 + rand(8), () => pick(rand, tokens).slice(0, 1 + rand(6))),
  (rand) => { const n = 2 + rand(25); return repeat(1 + rand(200), () => String.fromCharCode(97 + rand(n))); },
  (rand) => repeat(1 + rand(60), () => String.fromCharCode((rand(2) ? 65 : 97) + rand(26))),
  (rand) => { const u = repeat(1 + rand(4), () => pick(rand, rand(3) ? PARTS : SPACES)); return u.repeat(1 + rand(60)); },
  (rand) => repeat(1 + rand(60), () => codePoint(rand, 0x20, 0x7e)),
];

// `count` texts; `tokens` are the texts of the encoding's own tokens.
exports.make = function* (count, seed, tokens) {
  const rand = random(seed);
  for (let i = 0; i < count; i++) yield KINDS[i % KINDS.length](rand, tokens);
};
exports.random = random;

// Writes tests/data/tokens_vectors.txt: texts with what npm tiktoken makes of them.
//
// usage: node freeze.js MODULES > tests/data/tokens_vectors.txt
//
// A line: for o200k_base, then for cl100k_base, the number of tokens and the FNV-1a hash of their ids
// (64 bits, each id as 4 bytes, lowest first), then the text. In the text a byte that is not printable
// ASCII, and the backslash, is \xHH.
'use strict';
const path = require('path');
const texts = require('./texts.js');
const tiktoken = require(path.join(path.resolve(process.argv[2]), 'tiktoken'));

const COUNT = 1320;
const SEED = 7;
const TEXT_BYTES_MAX = 160;

function hash(ids) {
  let h = 0xcbf29ce484222325n;
  for (const id of ids)
    for (let i = 0; i < 4; i++) h = BigInt.asUintN(64, (h ^ BigInt((id >>> (8 * i)) & 255)) * 0x100000001b3n);
  return h.toString(16).padStart(16, '0');
}

function escape(bytes) {
  let out = '';
  for (const b of bytes)
    out += b >= 0x20 && b < 0x7f && b !== 0x5c ? String.fromCharCode(b) : '\\x' + b.toString(16).padStart(2, '0');
  return out;
}

const encodings = ['o200k_base', 'cl100k_base'].map((name) => tiktoken.get_encoding(name));
const tokens = [];
for (let id = 0; id < 199998; id += 11) {
  const text = Buffer.from(encodings[0].decode_single_token_bytes(id)).toString('utf8');
  if (!text.includes('\ufffd')) tokens.push(text);
}
for (const text of texts.make(COUNT, SEED, tokens)) {
  let cut = text;
  while (Buffer.byteLength(cut) > TEXT_BYTES_MAX) cut = Array.from(cut).slice(0, -1).join('');
  const columns = encodings.map((e) => { const ids = e.encode_ordinary(cut); return `${ids.length} ${hash(ids)}`; });
  console.log(`${columns.join(' ')} ${escape(Buffer.from(cut))}`);
}

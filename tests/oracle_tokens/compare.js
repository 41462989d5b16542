// Holds the encoder against npm tiktoken: counts and ids of generated texts, and of every string in the
// recorded sessions where they are there.
//
// usage: node compare.js MODULES ENCODE COUNT [TRACES]
'use strict';
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const texts = require('./texts.js');

const [modules, encode, countText, traces] = process.argv.slice(2);
const tiktoken = require(path.join(path.resolve(modules), 'tiktoken'));
const BATCH_BYTES = 8 << 20;

function encodeAll(encoding, batch) {
  const records = Buffer.concat(batch.flatMap((text) => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(text.length);
    return [head, text];
  }));
  const run = spawnSync(encode, [encoding], { input: records, maxBuffer: 1 << 30 });
  if (run.status !== 0) throw new Error(`${encode} failed: ${run.stderr}`);
  return new Uint32Array(run.stdout.buffer, run.stdout.byteOffset, run.stdout.length / 4);
}

function compareBatch(encoding, oracle, strings) {
  const got = encodeAll(encoding, strings.map((s) => Buffer.from(s, 'utf8')));
  let at = 0, different = 0, tokens = 0;
  for (const string of strings) {
    const ids = got.subarray(at + 1, at + 1 + got[at]);
    at += 1 + got[at];
    const want = oracle.encode_ordinary(string);
    tokens += want.length;
    if (want.length === ids.length && want.every((id, i) => id === ids[i])) continue;
    if (different++ < 5) console.log(`DIFFERENT ${JSON.stringify(string).slice(0, 300)}\n  want ${want}\n  got  ${ids}`.slice(0, 2000));
  }
  return { different, tokens };
}

function* inBatches(strings) {
  let batch = [], bytes = 0;
  for (const string of strings) {
    batch.push(string);
    bytes += string.length;
    if (bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length) yield batch;
}

function* stringsOf(value) {
  if (typeof value === 'string') yield value;
  else if (value && typeof value === 'object') for (const part of Object.values(value)) yield* stringsOf(part);
}

function* recorded(dir) {
  for (const name of fs.readdirSync(dir).filter((n) => n.endsWith('.jsonl')).sort())
    for (const line of fs.readFileSync(path.join(dir, name), 'utf8').split('\n'))
      if (line) { yield line; yield* stringsOf(JSON.parse(line)); }
}

function tokenTexts(oracle, encoding) {
  const list = [];
  const count = encoding === 'o200k_base' ? 199998 : 100256;
  for (let id = 0; id < count; id += 7) {
    const text = Buffer.from(oracle.decode_single_token_bytes(id)).toString('utf8');
    if (!text.includes('\ufffd')) list.push(text);
  }
  return list;
}

let failed = 0;
for (const encoding of ['o200k_base', 'cl100k_base']) {
  const oracle = tiktoken.get_encoding(encoding);
  const sources = { generated: texts.make(Number(countText), 20261115, tokenTexts(oracle, encoding)) };
  if (traces && fs.existsSync(traces)) sources.recorded = recorded(traces);
  else console.log(`${encoding}: no recorded sessions here, left out`);
  for (const [name, strings] of Object.entries(sources)) {
    let total = 0, tokens = 0, different = 0;
    for (const batch of inBatches(strings)) {
      const result = compareBatch(encoding, oracle, batch);
      total += batch.length;
      tokens += result.tokens;
      different += result.different;
    }
    console.log(`${encoding}: ${name}: ${total} texts, ${tokens} tokens, ${different} different`);
    failed += different;
  }
}
process.exit(failed ? 1 : 0);

// The Node package: what it gives, what it refuses, the event loop, the end of objects.
//
//   node --test node_test.mjs      WEIR_PACKAGE is the package's folder; else the installed one
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

const folder = process.env.WEIR_PACKAGE;
const weir = await import(folder ? pathToFileURL(path.join(folder, 'lib/index.mjs'))
    : 'weir-context');
const { Engine, Session, Store, WeirError, condense, count, inspect, project, recall, recallTool } =
    weir;

const BODY = Buffer.from(
    '{"model":"gpt-4o", "n":1.0e0,"messages":[{"role":"user","content":"hi \\u00e9"}]}');

const lines = (i) => Array.from({ length: 200 }, (_, n) => (
    `  line ${n} of the file, number ${i}\n`)).join('');

function talk(results = 8) {
    const messages = [{ role: 'user', content: 'go on' }];
    for (let i = 0; i < results; i++) {
        messages.push({ role: 'assistant', content: null, tool_calls: [{ id: `call_${i}`,
            type: 'function', function: { name: 'run_query', arguments: '{}' } }] });
        messages.push({ role: 'tool', tool_call_id: `call_${i}`, content: lines(i) });
    }
    return { model: 'gpt-4o', messages,
        tools: [{ type: 'function', function: { name: 'weir_recall' } }] };
}

const handleOf = (body) => body.toString().match(/wr_[0-9a-f]{20}/)[0];

test('CommonJS and ES modules are one, by the same names', async () => {
    const require = createRequire(import.meta.url);
    const other = require(folder ? path.join(folder, 'lib/index.cjs') : 'weir-context');
    assert.equal(other.Engine, Engine);
    assert.deepEqual(Object.keys(weir).filter((name) => name !== 'default').sort(),
        Object.keys(other).sort());
    const adapters = (kind) => (folder ? path.join(folder, `lib/frameworks.${kind}`)
        : 'weir-context/frameworks');
    const named = await import(folder ? pathToFileURL(adapters('mjs')) : adapters());
    const { default: _, ...functions } = named;
    assert.deepEqual(functions, { ...require(adapters('cjs')) });
    assert.match(weir.version, /^\d+\.\d+\.\d+$/);
});

test('what is not changed is the buffer that came', async () => {
    const projected = await project(BODY, { policy: 'tiered' });
    assert.equal(projected.body, BODY);
    assert.equal(projected.isChanged, false);
    assert.equal(projected.report.policy, 'tiered');
    assert.deepEqual((await project(JSON.parse(BODY))).request(), JSON.parse(BODY));
    assert.deepEqual((await project(new Uint8Array(BODY))).body, BODY);
});

test('what is taken out comes back', async () => {
    const store = new Store();
    const projected = await project(talk(), { policy: 'tiered', store, windowTokens: 16000 });
    assert.ok(projected.isChanged && projected.tokensAfter < projected.tokensBefore);
    const handle = handleOf(projected.body);
    assert.equal((await recall(handle, { store })).text, lines(0));
    assert.equal((await recall(handle, { store, headLines: 1 })).linesCount, 1);
    const tool = await recallTool(store);
    assert.equal(await tool.run({ handle, head: 1 }), '  line 0 of the file, number 0\n');
    assert.equal(await tool.run(JSON.stringify({ handle, grep: 'line 7 ' })),
        '8:  line 7 of the file, number 0\n');
    assert.equal(await tool.run({ handle, grep: 'nobody' }), 'no line matches');
    assert.match(await tool.run({ handle: 'wr_' + '0'.repeat(20) }), /never stored/);
    assert.match(await tool.run('no JSON'), /^weir_recall: /);
    assert.equal(tool.chat().function.name, 'weir_recall');
});

test("the README's example runs", async () => {
    const place = folder ?? path.dirname(createRequire(import.meta.url)
        .resolve('weir-context/package.json'));
    const text = fs.readFileSync(path.join(place, 'README.md'), 'utf-8');
    const code = text.match(/^```ts\n(.*?)^```/ms)[1].replace(
        /^import (\{.*\}) from 'weir-context';/m, 'const $1 = weir;');
    // Results that `lean` finds long enough.
    const request = JSON.stringify(talk()).replaceAll('of the file,', 'of the file '.repeat(30));
    const { constructor: AsyncFunction } = Object.getPrototypeOf(async () => {});
    const { body, tool } = await new AsyncFunction('weir', 'request',
        `${code}\nreturn { body, tool };`)(weir, request);
    assert.ok(body.length < request.length);
    assert.match(await tool.run({ handle: handleOf(body) }), /line 7 of the file/);
});

test('a session keeps its forms', async () => {
    const options = { policy: 'lean', store: new Store(), session: 's' };
    const first = (await new Engine().project(talk(8), options)).request();
    const again = (await new Engine().project(talk(9), options)).request();
    assert.deepEqual(again.messages.slice(0, first.messages.length), first.messages);
});

test('tokens, condensed outputs, inspections, models', async () => {
    assert.equal(await count('What is a weir?'), 6);
    assert.equal(await count('What is a weir?', { model: 'gpt-5' }), 6);
    assert.equal(await count(''), 0);
    const log = Array.from({ length: 500 }, (_, n) => `gate ${n} is closed\n`).join('') +
        'error: gate 500 leaks\n';
    const short = await condense(log, { command: 'make check', budgetBytes: 500 });
    assert.ok(short.text.includes('error: gate 500 leaks') && short.text.length < 600);
    assert.equal((await condense('one\n')).isSame, true);
    assert.equal((await inspect(talk(2))).dialect, 'chat');
    assert.ok((await weir.defaultEngine().model('gpt-5')).windowTokens > 100000);
});

test('what is wrong has a place', async () => {
    await assert.rejects(project('{"model":"gpt-4o" "x"}'), (error) => (
        error instanceof WeirError && error.status === 'WEIR_SYNTAX' && error.atByte === 18));
    await assert.rejects(project(BODY, { policy: 'nobody' }), { status: 'WEIR_NOTFOUND' });
    await assert.rejects(project(BODY, { nobody: 1 }), { status: 'WEIR_INVALID' });
    await assert.rejects(count('x', { encoding: 'nobody' }), { status: 'WEIR_NOTFOUND' });
    await assert.rejects(recall('wr', { store: new Store() }), { status: 'WEIR_INVALID' });
    assert.throws(() => new Store('/dev/null/none'), WeirError);
    assert.throws(() => new Engine({ policies: 'policies: [' }), /line 2, column 1/);
});

test('closed things are refused, after the calls under way', async () => {
    const engine = new Engine(), store = new Store();
    const begun = engine.project(talk(), { policy: 'lean', store });
    await Promise.resolve();
    await Promise.resolve();
    engine.close();
    engine.close();
    store.close();
    const ended = await begun.then(() => 'ended', (error) => error.message);
    assert.match(ended, /^(ended|.*closed)$/);
    await assert.rejects(engine.count('x'), /closed/);
    await assert.rejects(new Engine().project(talk(), { store }), /closed/);
});

test('what is no store, no folder and no settings', async () => {
    for (const store of [new Engine(), 'memory', 5, {}]) {
        await assert.rejects(project(talk(), { policy: 'lean', store }), /to be a Store/);
        await assert.rejects(Session.open('nowhere', { store }), /to be a Store/);
        assert.throws(() => new Engine({ store }), /to be a Store/);
    }
    for (const folder of [5, 'a\0b', { mustExist: true }, Buffer.from('/tmp')])
        assert.throws(() => new Store(folder), TypeError);
    assert.throws(() => new Engine({ policies: { policies: {} } }), TypeError);
    assert.throws(() => new Engine({ models: 5 }), TypeError);
});

test('a model cannot ask for another tenant', async () => {
    const store = new Store();
    const { body } = await project(talk(), { policy: 'tiered', store, windowTokens: 16000,
        tenant: 'bob' });
    const asked = { handle: handleOf(body), head: 1 };
    assert.match(await (await recallTool(store, { tenant: 'bob' })).run(asked), /line 0/);
    for (const options of [{}, { tenant: 'alice' }]) {
        const tool = await recallTool(store, options);
        assert.match(await tool.run(asked), /never stored/);
        assert.match(await tool.run({ ...asked, tenant: 'bob' }), /no argument 'tenant'/);
    }
});

// Whose memory it is: a reader in another thread would be led astray, or read what was freed.
test('a buffer may be written to and given away while the library works', async () => {
    const engine = new Engine({ store: new Store() }), given = Buffer.from(JSON.stringify(talk(60)));
    const copy = () => Buffer.from(given.buffer.slice(given.byteOffset,
        given.byteOffset + given.length));
    const wanted = (await engine.project(copy(), { policy: 'lean', session: 'a' })).body;
    for (let i = 0; i < 30; i++) {
        const body = copy();
        const ended = engine.project(body, { policy: 'lean', session: `s${i}` });
        for (let n = 0; n < 8; n++) await Promise.resolve(); // it is under way
        if (i % 2)
            structuredClone(body.buffer, { transfer: [body.buffer] });
        else
            for (let round = 0; round < 20; round++) body.fill('{"\\[0'[round % 5]);
        assert.deepEqual((await ended).body, wanted);
    }
});

test('sessions', async () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'weir-'));
    try {
        const store = new Store();
        const session = await Session.open(path.join(dir, 's'), { store, model: 'gpt-5' });
        await session.setPrompt('You read files.');
        await session.setTools([{ name: 'read', description: 'reads', schema: { type: 'object' } }]);
        await session.say('What is in a.txt?');
        const body = (await session.request('chat', { extra: { stream: true } })).request();
        assert.equal(body.messages.at(-1).content, 'What is in a.txt?');
        assert.equal(body.stream, true);
        const calls = await session.answer('chat', { model: 'gpt-5', choices: [{ message: {
            role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function',
                function: { name: 'read', arguments: '{}' } }] } }] });
        assert.equal(calls[0].name, 'read');
        await assert.rejects(session.request('chat'), { status: 'WEIR_INVALID' });
        assert.deepEqual(await session.result('c1', 'hello'), []);
        assert.equal((await session.request('chat')).request().messages.at(-1).content, 'hello');
        await session.answerWords('It says hello.');
        assert.equal((await session.run()).turns, 2);
        assert.ok((await session.context()).totalTokens > 0);
        session.close();
        await assert.rejects(session.say('x'), /closed/);
        const again = await Session.open(path.join(dir, 's'), { store, mustExist: true });
        assert.ok(again.opened.eventsCount > 5);
        again.close();
        await assert.rejects(Session.open(path.join(dir, 'none'), { mustExist: true }),
            { status: 'WEIR_NOTFOUND' });
    } finally {
        fs.rmSync(dir, { recursive: true });
    }
});

test('the event loop goes on while the library works', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const large = talk(200), engine = new Engine();
    for (let i = 0; i < 3; i++)
        await engine.project(large, { policy: 'lean', store: new Store(), session: `${i}` });
    clearInterval(timer);
    assert.ok(turns > 0);
    assert.deepEqual(await Promise.all([1, 2, 3].map((n) => engine.count(`gate ${n}`))), [3, 3, 3]);
});

// Under a sanitizer memory is kept for a while on purpose; it finds leaks by itself.
const isSanitized = (process.env.LD_PRELOAD ?? '').includes('asan');

test('what nobody has any more is freed', { skip: isSanitized }, async () => {
    const program = `const { Engine, Store } = require(${JSON.stringify(
        folder ? path.resolve(folder, 'lib/index.cjs') : 'weir-context')});
        const assert = require('node:assert');
        const content = 'words of the user, '.repeat(60000), body = JSON.stringify({ model: 'gpt-4o',
            tools: [{ type: 'function', function: { name: 'weir_recall' } }], messages: [
                { role: 'user', content }, { role: 'assistant', content: null, tool_calls: [
                    { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
                { role: 'tool', tool_call_id: 'c', content: 'a line\\n'.repeat(9000) }] });
        (async () => {
            const use = async () => { for (let i = 0; i < 4; i++) {
                const engine = new Engine({ store: new Store() });
                await engine.count('x');
                for (let n = 0; n < 10; n++)
                    assert((await engine.project(body, { policy: 'lean' })).body.length > 1e6);
                gc(); await new Promise(setImmediate); } };
            await use(); await use(); const before = process.memoryUsage().rss;
            for (let i = 0; i < 6; i++) await use();
            console.log(process.memoryUsage().rss - before);
        })()`;
    const grown = Number(execFileSync(process.execPath, ['--expose-gc', '-e', program],
        { cwd: process.cwd() }));
    // malloc's heaps grow by up to 90 MB and stay so; 24 engines that were kept would take 384 MB
    // with their tokenizers, their answers 264 MB.
    assert.ok(grown < 150_000_000, `${grown} bytes more`);
});

// Weir for Node: what a model sees, decided by a policy; what is taken out can be brought back.
//
// The addon carries strings and one buffer to the library and back (addon.c). Calls of one engine or
// session wait for each other here, so that they hold no more than one of libuv's threads.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const target = `${process.platform}-${process.arch}`;

function load() {
    const told = process.env.WEIR_ADDON;
    const own = path.join(__dirname, '..', 'prebuilds', target, 'weir.node');
    if (!told && !fs.existsSync(own))
        throw new Error(`weir-context has no build for ${target}; name one in WEIR_ADDON`);
    return require(told ?? own);
}

const addon = load();

class WeirError extends Error {
    /** `status` is "WEIR_INVALID" and its like, `atByte` where in the input. */
    constructor(text, status = 'WEIR_INVALID', atByte = 0) {
        super(text);
        this.name = 'WeirError';
        this.status = status;
        this.code = status;
        this.atByte = atByte;
    }
}

function guarded(make) {
    try {
        return make();
    } catch (error) {
        throw new WeirError(error.message);
    }
}

// Of the library's members; those that are undefined or null are left out.
const snake = (name) => name.replace(/[A-Z]/g, (letter) => '_' + letter.toLowerCase());
const members = (options) => JSON.stringify(Object.fromEntries(
    Object.entries(options ?? {}).filter(([, value]) => value !== undefined && value !== null)
        .map(([name, value]) => [snake(name), value])));

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const renamed = (facts) => Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [camel(name), value]));

function toBuffer(text) {
    if (text === undefined || text === null) return null;
    if (Buffer.isBuffer(text)) return text;
    if (text instanceof Uint8Array) return Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    if (typeof text === 'string') return Buffer.from(text);
    return Buffer.from(JSON.stringify(text));
}

// A setting of another kind would be as if there were none: a store in memory in place of a folder.
function checkText(value, name) {
    if (value !== null && (typeof value !== 'string' || value.includes('\0')))
        throw new TypeError(`${name} is to be a string without a NUL in it`);
    return value;
}

class Handle {
    #native;
    #last = Promise.resolve();

    constructor(native) {
        this.#native = native;
    }

    /** The addon's handle of a store, or null; for the package alone. */
    static ofStore(store) {
        if (store === null || store === undefined) return null;
        if (!(store instanceof Store)) throw new TypeError('store is to be a Store');
        return store.#native;
    }

    /** Frees it after the calls under way. To close it twice is fine. */
    close() {
        addon.close(this.#native);
    }

    [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
        this.close();
    }

    async _run(store, method, json, bytes) {
        const nativeStore = Handle.ofStore(store);
        const start = () => addon.call(this.#native, nativeStore, method, json, bytes);
        const mine = this.#last.then(start);
        this.#last = mine.catch(() => {});
        let answer;
        try {
            answer = await mine;
        } catch (error) {
            throw new WeirError(error.message);
        }
        return checked(answer);
    }
}

function checked(answer) {
    if (!answer.json) throw new WeirError('there was no memory for the answer', 'WEIR_NOMEM');
    if (answer.status !== 0) {
        const { error } = JSON.parse(answer.json);
        throw new WeirError(error.text, error.status, error.at_byte);
    }
    return answer;
}

/** Where originals and marks are kept: a directory, or memory. */
class Store extends Handle {
    constructor(folder = null, { mustExist = false } = {}) {
        checkText(folder, 'folder');
        super(guarded(() => addon.newStore(folder, Boolean(mustExist))));
        this.path = folder;
    }
}

/** A request after a policy: `body` is what to send, byte for byte. */
class Projected {
    #json;
    #facts;

    constructor(body, isChanged, json) {
        this.body = body;
        this.isChanged = isChanged;
        this.#json = json;
    }

    get facts() {
        return (this.#facts ??= renamed(JSON.parse(this.#json)));
    }

    get report() {
        return this.facts.report ?? {};
    }

    get tokensBefore() {
        return this.facts.tokensBefore;
    }

    get tokensAfter() {
        return this.facts.tokensAfter;
    }

    get isStep() {
        return this.facts.isStep;
    }

    /** The body, parsed. Writing it again gives other bytes: send `body` where you can. */
    request() {
        return JSON.parse(this.body.toString());
    }
}

/** Knows models and counts tokens; made once and kept. */
class Engine extends Handle {
    constructor({ store = null, policies = null, models = null } = {}) {
        checkText(policies, 'policies');
        checkText(models, 'models');
        Handle.ofStore(store);
        super(guarded(() => addon.newEngine(policies, models)));
        this.store = store;
    }

    /** weir_call_bytes(): any method (docs/embed.md). */
    call(method, bytes, options, store) {
        return this._run(store ?? this.store, method, members(options), bytes);
    }

    async project(body, { store, ...options } = {}) {
        const given = toBuffer(body);
        const { json, bytes } = await this.call('project', given, options, store);
        return new Projected(bytes ?? given, bytes !== null, json);
    }

    async count(text, options) {
        const { json } = await this.call('count', toBuffer(text), options);
        return JSON.parse(json).tokens;
    }

    async condense(text, options) {
        const given = toBuffer(text);
        const { json, bytes } = await this.call('condense', given, options);
        return { text: (bytes ?? given).toString(), ...renamed(JSON.parse(json)) };
    }

    async recall(handle, { store, ...options } = {}) {
        const { json, bytes } = await this.call('recall', null, { handle, ...options }, store);
        const { replaced_bytes: _, ...facts } = JSON.parse(json);
        return { data: bytes, text: bytes.toString(), ...renamed(facts) };
    }

    async inspect(body, options) {
        return JSON.parse((await this.call('inspect', toBuffer(body), options)).json);
    }

    async model(name) {
        return renamed(JSON.parse((await this.call('models', null, { name })).json));
    }

    async models() {
        return JSON.parse((await this.call('models')).json).ids;
    }
}

const argumentNames = { head: 'headLines', tail: 'tailLines', grep: 'pattern',
    context: 'contextLines' };

/** `weir_recall` as a native tool: offer it from the first request on, answer calls with `run`. */
class RecallTool {
    #engine;
    #store;
    #tenant;
    #pageTokens;

    constructor(facts, engine, store, tenant) {
        this.name = facts.name;
        this.description = facts.description;
        this.schema = facts.schema;
        this.#pageTokens = facts.page_tokens;
        this.#engine = engine;
        this.#store = store;
        this.#tenant = tenant;
    }

    chat() {
        return { type: 'function', function: { name: this.name, description: this.description,
            parameters: this.schema } };
    }

    responses() {
        return { type: 'function', name: this.name, description: this.description,
            parameters: this.schema, strict: false };
    }

    messages() {
        return { name: this.name, description: this.description, input_schema: this.schema };
    }

    /** Always a text, also where the call was wrong, so that the model can ask better. */
    async run(given) {
        try {
            const options = { pageTokens: this.#pageTokens, tenant: this.#tenant };
            const read = typeof given === 'string' ? JSON.parse(given) : given;
            // A model asks for what the schema has, and for nothing else: not for another tenant.
            for (const [name, value] of Object.entries(read ?? {})) {
                if (!Object.hasOwn(this.schema.properties, name))
                    return `weir_recall has no argument '${name}'`;
                if (value) options[argumentNames[name] ?? name] = value;
            }
            const found = await this.#engine.recall(read?.handle, { store: this.#store,
                ...options });
            return options.pattern && !found.matchesCount ? 'no line matches' : found.text;
        } catch (error) {
            return `weir_recall: ${error.message}`;
        }
    }
}

/** The runtime of an agent, in a directory; see docs/session.md. Made by `Session.open`. */
class Session extends Handle {
    static async open(folder, { store = null, ...options } = {}) {
        const json = members({ dir: folder, nowMs: Date.now(), ...options });
        const nativeStore = Handle.ofStore(store);
        const [native, opening] = guarded(() => addon.openSession(nativeStore, json));
        const opened = checked(await opening);
        return new Session(native, store, renamed(JSON.parse(opened.json)));
    }

    constructor(native, store, opened) {
        super(native);
        this.opened = opened;
        this.store = store;
    }

    /** weir_session_call(): any method of a session (docs/embed.md). */
    call(method, bytes, options) {
        return this._run(null, method, members(options), bytes);
    }

    async #facts(method, bytes, options) {
        return renamed(JSON.parse((await this.call(method, bytes, options)).json));
    }

    async #said(method, text) {
        return (await this.#facts(method, toBuffer(text), { nowMs: Date.now() })).event;
    }

    setPrompt(text) {
        return this.#said('set_prompt', text);
    }

    async setTools(tools) {
        await this.call('set_tools', null, { tools });
    }

    say(text) {
        return this.#said('say', text);
    }

    steer(text) {
        return this.#said('steer', text);
    }

    note(text) {
        return this.#said('note', text);
    }

    abort(why) {
        return this.#said('abort', why);
    }

    async request(dialect, { extra, ...options } = {}) {
        const { json, bytes } = await this.call('request', null, { dialect, nowMs: Date.now(),
            extra: extra && JSON.stringify(extra).slice(1, -1), ...options });
        return new Projected(bytes, JSON.parse(json).is_changed, json);
    }

    async answer(dialect, body) {
        return (await this.#facts('answer', toBuffer(body), { dialect, nowMs: Date.now() })).pending;
    }

    async answerWords(text, calls = [], { model } = {}) {
        return (await this.#facts('answer', null, { text, calls, model,
            nowMs: Date.now() })).pending;
    }

    async result(callId, text, { isError = false } = {}) {
        return (await this.#facts('result', toBuffer(text), { callId, isError,
            nowMs: Date.now() })).pending;
    }

    async beginCall(callId) {
        await this.call('begin_call', null, { callId, nowMs: Date.now() });
    }

    async pending() {
        return (await this.#facts('pending')).pending;
    }

    async addUsage(tokens) {
        await this.call('add_usage', null, { ...tokens, nowMs: Date.now() });
    }

    async switchModel(model, { windowTokens = 0 } = {}) {
        await this.call('switch_model', null, { model, windowTokens, nowMs: Date.now() });
    }

    async refused(body) {
        return (await this.#facts('refused', toBuffer(body), { nowMs: Date.now() })).isTooLong;
    }

    compact(why = 'asked') {
        return this.#facts('compact', null, { why, nowMs: Date.now() });
    }

    context() {
        return this.#facts('context');
    }

    run() {
        return this.#facts('run', null, { nowMs: Date.now() });
    }
}

let engine;
const defaultEngine = () => (engine ??= new Engine());

async function recallTool(store, { engine: own = defaultEngine(), tenant } = {}) {
    const { json } = await own.call('recall_tool');
    return new RecallTool(JSON.parse(json), own, store, tenant);
}

module.exports = {
    Engine, Projected, RecallTool, Session, Store, WeirError, defaultEngine, recallTool,
    project: (body, options) => defaultEngine().project(body, options),
    count: (text, options) => defaultEngine().count(text, options),
    condense: (text, options) => defaultEngine().condense(text, options),
    recall: (handle, options) => defaultEngine().recall(handle, options),
    inspect: (body, options) => defaultEngine().inspect(body, options),
    version: addon.version(),
};

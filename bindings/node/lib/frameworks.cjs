// Adapters for SDKs and agent frameworks; none of them is imported here.
//
//   wrap(client)            a client of the OpenAI or Anthropic SDK, by its `fetch`
//   languageModel(context)  middleware for the Vercel AI SDK's wrapLanguageModel()
//   inputFilter(context)    callModelInputFilter of the OpenAI Agents SDK
//
// All of them share a Context: an engine, a store, a policy and the recall tool, which is to be among
// the agent's tools from its first request on.
'use strict';

const weir = require('./index.cjs');

const PATHS = ['/chat/completions', '/responses', '/messages'];

class Context {
    static async create({ policy = 'auto', store = new weir.Store(), engine = new weir.Engine(),
        session, tenant, windowTokens } = {}) {
        const tool = await weir.recallTool(store, { engine, tenant });
        return new Context({ policy, store, engine, session, tenant, windowTokens, tool });
    }

    /** For Context.create(), which makes the tool. */
    constructor(parts) {
        Object.assign(this, parts, { error: null, requests: 0, bytesBefore: 0, bytesAfter: 0 });
    }

    /** A request of this agent; one that cannot be projected is given back, and `error` says why. */
    async project(body, { path, dialect, session } = {}) {
        const given = typeof body === 'string' ? Buffer.from(body)
            : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
        let projected = { body: given, isChanged: false };
        try {
            projected = await this.engine.project(given, { policyDefault: this.policy,
                store: this.store, session: session ?? this.session, tenant: this.tenant, path,
                dialect, windowTokens: this.windowTokens, nowMs: Date.now() });
            this.error = null;
        } catch (error) {
            this.error = error;
        }
        this.requests += 1;
        this.bytesBefore += given.length;
        this.bytesAfter += projected.body.length;
        return projected;
    }

    /** Of the bytes of all requests so far. */
    get savedPercent() {
        return this.bytesBefore ? 100 * (1 - this.bytesAfter / this.bytesBefore) : 0;
    }
}

// ---- clients of SDKs ----

/** The client with requests that go through a context: `client.weir` of what comes back. */
async function wrap(client, options = {}) {
    const context = options instanceof Context ? options : await Context.create(options);
    const below = client.fetch ?? globalThis.fetch;
    const fetch = async (url, init) => {
        const path = new URL(url instanceof Request ? url.url : url).pathname;
        if (typeof init?.body !== 'string' || !PATHS.some((end) => path.endsWith(end)))
            return below(url, init);
        const projected = await context.project(init.body, { path });
        if (!projected.isChanged) return below(url, init);
        const headers = new Headers(init.headers);
        headers.delete('content-length');
        return below(url, { ...init, headers, body: projected.body.toString() });
    };
    const wrapped = client.withOptions({ fetch });
    wrapped.weir = context;
    return wrapped;
}

// ---- messages through a projection and back ----

// By what a message is found again; it does not change when its text does.
function keyOf(message) {
    if (message.tool_call_id) return `result ${message.tool_call_id}`;
    if (message.call_id) return `${message.type} ${message.call_id}`;
    if (message.tool_calls) return `calls ${message.tool_calls.map((call) => call.id).join(' ')}`;
    return JSON.stringify([message.role, message.type, message.content]);
}

// [[number of the message that it was, or -1; the message]...]
function align(before, after) {
    const places = new Map();
    before.forEach((message, index) => {
        const key = keyOf(message);
        places.set(key, [...places.get(key) ?? [], index]);
    });
    let last = -1;
    return after.map((message) => {
        const found = places.get(keyOf(message))?.find((index) => index > last) ?? -1;
        if (found >= 0) last = found;
        return [found, message];
    });
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const textOf = (content) => typeof content === 'string' ? content
    : (content ?? []).map((part) => part.text ?? '').join('');

// ---- Vercel AI SDK ----

const outputText = (output) => output?.type === 'text' || output?.type === 'error-text'
    ? output.value : JSON.stringify(output?.value ?? output ?? null);

// Messages of Chat Completions, and of each which part of the prompt it is: [message, part or -1].
function promptAsChat(prompt) {
    const chat = [], parts = [];
    const add = (message, place) => {
        chat.push(message);
        parts.push(place);
    };
    prompt.forEach((message, at) => {
        if (message.role === 'system') add({ role: 'system', content: message.content }, [at, -1]);
        else if (message.role === 'tool')
            message.content.forEach((part, n) => {
                if (part.type === 'tool-result')
                    add({ role: 'tool', tool_call_id: part.toolCallId,
                        content: outputText(part.output) }, [at, n]);
            });
        else if (message.role === 'assistant') {
            const calls = message.content.filter((part) => part.type === 'tool-call');
            add({ role: 'assistant',
                content: textOf(message.content.filter((part) => part.type === 'text')) || null,
                ...(calls.length && { tool_calls: calls.map((call) => ({ id: call.toolCallId,
                    type: 'function', function: { name: call.toolName,
                        arguments: typeof call.input === 'string' ? call.input
                            : JSON.stringify(call.input) } })) }) }, [at, -1]);
        } else add({ role: 'user', content: textOf(message.content) }, [at, -1]);
    });
    return { chat, parts };
}

function newPromptMessage(message) {
    if (message.role === 'system') return { role: 'system', content: textOf(message.content) };
    return { role: message.role, content: [{ type: 'text', text: textOf(message.content) }] };
}

function changedAssistant(message, chat) {
    const given = new Map((chat.tool_calls ?? []).map((call) => [call.id, call.function.arguments]));
    const isLeft = ({ type, providerOptions: { anthropic } = {} }) => type !== 'reasoning' ||
        !chat.signed || chat.signed.includes(anthropic?.signature ?? anthropic?.redactedData);
    return { ...message, content: message.content.filter(isLeft).map((part) => (part.type !== 'tool-call' ? part
        : { ...part, input: JSON.parse(given.get(part.toolCallId) ?? 'null') ?? part.input })) };
}

function promptFromChat(prompt, { chat, parts }, after) {
    const result = [];
    for (const [index, message] of align(chat, after)) {
        if (index < 0) {
            result.push(newPromptMessage(message));
            continue;
        }
        const [at, n] = parts[index];
        const same = isSame(chat[index], message);
        if (n < 0) {
            result.push(same || message.role !== 'assistant' ? prompt[at]
                : changedAssistant(prompt[at], message));
            continue;
        }
        const part = same ? prompt[at].content[n] : { ...prompt[at].content[n],
            output: { type: 'text', value: message.content } };
        if (result.at(-1)?.role === 'tool' && result.at(-1).from === at)
            result.at(-1).content.push(part);
        else result.push({ ...prompt[at], content: [part], from: at });
    }
    return result.map(({ from: _, ...message }) => message);
}

// Anthropic signs thinking, which binds what stands before it: the library has to see it to keep the
// provider's rules, so such a prompt is shown to it in Anthropic's own form.
function isSigned(prompt) {
    return prompt.some(({ role, content }) => role === 'assistant' && content.some((part) => (
        part.type === 'reasoning' && part.providerOptions?.anthropic)));
}

function thinkingOf(message) {
    return message.content.filter((part) => part.type === 'reasoning').map((part) => {
        const { signature, redactedData } = part.providerOptions?.anthropic ?? {};
        return redactedData ? { type: 'redacted_thinking', data: redactedData }
            : { type: 'thinking', thinking: part.text, signature: signature ?? '' };
    });
}

function promptAsMessages(prompt) {
    return prompt.filter(({ role }) => role !== 'system').map((message) => {
        if (message.role === 'tool')
            return { role: 'user', content: message.content.map((part) => ({ type: 'tool_result',
                tool_use_id: part.toolCallId, content: outputText(part.output) })) };
        if (message.role === 'user') return { role: 'user', content: textOf(message.content) };
        return { role: 'assistant', content: [...thinkingOf(message),
            ...message.content.flatMap((part) => (part.type === 'text' && part.text
                ? [{ type: 'text', text: part.text }] : part.type === 'tool-call'
                    ? [{ type: 'tool_use', id: part.toolCallId, name: part.toolName,
                        input: part.input }] : []))] };
    });
}

// Anthropic's messages read as those of Chat Completions, with the signatures that are left.
function chatOf(messages) {
    return messages.flatMap(({ role, content }) => {
        const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
        const text = blocks.filter((block) => block.type === 'text').map((block) => block.text)
            .join('');
        const results = blocks.filter((block) => block.type === 'tool_result')
            .map((block) => ({ role: 'tool', tool_call_id: block.tool_use_id,
                content: textOf(block.content) }));
        if (role === 'user')
            return results.length && !text ? results : [...results, { role, content: text }];
        const calls = blocks.filter((block) => block.type === 'tool_use')
            .map((block) => ({ id: block.id, type: 'function', function: {
                name: block.name, arguments: JSON.stringify(block.input) } }));
        return [{ role, content: text || null, ...(calls.length && { tool_calls: calls }),
            signed: blocks.map((block) => block.signature ?? block.data).filter(Boolean) }];
    });
}

async function projectSigned(context, model, prompt, tools) {
    const system = prompt.filter(({ role }) => role === 'system');
    const messages = promptAsMessages(prompt);
    const projected = await context.project({ model, max_tokens: 1, messages,
        ...(system.length && { system: system.map(({ content }) => content).join('\n') }),
        tools: tools.map(({ name }) => ({ name, input_schema: { type: 'object' } })) },
    { dialect: 'messages' });
    if (!projected.isChanged) return prompt;
    const rest = prompt.filter(({ role }) => role !== 'system');
    return [...system, ...promptFromChat(rest, { ...promptAsChat(rest), chat: chatOf(messages) },
        chatOf(projected.request().messages))];
}

/** Middleware for wrapLanguageModel({ model, middleware: languageModel(context) }). */
function languageModel(context) {
    const through = async (model, prompt, tools) => {
        if (isSigned(prompt)) return projectSigned(context, model, prompt, tools);
        const read = promptAsChat(prompt);
        const projected = await context.project({ model, messages: read.chat,
            tools: tools.map(({ name }) => ({ type: 'function', function: { name } })) },
        { dialect: 'chat' });
        return projected.isChanged
            ? promptFromChat(prompt, read, projected.request().messages) : prompt;
    };
    return {
        specificationVersion: 'v3',
        transformParams: async ({ params, model }) => ({ ...params, prompt: await through(
            model?.modelId ?? 'unknown', params.prompt,
            (params.tools ?? []).filter((tool) => tool.name)) }),
    };
}

/** The recall tool for generateText() and streamText(): `tools: { weir_recall: aiTool(...) }`. */
function aiTool(context, { jsonSchema }) {
    return { description: context.tool.description, inputSchema: jsonSchema(context.tool.schema),
        execute: (given) => context.tool.run(given) };
}

// ---- OpenAI Agents SDK ----

const resultText = (output) => typeof output === 'string' ? output
    : Array.isArray(output) ? textOf(output) : output?.text ?? JSON.stringify(output);

// An item of the Agents SDK as one of the Responses API.
function asResponses(item) {
    if (item.type === 'function_call')
        return { type: 'function_call', call_id: item.callId, name: item.name,
            arguments: item.arguments };
    if (item.type === 'function_call_result')
        return { type: 'function_call_output', call_id: item.callId,
            output: resultText(item.output) };
    if (item.type === 'reasoning')
        return { type: 'reasoning', id: item.id, summary: [],
            ...(item.providerData?.encrypted_content &&
                { encrypted_content: item.providerData.encrypted_content }) };
    return { role: item.role, content: textOf(item.content) };
}

function fromResponses(item, message) {
    if (message.type === 'function_call') return { ...item, arguments: message.arguments };
    if (message.type === 'function_call_output')
        return { ...item, output: { type: 'text', text: message.output } };
    return item;
}

function newItem(message) {
    const type = message.role === 'assistant' ? 'output_text' : 'input_text';
    return { type: 'message', role: message.role, content: [{ type, text: textOf(message.content) }],
        ...(message.role === 'assistant' && { status: 'completed' }) };
}

/** For `callModelInputFilter` of a run. */
function inputFilter(context) {
    return async ({ modelData, agent }) => {
        const model = typeof agent.model === 'string' ? agent.model : agent.model?._model;
        const before = modelData.input.map(asResponses);
        const projected = await context.project({ model: model ?? 'unknown', input: before,
            ...(modelData.instructions && { instructions: modelData.instructions }),
            tools: (agent.tools ?? []).map(({ name }) => ({ type: 'function', name })) },
        { dialect: 'responses' });
        if (!projected.isChanged) return modelData;
        return { ...modelData, input: align(before, projected.request().input).map(
            ([index, message]) => (index < 0 ? newItem(message) : isSame(before[index], message)
                ? modelData.input[index] : fromResponses(modelData.input[index], message))) };
    };
}

/** The recall tool: `agentsTool(context, await import('@openai/agents'))`. */
function agentsTool(context, { tool }) {
    return tool({ name: context.tool.name, description: context.tool.description,
        parameters: context.tool.schema, strict: false,
        execute: (given) => context.tool.run(given) });
}

module.exports = { Context, agentsTool, aiTool, inputFilter, languageModel, wrap };

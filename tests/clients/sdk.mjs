// Tool loops of the OpenAI and Anthropic SDKs, streamed and not: sdk.mjs BASE_URL CASE
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENTS_DIR + '/');
const { OpenAI } = require('openai');
const { Anthropic } = require('@anthropic-ai/sdk');
const [base, name] = process.argv.slice(2);
const openai = new OpenAI({ baseURL: base + '/v1', apiKey: 'k' });
const anthropic = new Anthropic({ baseURL: base, apiKey: 'k' });
const names = ['read_file', 'weir_recall'];
const schema = { type: 'object', properties: {} };
const task = '[turns 8] Fix the bug.';

function file(n) {
    const lines = Array.from({ length: 300 }, (_, i) => (
        `def function_${n}_${i}(value):\n    total = value + ${i}\n    return total * ${n}\n`));
    return lines.join('\n');
}

async function chat(stream) {
    const tools = names.map((n) => ({ type: 'function', function: { name: n, parameters: schema } }));
    const messages = [{ role: 'user', content: task }];
    for (let round = 1; ; round++) {
        const body = { model: 'gpt-5', messages, tools };
        const answer = stream ? await openai.chat.completions.stream(body).finalChatCompletion()
            : await openai.chat.completions.create(body);
        const message = answer.choices[0].message;
        messages.push(message);
        if (!message.tool_calls?.length) return message.content;
        for (const call of message.tool_calls)
            messages.push({ role: 'tool', tool_call_id: call.id, content: file(round) });
    }
}

async function responses(stream) {
    const tools = names.map((n) => ({ type: 'function', name: n, parameters: schema, strict: false }));
    const input = [{ role: 'user', content: task }];
    for (let round = 1; ; round++) {
        const body = { model: 'gpt-5', input, tools, store: false };
        const answer = stream ? await openai.responses.stream(body).finalResponse()
            : await openai.responses.create(body);
        input.push(...answer.output);
        const calls = answer.output.filter((item) => item.type === 'function_call');
        if (!calls.length) return answer.output_text;
        for (const call of calls)
            input.push({ type: 'function_call_output', call_id: call.call_id, output: file(round) });
    }
}

// The model signs its thinking: every earlier turn must reach it as it was.
async function messages(stream) {
    const tools = names.map((n) => ({ name: n, input_schema: schema }));
    const list = [{ role: 'user', content: task }];
    for (let round = 1; ; round++) {
        const body = { model: 'claude-opus-5-5', max_tokens: 1000, messages: list, tools };
        const answer = stream ? await anthropic.messages.stream(body).finalMessage()
            : await anthropic.messages.create(body);
        list.push({ role: 'assistant', content: answer.content });
        const uses = answer.content.filter((block) => block.type === 'tool_use');
        if (!uses.length) return answer.content.at(-1).text;
        list.push({ role: 'user', content: uses.map((use) => (
            { type: 'tool_result', tool_use_id: use.id, content: file(round) })) });
    }
}

const [api, how] = name.split('-');
console.log(await { chat, responses, messages }[api](how === 'stream'));

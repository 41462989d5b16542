// Tool loops of the OpenAI and Anthropic SDKs, streamed and not: sdk.mjs BASE_URL CASE
import { base, name, report, require, run, tasks, tools } from './loop.mjs';

const { OpenAI } = require('openai');
const { Anthropic } = require('@anthropic-ai/sdk');
const openai = new OpenAI({ baseURL: base + '/v1', apiKey: 'k' });
const anthropic = new Anthropic({ baseURL: base, apiKey: 'k' });

async function chat(stream) {
    const offered = tools.map((tool) => ({ type: 'function', function: {
        name: tool.name, description: tool.description, parameters: tool.schema } }));
    const left = [...tasks], messages = [{ role: 'user', content: left.shift() }];
    for (;;) {
        const body = { model: 'gpt-5', messages, tools: offered };
        const answer = stream ? await openai.chat.completions.stream(body).finalChatCompletion()
            : await openai.chat.completions.create(body);
        const message = answer.choices[0].message;
        messages.push(message);
        if (!message.tool_calls?.length && !left.length) return report(messages, message.content);
        if (!message.tool_calls?.length) messages.push({ role: 'user', content: left.shift() });
        for (const call of message.tool_calls ?? [])
            messages.push({ role: 'tool', tool_call_id: call.id,
                content: await run(call.function.name, call.function.arguments) });
    }
}

async function responses(stream) {
    const offered = tools.map((tool) => ({ type: 'function', name: tool.name,
        description: tool.description, parameters: tool.schema, strict: false }));
    const left = [...tasks], input = [{ role: 'user', content: left.shift() }];
    for (;;) {
        const body = { model: 'gpt-5', input, tools: offered, store: false };
        const answer = stream ? await openai.responses.stream(body).finalResponse()
            : await openai.responses.create(body);
        input.push(...answer.output);
        const calls = answer.output.filter((item) => item.type === 'function_call');
        if (!calls.length && !left.length) return report(input, answer.output_text);
        if (!calls.length) input.push({ role: 'user', content: left.shift() });
        for (const call of calls)
            input.push({ type: 'function_call_output', call_id: call.call_id,
                output: await run(call.name, call.arguments) });
    }
}

// The model signs its thinking: every earlier turn must reach it as it was.
async function messages(stream) {
    const offered = tools.map((tool) => (
        { name: tool.name, description: tool.description, input_schema: tool.schema }));
    const left = [...tasks], list = [{ role: 'user', content: left.shift() }];
    for (;;) {
        const body = { model: 'claude-opus-5-5', max_tokens: 1000, messages: list, tools: offered };
        const answer = stream ? await anthropic.messages.stream(body).finalMessage()
            : await anthropic.messages.create(body);
        list.push({ role: 'assistant', content: answer.content });
        const uses = answer.content.filter((block) => block.type === 'tool_use');
        if (!uses.length && !left.length) return report(list, answer.content.at(-1).text);
        const results = uses.length ? [] : [{ type: 'text', text: left.shift() }];
        for (const use of uses)
            results.push({ type: 'tool_result', tool_use_id: use.id,
                content: await run(use.name, use.input) });
        list.push({ role: 'user', content: results });
    }
}

const [api, how] = name.split('-');
await { chat, responses, messages }[api](how === 'stream');

// Loops of one's own over the OpenAI and Anthropic SDKs; with wrap().
import { api, base, context, end, load, run, tasks, tools, weir } from './common.mjs';

const wrapped = (client) => (context ? weir.wrap(client, context) : client);
const answer = (name, args) => (name === context?.tool?.name ? context.tool.run(args)
    : run(name, args));

async function chat() {
    const { default: OpenAI } = await load('openai');
    const client = await wrapped(new OpenAI({ baseURL: base + '/v1', apiKey: 'k' }));
    const offered = tools.map((tool) => ({ type: 'function', function: {
        name: tool.name, description: tool.description, parameters: tool.schema } }));
    if (context) offered.push(context.tool.chat());
    const left = [...tasks], messages = [{ role: 'user', content: left.shift() }];
    for (;;) {
        const { choices: [{ message }] } = await client.chat.completions.create(
            { model: 'gpt-5', messages, tools: offered });
        messages.push(message);
        if (!message.tool_calls?.length && !left.length) return message.content;
        if (!message.tool_calls?.length) messages.push({ role: 'user', content: left.shift() });
        for (const call of message.tool_calls ?? [])
            messages.push({ role: 'tool', tool_call_id: call.id,
                content: await answer(call.function.name, call.function.arguments) });
    }
}

async function messages() {
    const { default: Anthropic } = await load('@anthropic-ai/sdk');
    const client = await wrapped(new Anthropic({ baseURL: base, apiKey: 'k' }));
    const offered = tools.map((tool) => (
        { name: tool.name, description: tool.description, input_schema: tool.schema }));
    if (context) offered.push(context.tool.messages());
    const left = [...tasks], list = [{ role: 'user', content: left.shift() }];
    for (;;) {
        const { content } = await client.messages.create(
            { model: 'claude-opus-5-5', max_tokens: 1000, messages: list, tools: offered });
        list.push({ role: 'assistant', content });
        const uses = content.filter((block) => block.type === 'tool_use');
        if (!uses.length && !left.length) return content.at(-1).text;
        list.push({ role: 'user', content: uses.length ? await Promise.all(uses.map(async (use) => (
            { type: 'tool_result', tool_use_id: use.id,
                content: await answer(use.name, use.input) }))) : left.shift() });
    }
}

end(await { chat, messages }[api]());

// A tool loop of the Vercel AI SDK: vercel.mjs BASE_URL API-HOW
import { base, load, name, report, tasks, tools } from './loop.mjs';

const { generateText, jsonSchema, streamText, ...ai } = await load('ai');
const { createOpenAI } = await load('@ai-sdk/openai');
const { createAnthropic } = await load('@ai-sdk/anthropic');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
const [api, how] = name.split('-');
const at = { baseURL: base + '/v1', apiKey: 'k' };
const model = {
    chat: () => createOpenAI(at).chat('gpt-5'),
    compatible: () => createOpenAICompatible({ ...at, name: 'any', includeUsage: true })('gpt-5'),
    responses: () => createOpenAI(at).responses('gpt-5'),
    messages: () => createAnthropic(at)('claude-opus-5-5'),
}[api]();
const body = {
    model, maxRetries: 0, stopWhen: (ai.isStepCount ?? ai.stepCountIs)(30),
    tools: Object.fromEntries(tools.map(({ name: tool, description, schema, run }) => (
        [tool, { description, inputSchema: jsonSchema(schema), execute: run }]))),
    ...(api === 'responses' && { providerOptions: { openai: {
        store: false, include: ['reasoning.encrypted_content'] } } }),
};

async function answer(messages) {
    if (how !== 'stream') return generateText({ ...body, messages });
    const parts = [];
    const result = streamText({ ...body, messages, onError: ({ error }) => { throw error; } });
    for await (const part of result.fullStream ?? result.stream) parts.push(part);
    return { parts, text: await result.text, responseMessages: await result.responseMessages };
}

const messages = [], results = [];
for (const task of tasks) {
    messages.push({ role: 'user', content: task });
    results.push(await answer(messages));
    messages.push(...results.at(-1).responseMessages);
}
report([results.map((result) => result.parts ?? result.steps), messages], results.at(-1).text);

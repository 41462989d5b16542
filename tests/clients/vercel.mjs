// A tool loop of the Vercel AI SDK: vercel.mjs BASE_URL API-HOW
import { base, load, name, report, task, tools } from './loop.mjs';

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
    model, prompt: task, maxRetries: 0, stopWhen: (ai.isStepCount ?? ai.stepCountIs)(30),
    tools: Object.fromEntries(tools.map(({ name: tool, description, schema, run }) => (
        [tool, { description, inputSchema: jsonSchema(schema), execute: run }]))),
    ...(api === 'responses' && { providerOptions: { openai: {
        store: false, include: ['reasoning.encrypted_content'] } } }),
};
if (how === 'stream') {
    const parts = [];
    const result = streamText({ ...body, onError: ({ error }) => { throw error; } });
    for await (const part of result.fullStream ?? result.stream) parts.push(part);
    report([parts, (await result.response).messages], await result.text);
} else {
    const result = await generateText(body);
    report([result.steps, result.response.messages], result.text);
}

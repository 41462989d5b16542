// The Vercel AI SDK; with wrapLanguageModel().
import { api, base, context, end, how, load, tasks, tools, weir } from './common.mjs';

const ai = await load('ai');
const { createOpenAI } = await load('@ai-sdk/openai');
const { createAnthropic } = await load('@ai-sdk/anthropic');
const at = { baseURL: base + '/v1', apiKey: 'k' };
let model = api === 'messages' ? createAnthropic(at)('claude-opus-5-5')
    : createOpenAI(at).chat('gpt-5');
const offered = Object.fromEntries(tools.map((tool) => [tool.name, {
    description: tool.description, inputSchema: ai.jsonSchema(tool.schema), execute: tool.run }]));
if (context) {
    model = ai.wrapLanguageModel({ model, middleware: weir.languageModel(context) });
    offered[context.tool.name] = weir.aiTool(context, ai);
}
const body = { model, maxRetries: 0, tools: offered,
    stopWhen: (ai.isStepCount ?? ai.stepCountIs)(30) };
const messages = [];
let words;
for (const task of tasks) {
    messages.push({ role: 'user', content: task });
    const result = how === 'stream'
        ? ai.streamText({ ...body, messages, onError: ({ error }) => { throw error; } })
        : await ai.generateText({ ...body, messages });
    words = await result.text;
    messages.push(...await result.responseMessages);
}
end(words);

// A tool loop of Google's SDK, streamed or not: genai.mjs BASE_URL whole|stream
import { base, name as how, report, require, run, tasks, tools } from './loop.mjs';

const { GoogleGenAI } = require('@google/genai');
const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: base } });
const config = { tools: [{ functionDeclarations: tools.map(({ name, description, schema }) => (
    { name, description, parametersJsonSchema: schema })) }] };

async function ask(contents) {
    const body = { model: 'gemini-3.8-flash', contents, config };
    if (how !== 'stream') return (await google.models.generateContent(body)).candidates[0].content;
    const parts = [];
    for await (const chunk of await google.models.generateContentStream(body))
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []).filter((part) => (
            part.text !== '')));
    return { role: 'model', parts };
}

const left = [...tasks], contents = [{ role: 'user', parts: [{ text: left.shift() }] }];
for (;;) {
    const content = await ask(contents);
    contents.push(content);
    const calls = content.parts.filter((part) => part.functionCall);
    if (!calls.length && !left.length) {
        report(contents, content.parts.map((part) => part.text ?? '').join(''));
        break;
    }
    const parts = calls.length ? [] : [{ text: left.shift() }];
    for (const { functionCall } of calls)
        parts.push({ functionResponse: { name: functionCall.name,
            response: { output: await run(functionCall.name, functionCall.args) } } });
    contents.push({ role: 'user', parts });
}

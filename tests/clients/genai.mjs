// A tool loop of Google's SDK, streamed or not: genai.mjs BASE_URL whole|stream
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENTS_DIR + '/');
const { GoogleGenAI } = require('@google/genai');
const [base, how] = process.argv.slice(2);
const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: base } });
const names = ['read_file', 'weir_recall'];
const parametersJsonSchema = { type: 'object', properties: {} };
const config = { tools: [{ functionDeclarations: names.map((name) => (
    { name, description: name, parametersJsonSchema })) }] };

function file(n) {
    const lines = Array.from({ length: 300 }, (_, i) => (
        `def function_${n}_${i}(value):\n    total = value + ${i}\n    return total * ${n}\n`));
    return lines.join('\n');
}

async function ask(contents) {
    const body = { model: 'gemini-3.8-flash', contents, config };
    if (how !== 'stream') return (await google.models.generateContent(body)).candidates[0].content;
    const parts = [];
    for await (const chunk of await google.models.generateContentStream(body))
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []).filter((part) => (
            part.text !== '')));
    return { role: 'model', parts };
}

const contents = [{ role: 'user', parts: [{ text: '[turns 8] Fix the bug.' }] }];
for (let round = 1; ; round++) {
    const content = await ask(contents);
    contents.push(content);
    const calls = content.parts.filter((part) => part.functionCall);
    if (!calls.length) {
        console.log(content.parts.map((part) => part.text ?? '').join(''));
        break;
    }
    contents.push({ role: 'user', parts: calls.map(({ functionCall }) => ({ functionResponse: {
        name: functionCall.name, response: { output: file(round) } } })) });
}

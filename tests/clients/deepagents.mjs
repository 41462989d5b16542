// A deep agent whose files are its own, by Chat Completions or Responses: deepagents.mjs BASE API
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.env.CLIENTS_DIR + '/');
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { ChatOpenAI } = await load('@langchain/openai');
const { createDeepAgent } = await load('deepagents');
const { tool } = await load('langchain');
const [base, api] = process.argv.slice(2);

const model = new ChatOpenAI({ model: 'gpt-5', apiKey: 'k', useResponsesApi: api === 'responses',
    configuration: { baseURL: base + '/v1' } });
const lines = (n) => Array.from({ length: 300 }, (_, i) => (
    `def function_${i}(value):\n    total = value + ${i}  # ${n}\n    return total\n`)).join('\n');
const schema = { type: 'object', properties: { path: { type: 'string' } } };
const read = tool(({ path }) => lines(path), { name: 'Read', description: 'reads', schema });
const recall = tool(() => 'nothing', { name: 'weir_recall', description: 'recalls', schema });
const agent = createDeepAgent({ model, tools: [read, recall] });
const result = await agent.invoke({ messages: [{ role: 'user', content: '[turns 8] Fix it.' }] },
    { recursionLimit: 100 });
console.log(result.messages.at(-1).text);

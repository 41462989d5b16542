// What the JavaScript clients here have in common: the task, its files, a recall tool, a report.
//
//   TOOL     the name of the tool that brings the files; `read_file` unless said
//   TASK     what the scripted model is told; TASK_AFTER: what it is told when it has ended
//   RECALL   `mcp`: weir_recall is offered, its calls go to MCP_URL; `none`: it is not offered;
//            else it is offered, and nobody calls it
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const require = createRequire(process.env.CLIENTS_DIR + '/');
export const load = (name) => import(pathToFileURL(require.resolve(name)));
export const [base, name] = process.argv.slice(2);
export const task = process.env.TASK ?? '[turns 8] Fix the bug.';
export const tasks = [task, ...(process.env.TASK_AFTER ? [process.env.TASK_AFTER] : [])];
const how = process.env.RECALL ?? 'offered';

async function ask(method, params) {
    const answer = await fetch(process.env.MCP_URL, {
        method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        headers: { 'content-type': 'application/json',
            accept: 'application/json, text/event-stream' },
    });
    return (await answer.json()).result;
}

function file({ path }) {
    const n = path?.match(/\d+/)?.[0] ?? 0;
    const lines = Array.from({ length: 300 }, (_, i) => (
        `def function_${n}_${i}(value):\n    total = value + ${i}\n    return total * ${n}\n`));
    return lines.join('\n');
}

async function recallTool() {
    if (how !== 'mcp')
        return { name: 'weir_recall', description: 'recalls', run: () => 'nothing',
            schema: { type: 'object', properties: {} } };
    const { tools } = await ask('tools/list', {});
    const { description, inputSchema: schema } = tools.find((tool) => tool.name === 'weir_recall');
    const run = async (args) => (
        await ask('tools/call', { name: 'weir_recall', arguments: args })).content[0].text;
    return { name: 'weir_recall', description, schema, run };
}

export const tools = [{ name: process.env.TOOL ?? 'read_file', description: 'brings a text',
    schema: { type: 'object', properties: { path: { type: 'string' } } },
    run: async (args) => file(args) }];
if (how !== 'none') tools.push(await recallTool());

export const run = (tool, args) => tools.find((one) => one.name === tool).run(
    typeof args === 'string' ? JSON.parse(args) : args);

// All that the client has, then the model's last words.
export function report(history, words) {
    if (process.env.TASK) console.log(JSON.stringify(history));
    console.log(words);
}

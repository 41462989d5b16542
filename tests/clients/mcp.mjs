// One session of an official MCP client: mcp.mjs CLIENT TRANSPORT HANDLE TARGET...
// CLIENT is sdk (@modelcontextprotocol/sdk) or legacy, auto, modern (@modelcontextprotocol/client in
// that mode); TARGET a command with its arguments, or an address. Prints what came as JSON.
import { createRequire } from 'node:module';

const require = createRequire(process.env.CLIENTS_DIR + '/');
const [kind, transport, handle, ...target] = process.argv.slice(2);
const is_sdk = kind === 'sdk';
const front = '@modelcontextprotocol/' + (is_sdk ? 'sdk/client' : 'client');
const { Client } = require(is_sdk ? front + '/index.js' : front);
const { StdioClientTransport } = require(is_sdk ? front + '/stdio.js' : front + '/stdio');
const { StreamableHTTPClientTransport } = require(is_sdk ? front + '/streamableHttp.js' : front);
const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } };

const client = new Client({ name: 'weir-test', version: '1' },
    is_sdk ? {} : { versionNegotiation: { mode: modes[kind] } });
const troubles = [];
client.onerror = (error) => troubles.push(String(error));
await client.connect(transport === 'stdio'
    ? new StdioClientTransport({ command: target[0], args: target.slice(1) })
    : new StreamableHTTPClientTransport(new URL(target[0])));

async function recall(more) {
    const result = await client.callTool({ name: 'weir_recall', arguments: { handle, ...more } });
    return { text: result.content[0].text, isError: result.isError };
}

async function failure(call) {
    try { return { result: await call() }; } catch (error) { return { code: error.code }; }
}

const tools = (await client.listTools()).tools;
console.log(JSON.stringify({
    server: client.getServerVersion(),
    version: client.getNegotiatedProtocolVersion?.() ?? client.transport.protocolVersion ?? '',
    tools: tools.map((tool) => tool.name),
    whole: await recall({}),
    lines: await recall({ lines: '41-60' }),
    missing: await recall({ handle: 'wr_00000000000000000000' }),
    unknown: await failure(() => client.callTool({ name: 'nothing', arguments: {} })),
    context: (await client.callTool({ name: 'weir_context', arguments: {} })).isError,
    troubles,
}));
await client.close();

// Tool loops of vendors' SDKs at clouds: cloud_sdk.mjs BASE_URL azure|bedrock|vertex|converse whole|stream
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.CLIENTS_DIR, 'node_modules', 'x.js'));
const [base, door, how] = process.argv.slice(2);
const task = '[turns 8] [recall 1-3] Fix the bug.';
const schema = { type: 'object', properties: { path: { type: 'string' } } };
let files = 0;

function readFile() {
    const n = ++files;
    return Array.from({ length: 600 }, (_, i) => `2026-11-15 10:00:${i} INFO worker-${i % 7} ` +
        `fetched page ${i} of run ${n} in ${i * 3 % 97} ms\n`).join('');
}

async function chat(client) {
    const messages = [{ role: 'user', content: task }];
    const tools = [{ type: 'function', function: { name: 'read_file', parameters: schema } }];
    for (;;) {
        const body = { model: 'my-gpt', messages, tools,
            ...(how === 'stream' ? { stream_options: { include_usage: true } } : {}) };
        const answer = how === 'stream' ?
            await client.chat.completions.stream(body).finalChatCompletion() :
            await client.chat.completions.create(body);
        const { content, tool_calls: calls } = answer.choices[0].message;
        messages.push({ role: 'assistant', content, ...(calls?.length ? { tool_calls: calls.map(
            ({ id, type, function: { name, arguments: text } }) => (
                { id, type, function: { name, arguments: text } })) } : {}) });
        if (!calls?.length) return content;
        for (const call of calls)
            messages.push({ role: 'tool', tool_call_id: call.id, content: readFile() });
    }
}

async function messages(client, model) {
    const list = [{ role: 'user', content: task }];
    const tools = [{ name: 'read_file', description: 'reads', input_schema: schema }];
    for (;;) {
        const body = { model, max_tokens: 999, messages: list, tools };
        const answer = how === 'stream' ? await client.messages.stream(body).finalMessage() :
            await client.messages.create(body);
        list.push({ role: 'assistant', content: answer.content });
        const uses = answer.content.filter((block) => block.type === 'tool_use');
        if (!uses.length) return answer.content.at(-1).text;
        list.push({ role: 'user', content: uses.map((use) => (
            { type: 'tool_result', tool_use_id: use.id, content: readFile() })) });
    }
}

// A whole message out of a stream, as AWS' guides collect it.
async function collect(stream) {
    const content = [];
    let stopReason;
    for await (const event of stream) {
        const start = event.contentBlockStart, delta = event.contentBlockDelta;
        if (start) content[start.contentBlockIndex] = { toolUse: { ...start.start.toolUse, input: '' } };
        if (delta?.delta.text !== undefined)
            (content[delta.contentBlockIndex] ??= { text: '' }).text += delta.delta.text;
        if (delta?.delta.toolUse)
            content[delta.contentBlockIndex].toolUse.input += delta.delta.toolUse.input;
        stopReason = event.messageStop?.stopReason ?? stopReason;
    }
    for (const block of content)
        if (block.toolUse) block.toolUse.input = JSON.parse(block.toolUse.input || '{}');
    return { role: 'assistant', content };
}

async function converse(sdk, client, modelId) {
    const list = [{ role: 'user', content: [{ text: task }] }];
    const point = { cachePoint: { type: 'default' } };
    const toolConfig = { tools: [{ toolSpec: { name: 'read_file', inputSchema: { json: schema } } },
        point] };
    for (;;) {
        const last = list.at(-1);
        const body = { modelId, toolConfig, inferenceConfig: { maxTokens: 999 },
            system: [{ text: 'You fix bugs.' }, point],
            messages: [...list.slice(0, -1), { ...last, content: [...last.content, point] }] };
        const message = how === 'stream' ?
            await collect((await client.send(new sdk.ConverseStreamCommand(body))).stream) :
            (await client.send(new sdk.ConverseCommand(body))).output.message;
        list.push(message);
        const uses = message.content.filter((block) => block.toolUse);
        if (!uses.length) return message.content.at(-1).text;
        list.push({ role: 'user', content: uses.map(({ toolUse }, n) => ({ toolResult: {
            toolUseId: toolUse.toolUseId,
            content: [n % 2 ? { json: { output: readFile() } } : { text: readFile() }] } })) });
    }
}

const doors = {
    converse() {
        const sdk = require('@aws-sdk/client-bedrock-runtime');
        // Its own handler speaks HTTP/2, without TLS too; Weir's listener and the stub do not.
        const { NodeHttpHandler } = require('@smithy/node-http-handler');
        return converse(sdk, new sdk.BedrockRuntimeClient({ endpoint: base, region: 'us-east-1',
            requestHandler: new NodeHttpHandler(),
            token: { token: 'ABSKx' }, authSchemePreference: ['httpBearerAuth'] }),
            'us.anthropic.claude-sonnet-4-5-20250929-v1:0');
    },
    azure() {
        const { AzureOpenAI } = require('openai');
        return chat(new AzureOpenAI({ endpoint: base, apiKey: 'azure-key',
            apiVersion: '2026-01-01' }));
    },
    bedrock() {
        const { AnthropicBedrock } = require('@anthropic-ai/bedrock-sdk');
        return messages(new AnthropicBedrock({ baseURL: base, awsRegion: 'us-east-1',
            apiKey: 'ABSKx', skipAuth: true,
            defaultHeaders: { Authorization: 'Bearer ABSKx' } }),
            'us.anthropic.claude-sonnet-4-5-20250929-v1:0');
    },
    vertex() {
        const { AnthropicVertex } = require('@anthropic-ai/vertex-sdk');
        const { OAuth2Client } = require('google-auth-library');
        const authClient = new OAuth2Client();
        authClient.setCredentials({ access_token: 'ya29.x', expiry_date: Date.now() + 3600e3 });
        return messages(new AnthropicVertex({ baseURL: base + '/v1', region: 'us-east5',
            projectId: 'p', authClient }), 'claude-sonnet-4-5@20250929');
    },
};

console.log((await doors[door]()).trim());

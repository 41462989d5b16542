// The OpenAI Agents SDK; with callModelInputFilter.
import { api, base, context, end, load, tasks, tools, weir } from './common.mjs';

const agents = await load('@openai/agents');
const { default: OpenAI } = await load('openai');
agents.setTracingDisabled(true);
const client = new OpenAI({ baseURL: base + '/v1', apiKey: 'k' });
const Model = api === 'chat' ? agents.OpenAIChatCompletionsModel : agents.OpenAIResponsesModel;
const offered = tools.map((tool) => agents.tool({ name: tool.name, strict: false,
    description: tool.description, execute: tool.run,
    parameters: { ...tool.schema, required: [], additionalProperties: true } }));
if (context) offered.push(weir.agentsTool(context, agents));
const agent = new agents.Agent({ name: 'worker', tools: offered,
    model: new Model(client, 'gpt-5') });
const runner = new agents.Runner(context
    ? { callModelInputFilter: weir.inputFilter(context) } : {});
let history = [], result;
for (const task of tasks) {
    history.push({ role: 'user', content: task });
    result = await runner.run(agent, history, { maxTurns: 40 });
    history = result.history;
}
end(result.finalOutput);

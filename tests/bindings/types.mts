// What the types of the npm package allow and refuse; compiled by npm_test.sh, never run.
import { readFile } from 'node:fs/promises';
import weir, {
    Engine, Projected, RecallTool, Session, Store, WeirError, condense, count, defaultEngine, inspect,
    project, recall, recallTool, version,
} from 'weir-context';
import { Context, agentsTool, aiTool, inputFilter, languageModel, wrap } from 'weir-context/frameworks';

const store = new Store();
const tokens: number = await count('x', { model: 'gpt-5' });
const engine: Engine = new weir.Engine({ store });
const projected: Projected = await engine.project(await readFile('x'), { policy: 'lean', session: 's' });
const bytes: Buffer = projected.body;
const text: string = (await recall('wr_', { store, headLines: 2 })).text;
const tool: RecallTool = await recallTool(store);
const session: Session = await Session.open('s', { model: 'gpt-5' });
const client: { base: string; weir: Context } = await wrap({ base: '' }, { policy: 'lean' });
// @ts-expect-error no such option
await project('x', { polcy: 'lean' });
// @ts-expect-error a number
const wrong: string = await count('x');
// @ts-expect-error a store is needed
await recall('wr_');
export {
    WeirError, agentsTool, aiTool, bytes, client, condense, defaultEngine, inputFilter, inspect,
    languageModel, session, text, tokens, tool, version, wrong,
};

// What the programs here have in common: the task and its tool (tests/clients/loop.mjs), and a context
// where the third argument is `weir`: PROGRAM BASE_URL API-HOW direct|weir
import { pathToFileURL } from 'node:url';
import path from 'node:path';

import { base, load, name, run, tasks, tools } from '../../clients/loop.mjs';

export { base, load, run, tasks, tools };
export const [api, how] = name.split('-');
export const weir = process.argv[4] === 'weir' && await import(pathToFileURL(
    path.join(process.env.WEIR_PACKAGE, 'lib/frameworks.mjs')));
export const context = weir && await weir.Context.create({ policy: 'lean' });

// The model's last words are the last line.
export function end(words) {
    if (context?.error) throw context.error;
    console.log(words);
}

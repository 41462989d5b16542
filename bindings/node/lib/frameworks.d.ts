import type { Dialect, Engine, Projected, RecallTool, Store } from './index.js';

export interface ContextOptions {
    /** "auto" unless told. */
    policy?: string;
    /** In memory unless told. */
    store?: Store;
    engine?: Engine;
    session?: string;
    tenant?: string;
    windowTokens?: number;
}

/** What an agent's requests go through. */
export class Context {
    static create(options?: ContextOptions): Promise<Context>;
    readonly tool: RecallTool;
    readonly store: Store;
    readonly engine: Engine;
    readonly error: Error | null;
    readonly requests: number;
    readonly bytesBefore: number;
    readonly bytesAfter: number;
    readonly savedPercent: number;
    project(body: Uint8Array | string | object,
        options?: { path?: string; dialect?: Dialect; session?: string }): Promise<Projected>;
}

/** A client of the OpenAI or Anthropic SDK, without a proxy. */
export function wrap<C extends object>(client: C, options?: Context | ContextOptions):
    Promise<C & { weir: Context }>;

/** Middleware for the Vercel AI SDK's wrapLanguageModel(). */
export function languageModel(context: Context): any;
export function aiTool(context: Context, ai: { jsonSchema: (schema: any) => any }): any;

/** For `callModelInputFilter` of the OpenAI Agents SDK. */
export function inputFilter(context: Context): (args: any) => Promise<any>;
export function agentsTool(context: Context, agents: { tool: (options: any) => any }): any;

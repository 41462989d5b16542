/// <reference types="node" />

/** A request: its bytes, its text, or an object that is written as JSON. */
export type Body = Uint8Array | string | object;
export type Text = Uint8Array | string;
export type Dialect = 'chat' | 'responses' | 'messages' | 'gemini' | 'ollama' | 'converse';

export class WeirError extends Error {
    status: string;
    code: string;
    /** Where in the input. */
    atByte: number;
}

/** Where originals and marks are kept: a directory, or memory. */
export class Store {
    constructor(folder?: string | null, options?: { mustExist?: boolean });
    readonly path: string | null;
    close(): void;
}

export interface ProjectOptions {
    /** One of `weir policies`; the session's unless told. */
    policy?: string;
    policyDefault?: string;
    session?: string;
    store?: Store;
    model?: string;
    tenant?: string;
    dialect?: Dialect;
    path?: string;
    windowTokens?: number;
    overflowTokens?: number;
    nowMs?: number;
    tools?: string;
    attaches?: boolean;
    alternates?: boolean;
}

export class Projected {
    /** What to send, byte for byte; the buffer that was given where nothing was changed. */
    readonly body: Buffer;
    readonly isChanged: boolean;
    readonly isStep: boolean;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly report: Record<string, unknown>;
    readonly facts: Record<string, unknown>;
    request(): Record<string, any>;
}

export interface CountOptions { model?: string; encoding?: string }

export interface CondenseOptions {
    tool?: string;
    command?: string;
    path?: string;
    query?: string;
    focus?: string;
    budgetBytes?: number;
}

export interface Condensed {
    text: string;
    kind: string;
    isSame: boolean;
    linesTotal: number;
    lines: [number, number][];
}

export interface RecallOptions {
    store?: Store;
    tenant?: string;
    lines?: string;
    headLines?: number;
    tailLines?: number;
    pattern?: string;
    contextLines?: number;
    pageBytes?: number;
    pageTokens?: number;
    model?: string;
}

export interface Recalled {
    /** The bytes that were stored. */
    data: Buffer;
    text: string;
    next: string;
    linesTotal: number;
    linesCount: number;
    matchesCount: number;
}

export interface InspectOptions { model?: string; dialect?: Dialect; path?: string }

export interface Answer { status: number; json: string; bytes: Buffer | null }

export class Engine {
    constructor(options?: { store?: Store | null; policies?: string; models?: string });
    store: Store | null;
    call(method: string, bytes?: Buffer | null, options?: object, store?: Store): Promise<Answer>;
    project(body: Body, options?: ProjectOptions): Promise<Projected>;
    count(text: Text, options?: CountOptions): Promise<number>;
    condense(text: Text, options?: CondenseOptions): Promise<Condensed>;
    recall(handle: string, options?: RecallOptions): Promise<Recalled>;
    inspect(body: Body, options?: InspectOptions): Promise<Record<string, any>>;
    model(name: string): Promise<Record<string, any>>;
    models(): Promise<string[]>;
    close(): void;
}

export class RecallTool {
    readonly name: string;
    readonly description: string;
    readonly schema: Record<string, any>;
    chat(): Record<string, any>;
    responses(): Record<string, any>;
    messages(): Record<string, any>;
    run(given: string | Record<string, any>): Promise<string>;
}

export interface Call { id: string; name: string; arguments: string; is_begun: boolean }

/** The runtime of an agent; its journal is the truth. */
export class Session {
    static open(folder: string, options?: {
        store?: Store | null; model?: string; name?: string; config?: string; tenant?: string;
        policies?: string; mustExist?: boolean; isReadOnly?: boolean;
    }): Promise<Session>;
    readonly opened: Record<string, any>;
    call(method: string, bytes?: Buffer | null, options?: object): Promise<Answer>;
    setPrompt(text: Text): Promise<number>;
    setTools(tools: { name: string; description?: string; schema?: object }[]): Promise<void>;
    say(text: Text): Promise<number>;
    steer(text: Text): Promise<number>;
    note(text: Text): Promise<number>;
    abort(why: Text): Promise<number>;
    request(dialect: Dialect, options?: {
        extra?: object; context?: string; isPreview?: boolean; alternates?: boolean;
    }): Promise<Projected>;
    answer(dialect: Dialect, body: Body): Promise<Call[]>;
    answerWords(text: string, calls?: { id: string; name: string; arguments: string }[],
        options?: { model?: string }): Promise<Call[]>;
    result(callId: string, text: Text, options?: { isError?: boolean }): Promise<Call[]>;
    beginCall(callId: string): Promise<void>;
    pending(): Promise<Call[]>;
    addUsage(tokens: { inputTokens?: number; cacheReadTokens?: number;
        cacheWriteTokens?: number; outputTokens?: number }): Promise<void>;
    switchModel(model: string, options?: { windowTokens?: number }): Promise<void>;
    refused(body: Body): Promise<boolean>;
    compact(why?: string): Promise<Record<string, any>>;
    context(): Promise<Record<string, any>>;
    run(): Promise<Record<string, any>>;
    close(): void;
}

export function defaultEngine(): Engine;
export function project(body: Body, options?: ProjectOptions): Promise<Projected>;
export function count(text: Text, options?: CountOptions): Promise<number>;
export function condense(text: Text, options?: CondenseOptions): Promise<Condensed>;
export function recall(handle: string, options: RecallOptions & { store: Store }):
    Promise<Recalled>;
export function inspect(body: Body, options?: InspectOptions): Promise<Record<string, any>>;
export function recallTool(store: Store, options?: { engine?: Engine; tenant?: string }):
    Promise<RecallTool>;
export const version: string;

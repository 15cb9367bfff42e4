// `ToolSpec` and `ToolOptions`: every option of a tool, its type and its default, in one table. Types only.
// A spec carries its argument and result types in one phantom member, so that any spec fits `AnyToolSpec` without a cast.

import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Logger } from "./logger.js";
import type { JsonLimits } from "../crypto/canonical-json.js";

/** What schema libraries give; named here for whoever takes schemas. */
export type { StandardSchemaV1 } from "@standard-schema/spec";

// Never present at run time: they only carry types.
declare const ARGUMENTS: unique symbol;
declare const TYPES: unique symbol;

/**
 * A JSON Schema document (2020-12). What it describes is a `Record<string, unknown>` unless you say more:
 * `const schema: JsonSchema<{ amount: number }> = { type: "object", ... }`.
 */
export interface JsonSchema<Args = Record<string, unknown>> {
  readonly [keyword: string]: unknown;
  readonly [ARGUMENTS]?: Args;
}

/** What `inputSchema` accepts: a Standard Schema that can give JSON Schema, or a plain JSON Schema object. */
export type InputSchema = StandardSchemaV1 | JsonSchema<unknown>;

/** The arguments a JSON Schema was annotated with. */
export type JsonArguments<Schema> = Schema extends { readonly [ARGUMENTS]?: infer Args extends object }
  ? Args
  : Record<string, unknown>;

/** What a caller passes: the schema's input, so that defaulted fields are optional. */
export type CallerArguments<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : JsonArguments<Schema>;

/** What `execute` and `confirm` get: the schema's output. */
export type ParsedArguments<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : JsonArguments<Schema>;

/** What a tool does to the world: shown to reviewers and part of the definition digest. */
export type Effects = "read" | "write" | "destructive";

/** What the running tool function is told about its call. */
export interface ToolContext {
  /** The run the call belongs to. */
  readonly runId: string;
  /** The conversation the run belongs to, when the host knows one. */
  readonly threadId: string | undefined;
  /** The call's id within its run: the model's, or the one it was given. */
  readonly callId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the caller gives up: pass it on to whatever waits. */
  readonly signal: AbortSignal;
  /** The same on every retry and re-run of one call: hand it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** Who the run acts for, as the executor's `principal` option saw it. */
  readonly principal: string | undefined;
  /** What `context()` was given, or the framework's metadata of the run. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The executor's logger. */
  readonly log: Logger;
  /** Runs another registered tool as a part of this call; its call id is `<this call>/<n>`. */
  run(tool: string, args: unknown): Promise<unknown>;
}

/** What a `confirm` predicate is told. */
export interface ConfirmContext {
  /** The run the call belongs to. */
  readonly runId: string;
  /** The conversation the run belongs to, when the host knows one. */
  readonly threadId: string | undefined;
  /** The call's id within its run. */
  readonly callId: string;
  /** Who the run acts for, as the executor's `principal` option saw it. */
  readonly principal: string | undefined;
  /** What `context()` was given, or the framework's metadata of the run. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Does this call need a human? Sees the parsed arguments. Awaited once per call, never again after a pause. */
export type ConfirmPredicate<Parsed> = (args: Parsed, ctx: ConfirmContext) => boolean | Promise<boolean>;

/** How often a failed call is attempted again, and after what wait. Attempts share one approval. */
export interface RetryOptions {
  /** Attempts in all, the first one included: a whole number from 1 to 101. */
  readonly maxAttempts: number;
  /** Milliseconds before the second attempt, 0 to 2^31 - 1. Default 200. */
  readonly initialDelayMs?: number;
  /** Each wait is this many times the one before; at least 1. Default 2. */
  readonly factor?: number;
  /** No wait is longer, in milliseconds, 0 to 2^31 - 1. Default 10 000 (10 s). */
  readonly maxDelayMs?: number;
  /** Spread the waits at random, so that many callers do not come back at once. Default `true`. */
  readonly jitter?: boolean;
  /** May this failure be retried? Default: whatever the executor retries by itself. */
  readonly retryOn?: (error: unknown) => boolean;
}

/** `retries` as settled by `defineTool`: complete and frozen. One attempt means no retries. */
export interface RetryPolicy {
  /** Attempts in all, the first one included. */
  readonly maxAttempts: number;
  /** Milliseconds before the second attempt. */
  readonly initialDelayMs: number;
  /** Each wait is this many times the one before. */
  readonly factor: number;
  /** No wait is longer, in milliseconds. */
  readonly maxDelayMs: number;
  /** Are the waits spread at random? */
  readonly jitter: boolean;
  /** May this failure be retried? `undefined`: whatever the executor retries by itself. */
  readonly retryOn: ((error: unknown) => boolean) | undefined;
}

/** How long and for whom a result is kept. */
export interface CacheRule {
  /** Milliseconds, at least 1. Not a timer: any safe integer will do. */
  readonly ttlMs: number;
  /** Who may see it: the same run, the same principal (without one nothing is cached), or everybody. */
  readonly scope: "run" | "principal" | "shared";
}

/** Everything `defineTool` accepts. An option given as `undefined` has its default, except `confirm`. */
export interface ToolOptions<Schema, Out, Name extends string = string> {
  /** `[A-Za-z0-9_-]{1,64}`, not a name on `Object.prototype`. */
  readonly name: Name;
  /** For the model. */
  readonly description: string;
  /** A Standard Schema that can give JSON Schema (zod 4, arktype, ...), or a plain JSON Schema object (2020-12). */
  readonly inputSchema: Schema;
  /** Validates the result; a mismatch is `ToolFailed`. Default: none. */
  readonly outputSchema?: StandardSchemaV1<unknown, Out>;
  /** The tool's function. Gets what the schema parsed; what it returns is the result, `undefined` included. */
  readonly execute: (args: ParsedArguments<Schema>, ctx: ToolContext) => Out | Promise<Out>;
  /** Ask a human first. Default `false`. */
  readonly confirm?: boolean | ConfirmPredicate<ParsedArguments<Schema>>;
  /** Default `"write"`. */
  readonly effects?: Effects;
  /** A repeat is harmless. Default: `effects === "read"`. */
  readonly idempotent?: boolean;
  /** Milliseconds for each attempt, 1 to 2^31 - 1; waiting for a human never counts. Default: none. */
  readonly timeoutMs?: number;
  /** Retries after the first attempt (a whole number from 0 to 100), or the whole policy. Default 0. */
  readonly retries?: number | RetryOptions;
  /** Keep results. Only with `effects: "read"` and without `confirm`. Default: off. */
  readonly cache?: CacheRule;
  /** A second call in the same run replays the first result; with other arguments it is a `ToolError`. Default `false`. */
  readonly oncePerRun?: boolean;
  /** May run beside others of a batch; unsafe calls run one at a time. Default: `effects === "read"`. */
  readonly parallelSafe?: boolean;
  /**
   * What one attempt costs, in the unit of the budget, at least 0. Default 0.
   * Write a function below `execute`, whose result type it gets.
   */
  readonly cost?: number | ((args: ParsedArguments<Schema>, result: Out) => number);
  /** Part of the definition digest and of the cache key. Default `"1"`. */
  readonly version?: string;
}

/** How a spec turns what came in into what runs. Messages name fields, never values. */
export interface ArgumentParsing {
  /**
   * Parses raw arguments once, on a private copy; the value is deep-frozen (plain objects and arrays). Gives the value, or a
   * promise of it when the schema validates asynchronously: promises cost, and every call passes here.
   *
   * @throws ToolArgsInvalid when they do not fit, ToolUsageError when the schema itself throws
   */
  readonly parseArguments: (raw: unknown, limits: JsonLimits) => unknown;
  /** Rejects with `ToolUsageError` unless the parsed arguments are JSON and parse to themselves (G5). Parses once. */
  readonly assertFixedPoint: (parsed: unknown, limits: JsonLimits) => Promise<void>;
  /** Parses a reviewer's edit; an edit that does not fit or is not a fixed point is `ToolArgsInvalid`. */
  readonly parseEditedArguments: (edited: unknown, limits: JsonLimits) => Promise<unknown>;
  /** The same without waiting; throws `ToolUsageError` when the schema only validates asynchronously. */
  readonly parseEditedArgumentsSync: (edited: unknown, limits: JsonLimits) => unknown;
  /** Validates a result with `outputSchema`; a mismatch is `ToolFailed`. Without one the value comes back as it is, at once. */
  readonly parseResult: (value: unknown) => unknown;
}

/**
 * A defined tool, frozen. `In` is what a caller passes, `Out` the result; both live in the phantom member only.
 * `Name` is the literal name, so that a registry knows its names and the compiler checks a policy (G4); hence the third
 * type parameter, which nobody has to write. Made by `defineTool`; nothing else is accepted by a `Registry`.
 */
export interface ToolSpec<In = never, Out = unknown, Name extends string = string> extends ArgumentParsing {
  /** The name the model calls it by. */
  readonly name: Name;
  /** What the model and the reviewer read about it. */
  readonly description: string;
  /** What it does to the world. */
  readonly effects: Effects;
  /** Is a repeat harmless? */
  readonly idempotent: boolean;
  /** Part of the definition digest and of the cache key. */
  readonly version: string;
  /** Takes the parsed arguments. */
  readonly confirm: boolean | ConfirmPredicate<unknown>;
  /** Did the options say `confirm`, be it `false`? */
  readonly confirmStated: boolean;
  /** Per attempt; `undefined` is no timeout. */
  readonly timeoutMs: number | undefined;
  /** How often a failed call is attempted again; complete. */
  readonly retry: RetryPolicy;
  /** How long and for whom results are kept; `undefined` keeps none. */
  readonly cache: CacheRule | undefined;
  /** Does a second call in the same run replay the first result? */
  readonly oncePerRun: boolean;
  /** May it run beside others of a batch? */
  readonly parallelSafe: boolean;
  /** A function takes the parsed arguments and the result; what it returns is not checked here. */
  readonly cost: number | ((args: unknown, result: unknown) => number);
  /** Takes the parsed arguments. May throw synchronously. */
  readonly execute: (args: unknown, ctx: ToolContext) => unknown;
  /** For the model: 2020-12, `type: "object"` at the root, `$ref` only into `$defs`. Deep-frozen. */
  readonly inputJsonSchema: JsonSchema;
  /** Hex digest over name, input JSON Schema without annotations, effects and version. */
  readonly definitionDigest: string;
  readonly [TYPES]?: (args: In) => Out;
}

/** Any spec, whatever its types: what a `Registry` holds. */
export type AnyToolSpec = ToolSpec;

// `ToolSpec` and `ToolOptions`: every option of a tool, its type and its default, in one table. Types only.
// A spec carries its argument and result types in one phantom member, so that any spec fits `AnyToolSpec` without a cast.

import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Logger } from "./logger.js";
import type { JsonLimits } from "../crypto/canonical-json.js";

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
  readonly runId: string;
  readonly threadId: string | undefined;
  readonly callId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the caller gives up: pass it on to whatever waits. */
  readonly signal: AbortSignal;
  /** The same on every retry and re-run of one call: hand it to services that deduplicate. */
  readonly idempotencyKey: string;
  /** Who the run acts for, as the executor's `principal` option saw it. */
  readonly principal: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The executor's logger. */
  readonly log: Logger;
  /** Runs another registered tool as a part of this call; its call id is `<this call>/<n>`. */
  run(tool: string, args: unknown): Promise<unknown>;
}

/** What a `confirm` predicate is told. */
export interface ConfirmContext {
  readonly runId: string;
  readonly threadId: string | undefined;
  readonly callId: string;
  readonly principal: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Does this call need a human? Sees the parsed arguments. Awaited once per call, never again after a pause. */
export type ConfirmPredicate<Parsed> = (args: Parsed, ctx: ConfirmContext) => boolean | Promise<boolean>;

/** Everything `defineTool` accepts. */
export interface ToolOptions<Schema, Out> {
  /** `[A-Za-z0-9_-]{1,64}`, not a name on `Object.prototype`. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** A Standard Schema that can give JSON Schema (zod 4, arktype, ...), or a plain JSON Schema object (2020-12). */
  readonly inputSchema: Schema;
  /** Validates the result; a mismatch is `ToolFailed`. Default: none. */
  readonly outputSchema?: StandardSchemaV1<unknown, Out>;
  readonly execute: (args: ParsedArguments<Schema>, ctx: ToolContext) => Out | Promise<Out>;
  /** Ask a human first. Default `false`. */
  readonly confirm?: boolean | ConfirmPredicate<ParsedArguments<Schema>>;
  /** Default `"write"`. */
  readonly effects?: Effects;
  /** A repeat is harmless. Default: `effects === "read"`. */
  readonly idempotent?: boolean;
  /** Part of the definition digest. Default `"1"`. */
  readonly version?: string;
}

/** How a spec turns what came in into what runs. Messages name fields, never values. */
export interface ArgumentParsing {
  /**
   * Parses raw arguments once, on a private copy; the value is deep-frozen (plain objects and arrays).
   * Rejects with `ToolArgsInvalid` when they do not fit, `ToolUsageError` when the schema itself throws.
   */
  readonly parseArguments: (raw: unknown, limits: JsonLimits) => Promise<unknown>;
  /** Rejects with `ToolUsageError` unless the parsed arguments are JSON and parse to themselves (G5). Parses once. */
  readonly assertFixedPoint: (parsed: unknown, limits: JsonLimits) => Promise<void>;
  /** Parses a reviewer's edit; an edit that does not fit or is not a fixed point is `ToolArgsInvalid`. */
  readonly parseEditedArguments: (edited: unknown, limits: JsonLimits) => Promise<unknown>;
  /** The same without waiting; throws `ToolUsageError` when the schema only validates asynchronously. */
  readonly parseEditedArgumentsSync: (edited: unknown, limits: JsonLimits) => unknown;
  /** Validates a result with `outputSchema`; a mismatch is `ToolFailed`. Without one the value comes back as it is. */
  readonly parseResult: (value: unknown) => Promise<unknown>;
}

/**
 * A defined tool, frozen. `In` is what a caller passes, `Out` the result; both live in the phantom member only.
 * Made by `defineTool`; nothing else is accepted by a `Registry`.
 */
export interface ToolSpec<In = never, Out = unknown> extends ArgumentParsing {
  readonly name: string;
  readonly description: string;
  readonly effects: Effects;
  readonly idempotent: boolean;
  readonly version: string;
  /** Takes the parsed arguments. */
  readonly confirm: boolean | ConfirmPredicate<unknown>;
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

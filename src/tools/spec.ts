// `ToolSpec` and `ToolOptions`: every option of a tool, its type and its default, in one table. Data only.

import type { StandardSchemaV1 } from "@standard-schema/spec";

/** A JSON Schema document (2020-12). */
export type JsonSchema = { readonly [keyword: string]: unknown };

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
export type ConfirmPredicate<In> = (args: In, ctx: ConfirmContext) => boolean | Promise<boolean>;

/** Everything `defineTool` accepts. */
export interface ToolOptions<In, Out> {
  /** `[A-Za-z0-9_-]{1,64}`, not a name on `Object.prototype`. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  /** A Standard Schema that can give JSON Schema (zod 4, arktype, ...), or a plain JSON Schema object (2020-12). */
  readonly inputSchema: StandardSchemaV1<unknown, In> | JsonSchema;
  /** Validates the result; a mismatch is `ToolFailed`. Default: none. */
  readonly outputSchema?: StandardSchemaV1<unknown, Out>;
  readonly execute: (args: In, ctx: ToolContext) => Out | Promise<Out>;
  /** Ask a human first. Default `false`. */
  readonly confirm?: boolean | ConfirmPredicate<In>;
  /** Default `"write"`. */
  readonly effects?: Effects;
  /** A repeat is harmless. Default: `effects === "read"`. */
  readonly idempotent?: boolean;
  /** Part of the definition digest. Default `"1"`. */
  readonly version?: string;
}

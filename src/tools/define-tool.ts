// `defineTool`: reads the options once, refuses what cannot work at once, and makes the frozen spec.
// I1: a spec that was not made here is none, so that `{...spec, confirm: false}` cannot be registered.

import { isWellFormed } from "../crypto/canonical-json.js";
import { digest } from "../crypto/digest.js";
import { ToolUsageError } from "../errors.js";
import { argumentParsing } from "./arguments.js";
import { executionOptions, type ExecutionOptions } from "./execution-options.js";
import { flag, readOnce, refused } from "./options.js";
import { compileInput, compileOutput } from "./schema.js";
import type { AnyToolSpec, CallerArguments, Effects, InputSchema, ToolOptions, ToolSpec } from "./spec.js";

const made = new WeakSet<object>();

/**
 * Defines a tool: `execute` and `confirm` get what the schema parsed, callers pass what it accepts.
 *
 * @throws ToolUsageError naming the tool and the option
 * @example
 * const pay = defineTool({
 *   name: "pay",
 *   description: "Pays an amount.",
 *   inputSchema: z.object({ to: z.string(), amount: z.number() }),
 *   confirm: ({ amount }) => amount > 100,
 *   execute: async ({ to, amount }) => ({ receipt: await transfer(to, amount) }),
 * });
 */
// Three type parameters: the literal name is the third, inferred, so that a registry knows its names (see ToolSpec).
export function defineTool<Schema extends InputSchema, Out, const Name extends string>(
  options: ToolOptions<Schema, Out, Name>,
): ToolSpec<CallerArguments<Schema>, Out, Name> {
  const { inputSchema, outputSchema, ...settled } = settle(options);
  const { effects, version } = settled;
  // What was read from options.name, which has this type; read again, a getter could give another one.
  const name = settled.name as Name;
  const input = compileInput(name, inputSchema);
  const output = outputSchema === undefined ? undefined : compileOutput(name, outputSchema);
  const spec = Object.freeze({
    ...settled,
    name,
    inputJsonSchema: input.jsonSchema,
    definitionDigest: digest("agent-adapter/definition/v1", { name, inputSchema: input.covered, effects, version }),
    ...argumentParsing(name, input, output),
  });
  made.add(spec);
  return spec;
}

/** Was this made by `defineTool` of this copy of the package? */
export function isToolSpec(value: unknown): value is AnyToolSpec {
  return typeof value === "object" && value !== null && made.has(value);
}

type Settled = ExecutionOptions &
  Pick<
    AnyToolSpec,
    "name" | "description" | "effects" | "idempotent" | "version" | "confirm" | "confirmStated" | "execute"
  > & { readonly inputSchema: unknown; readonly outputSchema: unknown };

const OPTIONS: ReadonlySet<string> = new Set(
  (
    "name description inputSchema outputSchema execute confirm effects idempotent " +
    "timeoutMs retries cache oncePerRun parallelSafe cost version"
  ).split(" "),
);
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

function settle(options: unknown): Settled {
  if (typeof options !== "object" || options === null) {
    throw new ToolUsageError("defineTool needs an options object with name, description, inputSchema and execute");
  }
  const read = readOnce(options, OPTIONS);
  const name = toolName(read.get("name"));
  for (const option of read.keys()) {
    if (!OPTIONS.has(option)) throw refused(name, option, `there is no such option; known: ${[...OPTIONS].join(", ")}`);
  }
  const effects = effectsOption(name, read.get("effects"));
  const confirm = confirmOption(name, read);
  return {
    name,
    description: text(name, "description", read.get("description")),
    inputSchema: read.get("inputSchema"),
    outputSchema: read.get("outputSchema"),
    execute: executeOption(name, read.get("execute")),
    confirm,
    confirmStated: read.has("confirm"),
    effects,
    idempotent: flag(name, "idempotent", read.get("idempotent") ?? effects === "read"),
    ...executionOptions(name, Object.fromEntries(read), { effects, confirm }),
    version: text(name, "version", read.get("version") ?? "1"),
  };
}

function toolName(name: unknown): string {
  const shown = typeof name === "string" ? name.slice(0, 80) : typeof name;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw refused(shown, "name", "it must be 1 to 64 characters of A-Z a-z 0-9 _ -");
  }
  if (name in Object.prototype) throw refused(name, "name", "it is a name on Object.prototype");
  return name;
}

function text(tool: string, option: string, value: unknown): string {
  if (typeof value !== "string" || value.trim() === "")
    throw refused(tool, option, "it must be a text that is not empty");
  if (!isWellFormed(value)) throw refused(tool, option, "it holds half a surrogate pair");
  return value;
}

function effectsOption(tool: string, value: unknown): Effects {
  if (value === undefined) return "write";
  if (value === "read" || value === "write" || value === "destructive") return value;
  throw refused(tool, "effects", 'it must be "read", "write" or "destructive"');
}

function confirmOption(tool: string, read: ReadonlyMap<string, unknown>): AnyToolSpec["confirm"] {
  // Given but undefined is a mistake (a misspelt setting, say) that must not silently remove the gate.
  const value = read.has("confirm") ? read.get("confirm") : false;
  if (typeof value === "boolean") return value;
  if (isPredicate(value)) return value;
  throw refused(tool, "confirm", "it must be true, false or a function");
}

function executeOption(tool: string, value: unknown): AnyToolSpec["execute"] {
  if (isToolFunction(value)) return value;
  throw refused(tool, "execute", "it must be a function");
}

// Both functions only ever get what the schema parsed, so `defineTool`'s types vouch for their parameter; what a
// predicate really returns is checked by whoever calls it.
function isPredicate(value: unknown): value is Exclude<AnyToolSpec["confirm"], boolean> {
  return typeof value === "function";
}

function isToolFunction(value: unknown): value is AnyToolSpec["execute"] {
  return typeof value === "function";
}

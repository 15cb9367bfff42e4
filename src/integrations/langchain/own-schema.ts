// The schema of an imported LangChain tool as an input schema. LangChain parses with it each time it invokes the tool, so what
// a reviewer is shown must be what that makes of itself.
//   G5  arguments that the tool's schema would change again are passed on as they came, and never shown to be approved

import type { StructuredToolInterface } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { interopSafeParseAsync, isInteropZodSchema } from "@langchain/core/utils/types";
import { ToolUsageError, type JsonSchema } from "../../index.js";
import { isJson, sameJson } from "../../spi.js";

/** What a Standard Schema says about a value. */
interface Said {
  readonly value?: unknown;
  readonly issues?: readonly unknown[];
}
type Parse = (value: unknown) => Said | Promise<Said>;

/**
 * The prototype of arguments that cannot be settled before the tool runs. It makes them no JSON: the executor refuses to ask about
 * them.
 */
const UNSETTLED = Object.freeze({});

/** What the tool is invoked with. */
export function argumentsFor(parsed: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.getPrototypeOf(parsed) === UNSETTLED ? { ...parsed } : parsed;
}

/**
 * The tool's schema for `defineTool`. LangChain only validates with a plain JSON Schema, so that is one as it is.
 *
 * @throws ToolUsageError when it cannot be shown to a model
 */
export function inputSchemaOf(tool: StructuredToolInterface): JsonSchema {
  const jsonSchema = jsonSchemaOf(tool);
  const parse = parseOf(tool.schema);
  if (parse === undefined) return jsonSchema;
  const standard = {
    version: 1,
    vendor: "agent-adapter/langchain",
    validate: (value: unknown) => settled(parse, value),
    jsonSchema: { input: () => jsonSchemaOf(tool), output: () => jsonSchema },
  };
  // A Standard Schema, which `defineTool` knows by this member; a `JsonSchema` is any object to the types.
  return { "~standard": standard };
}

/** What the schema makes of the value, if it would make the same of that again. */
function settled(parse: Parse, given: unknown): Said | Promise<Said> {
  return after(parse(copyOf(given)), (first) => {
    const { value } = first;
    if (first.issues) return first;
    if (isItsText(given, value)) return { value: given };
    if (!isObject(value) || !isJson(value)) return unsettled(given);
    const isSettled = (again: Said) => !again.issues && sameJson(value, again.value);
    return after(parse(copyOf(value)), (again) => (isSettled(again) ? first : unsettled(given)));
  });
}

function unsettled(given: unknown): Said {
  if (!isObject(given)) return { value: given };
  return { value: Object.create(UNSETTLED, Object.getOwnPropertyDescriptors(given)) };
}

/** LangChain's tools of one text take it out of its one member themselves: what is shown is what they get. */
function isItsText(given: unknown, parsed: unknown): boolean {
  if (!isObject(given) || (parsed !== undefined && typeof parsed !== "string")) return false;
  return Object.keys(given).every((name) => name === "input") && Reflect.get(given, "input") === parsed;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A schema may work on what it is given. */
function copyOf(value: unknown): unknown {
  return structuredClone(value);
}

/** At once where the schema answers at once: an edit may have to be checked without waiting. */
function after<Out>(said: Said | Promise<Said>, goOn: (said: Said) => Out | Promise<Out>): Out | Promise<Out> {
  return said instanceof Promise ? said.then(goOn) : goOn(said);
}

/** `undefined`: LangChain does not parse with it. */
function parseOf(schema: unknown): Parse | undefined {
  const standard: unknown = isObject(schema) ? Reflect.get(schema, "~standard") : undefined;
  const validate: unknown = isObject(standard) ? Reflect.get(standard, "validate") : undefined;
  // What a Standard Schema has under that name, and gives.
  if (typeof validate === "function") return (value) => validate.call(standard, value) as Said | Promise<Said>;
  if (!isInteropZodSchema(schema)) return undefined;
  // zod 3 before it was a Standard Schema.
  return async (value) => {
    const { success, data, error } = {
      data: undefined,
      error: undefined,
      ...(await interopSafeParseAsync(schema, value)),
    };
    return success ? { value: data } : { issues: issuesOf(error) };
  };
}

function issuesOf(error: unknown): readonly unknown[] {
  const issues: unknown = isObject(error) ? Reflect.get(error, "issues") : undefined;
  return Array.isArray(issues) ? issues : [];
}

function jsonSchemaOf(tool: StructuredToolInterface) {
  try {
    // What callers pass: fields with defaults are not required.
    return { ...toJsonSchema(tool.schema, { io: "input" }) };
  } catch (cause) {
    throw new ToolUsageError(`${tool.name}: its schema cannot be turned into JSON Schema`, { tool: tool.name, cause });
  }
}

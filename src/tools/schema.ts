// The border to schema libraries: Standard Schemas and plain JSON Schemas become one thing that parses.
// The only file that imports npm packages; casts here are of what a library documents and this file has looked at.

import { Validator, type OutputUnit, type Schema } from "@cfworker/json-schema";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { isJsonObject, jsonCopy, NotJson, type JsonObject, type JsonValue } from "../crypto/canonical-json.js";
import { ToolUsageError } from "../errors.js";
import { ASSERTING_KEYWORDS, checkJsonSchema } from "./check-json-schema.js";
import { standardIssues, type Issue } from "./issues.js";
import {
  BadSchema,
  declaredNames,
  isAnnotation,
  modelSchema,
  withoutKeywords,
  withoutVolatileDefaults,
} from "./json-schema.js";

/** What a schema says about a value. */
export type Verdict =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** A schema that was checked once and can parse. */
export interface CompiledSchema {
  /** Names that messages may show. */
  readonly names: ReadonlySet<string>;
  /** Throws or rejects with whatever the library throws. */
  readonly validate: (value: unknown) => Verdict | PromiseLike<Verdict>;
}

/** An input schema, which the model is shown. */
export interface CompiledInput extends CompiledSchema {
  readonly jsonSchema: JsonObject;
  /** What the definition digest covers of it. */
  readonly covered: JsonValue;
}

// Deep schemas are legitimate where deep arguments are not; what is larger would not fit into a prompt.
const SCHEMA_LIMITS = { maxDepth: 256, maxBytes: 1_048_576 };
// The validator compares every pair of a `uniqueItems` array: beyond this the time would not be bounded.
const MAX_UNIQUE_ITEMS = 2000;
const STANDARD_HELP =
  "use a schema that can give JSON Schema (zod 4.2 or later, arktype), wrap it (zod/mini: z.toJSONSchema(schema), " +
  "valibot: toStandardJsonSchema(schema)), or pass a plain JSON Schema object";

/** Checks an `inputSchema` option; throws `ToolUsageError` naming the tool and, where known, the field. */
export function compileInput(tool: string, schema: unknown): CompiledInput {
  const props = standardProps(schema);
  if (props !== undefined) {
    const validate = standardValidate(props);
    if (validate === undefined) throw unusable(tool, "inputSchema", `it cannot validate; ${STANDARD_HELP}`);
    const jsonSchema = toModelSchema(tool, standardDocument(tool, props), { patterns: false });
    // A library computes defaults when it converts: a date or an id must not make another definition of every process.
    const covered = withoutKeywords(jsonSchema, (keyword) => isAnnotation(keyword) || keyword === "default");
    return { jsonSchema, covered, names: declaredNames(jsonSchema), validate };
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw unusable(tool, "inputSchema", `it must be an object; ${STANDARD_HELP}`);
  }
  const document = plainDocument(tool, schema);
  const jsonSchema = toModelSchema(tool, document, { patterns: true });
  const covered = withoutKeywords(jsonSchema, isAnnotation);
  return { jsonSchema, covered, names: declaredNames(jsonSchema), validate: plainValidate(jsonSchema) };
}

/** Checks an `outputSchema` option. */
export function compileOutput(tool: string, schema: unknown): CompiledSchema {
  const compiled = compileValue(schema);
  if (compiled !== undefined) return compiled;
  throw unusable(tool, "outputSchema", "it must be a Standard Schema (zod, arktype, valibot, ...)");
}

/** A schema for one value; `undefined` when it is no Standard Schema. */
export function compileValue(schema: unknown): CompiledSchema | undefined {
  const props = standardProps(schema);
  const validate = props === undefined ? undefined : standardValidate(props);
  return props === undefined || validate === undefined ? undefined : { names: outputNames(props), validate };
}

/** The schemas of an object schema's fields (zod's `shape`), or the fields themselves. */
export function fieldSchemas(schema: object): readonly [field: string, schema: unknown][] {
  const fields: unknown = standardProps(schema) === undefined ? schema : Reflect.get(schema, "shape");
  return typeof fields === "object" && fields !== null ? Object.entries(fields) : [];
}

function unusable(tool: string, option: string, why: string, cause?: unknown): ToolUsageError {
  return new ToolUsageError(`tool "${tool}": ${option} cannot be used: ${why}`, { tool, cause });
}

// ---- Standard Schema -----------------------------------------------------------------------------------------------

type Props = Partial<StandardSchemaV1.Props & StandardJSONSchemaV1.Props>;

function standardProps(schema: unknown): Props | undefined {
  // Some libraries' schemas are functions.
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return undefined;
  const props: unknown = Reflect.get(schema, "~standard");
  // Every member of `Props` is optional, and looked at before it is used.
  return typeof props === "object" && props !== null ? props : undefined;
}

function standardValidate(props: Props): CompiledSchema["validate"] | undefined {
  const { validate } = props;
  if (typeof validate !== "function") return undefined;
  return (value) => {
    const result: unknown = validate.call(props, value);
    return isThenable(result) ? result.then((late) => verdict(late, value)) : verdict(result, value);
  };
}

function verdict(result: unknown, value: unknown): Verdict {
  if (typeof result !== "object" || result === null)
    throw new TypeError("the schema returned no Standard Schema result");
  // What a Standard Schema returns: issues, or a value.
  const { issues, value: parsed } = result as { readonly issues?: unknown; readonly value?: unknown };
  if (!issues) return { ok: true, value: parsed };
  return { ok: false, issues: standardIssues(Array.isArray(issues) ? issues : [], value) };
}

/** Is this a promise, whosever it is? */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "then") === "function";
}

function standardDocument(tool: string, props: Props): JsonObject {
  const input = props.jsonSchema?.input;
  if (typeof input !== "function") throw unusable(tool, "inputSchema", `it gives no JSON Schema; ${STANDARD_HELP}`);
  let field: string | undefined;
  // Zod says where it stopped through this option; other libraries say it in their message, or not at all.
  const unrepresentable = (found: { readonly path?: unknown }): "throw" => {
    field ??= fieldName(found.path);
    return "throw";
  };
  const libraryOptions = props.vendor === "zod" ? { unrepresentable } : undefined;
  const convert = (): JsonObject => {
    let document: unknown;
    try {
      document = input.call(props.jsonSchema, { target: "draft-2020-12", libraryOptions });
    } catch (error) {
      const where = field === undefined ? "" : `field "${field}": `;
      const why = error instanceof Error ? error.message : "it cannot become JSON Schema";
      throw unusable(tool, "inputSchema", `${where}${why}; take JSON in and convert it in execute`, error);
    }
    return documentCopy(tool, document);
  };
  const document = convert();
  // A default that is made anew each time (an id, a time) would make the model send the one it was shown.
  return documentCopy(tool, withoutVolatileDefaults(document, convert()));
}

/** The field names in a path through a JSON Schema: `properties/when/items` is `when`. */
function fieldName(path: unknown): string | undefined {
  if (!Array.isArray(path)) return undefined;
  const names = path.filter((_, index) => path[index - 1] === "properties");
  return names.length === 0 ? undefined : names.map(String).join(".");
}

function outputNames(props: Props): ReadonlySet<string> {
  try {
    const document = props.jsonSchema?.output({ target: "draft-2020-12" }) ?? {};
    return declaredNames(jsonCopy({ ...document }, SCHEMA_LIMITS));
  } catch {
    // An output need not have a JSON Schema: messages then show positions only.
    return new Set();
  }
}

// ---- plain JSON Schema ---------------------------------------------------------------------------------------------

const ROOT_KEYWORDS = ["type", "properties", "$ref", "anyOf", "oneOf", "allOf"];

function plainDocument(tool: string, schema: object): JsonObject {
  const document = documentCopy(tool, schema);
  if (!ROOT_KEYWORDS.some((keyword) => Object.hasOwn(document, keyword))) {
    throw unusable(
      tool,
      "inputSchema",
      `it does not describe an object (no "type", no "properties"); ${STANDARD_HELP}`,
    );
  }
  return document;
}

function documentCopy(tool: string, document: unknown): JsonObject {
  try {
    // Zod hangs its own hidden member on the root: the spread leaves it behind.
    if (typeof document === "object" && document !== null && !Array.isArray(document)) {
      const copy = jsonCopy({ ...document }, SCHEMA_LIMITS);
      if (isJsonObject(copy)) return copy;
    }
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw unusable(tool, "inputSchema", `not a JSON Schema: ${error.message}; ${STANDARD_HELP}`, error);
  }
  throw unusable(tool, "inputSchema", `the JSON Schema must be an object; ${STANDARD_HELP}`);
}

function toModelSchema(tool: string, document: JsonObject, options: { readonly patterns: boolean }): JsonObject {
  try {
    checkJsonSchema(document, options);
    return documentCopy(tool, modelSchema(document));
  } catch (error) {
    if (error instanceof BadSchema) throw unusable(tool, "inputSchema", error.message, error);
    throw error;
  }
}

function plainValidate(jsonSchema: JsonObject): CompiledSchema["validate"] {
  const asserting = withoutKeywords(jsonSchema, (keyword) => !ASSERTING_KEYWORDS.has(keyword));
  // A private mutable copy, because the validator writes on it.
  const copy = structuredClone(asserting);
  const validator = new Validator(isChecked(copy) ? copy : false, "2020-12", true);
  const hasUnique = JSON.stringify(asserting).includes('"uniqueItems":true');
  return (value) => {
    if (hasUnique && hasLongArray(value)) {
      return { ok: false, issues: [{ path: [], reason: `holds an array of more than ${MAX_UNIQUE_ITEMS} items` }] };
    }
    try {
      const { valid, errors } = validator.validate(value);
      return valid ? { ok: true, value } : { ok: false, issues: plainIssues(errors) };
    } catch (error) {
      // The validator passes errors around as call arguments: a hundred thousand of them use up the stack.
      if (!(error instanceof RangeError)) throw error;
      return { ok: false, issues: [{ path: [], reason: "has too many errors" }] };
    }
  };
}

// What `checkJsonSchema` let through has the shape that the validator's type asks for.
function isChecked(schema: JsonValue): schema is JsonValue & Schema {
  return isJsonObject(schema);
}

function hasLongArray(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (Array.isArray(value) && value.length > MAX_UNIQUE_ITEMS) || Object.values(value).some(hasLongArray);
}

// These only repeat that something below them failed.
const WRAPPERS = new Set(
  "properties patternProperties additionalProperties items prefixItems allOf anyOf $ref if then else dependentSchemas".split(
    " ",
  ),
);
const PLAIN_REASONS: ReadonlyMap<string, string> = new Map([
  ["type", "has the wrong type"],
  ["false", "is not allowed"],
  ["enum", "is not one of the allowed values"],
  ["const", "is not the allowed value"],
  ["oneOf", "must fit exactly one of the alternatives"],
]);

function plainIssues(errors: readonly OutputUnit[]): Issue[] {
  const leaves = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
  return (leaves.length > 0 ? leaves : errors).slice(0, 100).map((unit) => {
    const path = unit.instanceLocation.split("/").slice(1).map(unescaped);
    const missing = /required property "(.*)"\.$/s.exec(unit.error)?.[1];
    if (unit.keyword === "required" && missing !== undefined)
      return { path: [...path, missing], reason: "is required" };
    return { path, reason: PLAIN_REASONS.get(unit.keyword) ?? `does not fit "${unit.keyword}"` };
  });
}

function unescaped(step: string): string {
  return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

// Is a JSON Schema document well-formed (2020-12)? A keyword that a validator would silently ignore is refused here.

import { isJsonObject, type JsonObject, type JsonValue } from "../crypto/canonical-json.js";
import { BadSchema, subschemas } from "./json-schema.js";

type Check = (value: JsonValue) => boolean;

const TYPES: ReadonlySet<JsonValue> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const isNumber: Check = (value) => typeof value === "number";
const isCount: Check = (value) => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isString: Check = (value) => typeof value === "string";
const isSchema: Check = (value) => isJsonObject(value) || typeof value === "boolean";
const isSchemaList: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isSchemaMap: Check = (value) => isJsonObject(value) && Object.values(value).every(isSchema);
const isNames: Check = (value) => Array.isArray(value) && value.every(isString);
const isNameMap: Check = (value) => isJsonObject(value) && Object.values(value).every(isNames);
const isType: Check = (value) =>
  TYPES.has(value) || (Array.isArray(value) && value.length > 0 && value.every((one: JsonValue) => TYPES.has(one)));
// Refused whatever the value: the validator does not support it, or not with the meaning of 2020-12.
const never: Check = () => false;

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["type", isType],
  ["enum", (value) => Array.isArray(value) && value.length > 0],
  ["multipleOf", (value) => typeof value === "number" && value > 0],
  ["uniqueItems", (value) => typeof value === "boolean"],
  // How zod writes a file, which no JSON value can be.
  ["contentEncoding", (value) => typeof value === "string" && value !== "binary"],
  ["format", isString],
  ["pattern", isString],
  ["$ref", isString],
  ["required", isNames],
  ["dependentRequired", isNameMap],
  ...keywords(isNumber, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
  ...keywords(isCount, "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"),
  ...keywords(isCount, "minProperties", "maxProperties"),
  ...keywords(isSchema, "items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
  ...keywords(isSchema, "propertyNames", "not", "if", "then", "else"),
  ...keywords(isSchemaList, "prefixItems", "allOf", "anyOf", "oneOf"),
  ...keywords(isSchemaMap, "properties", "patternProperties", "dependentSchemas", "$defs", "definitions"),
  ...keywords(never, "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"),
  ...keywords(never, "additionalItems", "dependencies"),
]);

/** The keywords that decide whether a value is valid; everything else only describes. */
export const ASSERTING_KEYWORDS: ReadonlySet<string> = new Set([...CHECKS.keys(), "const"]);

function keywords(check: Check, ...names: readonly string[]): [string, Check][] {
  return names.map((name) => [name, check]);
}

/** Throws `BadSchema` naming the place and the keyword. `patterns`: regular expressions must compile, too. */
export function checkJsonSchema(document: JsonObject, { patterns }: { readonly patterns: boolean }): void {
  const visit = (schema: JsonObject, place: string): void => {
    for (const [keyword, value] of Object.entries(schema)) {
      const check = CHECKS.get(keyword);
      if (check !== undefined && !check(value)) throw new BadSchema(`bad "${keyword}" at ${place}`);
    }
    if (place !== "#" && Object.hasOwn(schema, "$id")) throw new BadSchema(`nested "$id" at ${place}`);
    if (patterns) checkPatterns(schema, place);
    for (const [steps, inner] of subschemas(schema)) {
      if (isJsonObject(inner)) visit(inner, `${place}/${steps.join("/")}`);
    }
  };
  visit(document, "#");
}

/** A pattern as JSON Schema reads it; `undefined` when it is none. */
export function regExp(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}

function checkPatterns(schema: JsonObject, place: string): void {
  const { pattern, patternProperties } = schema;
  const sources = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  if (typeof pattern === "string") sources.push(pattern);
  for (const source of sources) {
    if (regExp(source) === undefined) throw new BadSchema(`a pattern at ${place} is not a regular expression`);
  }
}

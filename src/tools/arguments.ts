// From what a model, a program or a reviewer sent to what runs, or a typed refusal; and results through `outputSchema`.
// I1: the schema sees a private copy, once. I2: what comes out is deep-frozen, so that all who look see one value.
// I3: raw arguments are always a JSON object within the limits; nothing is repaired or replaced by `{}`.

import {
  isJsonObject,
  NotJson,
  orderedJson,
  sameJson,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
} from "../crypto/canonical-json.js";
import { ToolArgsInvalid, ToolFailed, ToolUsageError } from "../errors.js";
import { issuesText, notJsonText, type Issue } from "./issues.js";
import { isThenable, type CompiledInput, type CompiledSchema, type Verdict } from "./schema.js";
import type { ArgumentParsing } from "./spec.js";
import { unsafeIntegerPath } from "./unsafe-numbers.js";

/** The parsing half of a spec. */
export function argumentParsing(tool: string, input: CompiledInput, output?: CompiledSchema): ArgumentParsing {
  const parser = new ArgumentParser(tool, input);
  return {
    parseArguments: (raw, limits) => parser.parse(raw, limits),
    assertFixedPoint: async (parsed, limits) => {
      const text = parser.textOf(parsed, limits);
      let again: unknown;
      try {
        again = await parser.parseText(text);
      } catch (error) {
        if (error instanceof ToolArgsInvalid) throw parser.notFixed(error);
        throw error;
      }
      // Nearly always in the same order, which is found out sooner.
      if (text !== textOrNothing(again) && !sameJson(parsed, again)) throw parser.notFixed();
    },
    parseEditedArguments: async (edited, limits) => {
      const parsed = await parser.parse(edited, limits);
      const again = await parser.parse(parsed, limits);
      return parser.settledEdit(parsed, again);
    },
    parseEditedArgumentsSync: (edited, limits) => {
      const parsed = parser.parseSync(edited, limits);
      return parser.settledEdit(parsed, parser.parseSync(parsed, limits));
    },
    parseResult: (value) => (output === undefined ? value : parsedResult(tool, output, value)),
  };
}

class ArgumentParser {
  readonly #tool: string;
  readonly #input: CompiledInput;

  constructor(tool: string, input: CompiledInput) {
    this.#tool = tool;
    this.#input = input;
  }

  /** The value, or a promise of it when the schema validates asynchronously. */
  parse(raw: unknown, limits: JsonLimits): unknown {
    return this.parseText(this.#rawText(raw, limits));
  }

  /** The same of JSON text. */
  parseText(text: string): unknown {
    // JSON.parse defines members instead of assigning them, and the copy is not frozen: a schema may work on it.
    const value = this.#checked(JSON.parse(text));
    let verdict: Verdict | PromiseLike<Verdict>;
    try {
      verdict = this.#input.validate(value);
    } catch (error) {
      throw this.#schemaThrew(error);
    }
    return isThenable(verdict) ? this.#later(verdict, value) : this.#accepted(verdict, value);
  }

  async #later(waiting: PromiseLike<Verdict>, value: unknown): Promise<unknown> {
    let verdict: Verdict;
    try {
      verdict = await waiting;
    } catch (error) {
      throw this.#schemaThrew(error);
    }
    return this.#accepted(verdict, value);
  }

  parseSync(raw: unknown, limits: JsonLimits): unknown {
    const parsed = this.parse(raw, limits);
    if (!isThenable(parsed)) return parsed;
    // Nobody waits for it, so its failure must not end the process.
    parsed.then(undefined, () => undefined);
    throw new ToolUsageError(
      `tool "${this.#tool}": inputSchema only validates asynchronously, which is not possible here: move the asynchronous check into execute`,
      { tool: this.#tool },
    );
  }

  /** Parsed arguments must be JSON to be shown, hashed and kept. */
  textOf(parsed: unknown, limits: JsonLimits): string {
    try {
      return orderedJson(parsed, limits);
    } catch (error) {
      if (!(error instanceof NotJson)) throw error;
      // Too deep or too large is the caller's doing; the rest is what the schema made.
      if (error.reason === "depth" || error.reason === "bytes") throw this.#invalid(this.#notJson(error));
      throw this.notFixed(error);
    }
  }

  notFixed(cause?: unknown): ToolUsageError {
    const message = `tool "${this.#tool}" asks for approval, but its inputSchema does not parse its own output to the same JSON: move the transform into execute`;
    return new ToolUsageError(message, { tool: this.#tool, cause });
  }

  settledEdit(parsed: unknown, again: unknown): unknown {
    if (sameJson(parsed, again)) return parsed;
    throw this.#invalid("the schema changes the edited value when it is parsed again");
  }

  #rawText(raw: unknown, limits: JsonLimits): string {
    try {
      return orderedJson(raw, limits);
    } catch (error) {
      if (!(error instanceof NotJson)) throw error;
      const isNothing = error.path === "" && error.reason === "type";
      throw this.#invalid(isNothing ? "they must be a JSON object" : this.#notJson(error));
    }
  }

  #checked(value: JsonValue): JsonObject {
    if (!isJsonObject(value)) throw this.#invalid("they must be a JSON object");
    // After a checkpoint read such a key would be the prototype of what a human approved.
    if (hasProtoKey(value)) throw this.#invalid('a member is called "__proto__"');
    const path = unsafeIntegerPath(value, this.#input.jsonSchema);
    if (path !== undefined) throw this.#refused([{ path, reason: "is an unsafe integer (beyond 2^53 - 1)" }], value);
    return value;
  }

  #accepted(verdict: Verdict, value: unknown): unknown {
    if (!verdict.ok) throw this.#refused(verdict.issues, value);
    return frozenCopy(verdict.value, new Map());
  }

  #notJson(error: NotJson): string {
    return notJsonText(error, this.#input.names);
  }

  #refused(issues: readonly Issue[], value: unknown): ToolArgsInvalid {
    return this.#invalid(issuesText(issues, value, this.#input.names));
  }

  #invalid(why: string): ToolArgsInvalid {
    return new ToolArgsInvalid(`arguments of tool "${this.#tool}" are not valid: ${why}`, { tool: this.#tool });
  }

  #schemaThrew(cause: unknown): ToolUsageError {
    const message = `tool "${this.#tool}": inputSchema threw instead of reporting issues; see the cause`;
    return new ToolUsageError(message, { tool: this.#tool, cause });
  }
}

async function parsedResult(tool: string, output: CompiledSchema, value: unknown): Promise<unknown> {
  let verdict: Verdict;
  try {
    verdict = await output.validate(value);
  } catch (cause) {
    throw new ToolFailed(`tool "${tool}": outputSchema threw instead of reporting issues; see the cause`, {
      tool,
      cause,
    });
  }
  if (verdict.ok) return verdict.value;
  const why = issuesText(verdict.issues, value, output.names);
  throw new ToolFailed(`tool "${tool}" returned a result that does not fit its outputSchema: ${why}`, { tool });
}

function textOrNothing(value: unknown): string | undefined {
  try {
    return orderedJson(value);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

function hasProtoKey(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProtoKey);
}

/**
 * Copies and freezes plain objects and arrays at every depth; what a schema made of a class is left as it is. A copy,
 * because a schema may hand out objects that it keeps (shared defaults).
 */
function frozenCopy(value: unknown, done: Map<object, object>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const known = done.get(value);
  if (known !== undefined) return known;
  const copy = emptyLike(value);
  if (copy === undefined) return value;
  done.set(value, copy);
  for (const key of enumerableKeys(value)) {
    const member = frozenCopy(Reflect.get(value, key), done);
    // Assigned, what objects inherit (`__proto__`, and all of it where that is frozen) would not become a member.
    if (key in copy) Object.defineProperty(copy, key, { value: member, enumerable: true });
    else Reflect.set(copy, key, member);
  }
  return Object.freeze(copy);
}

/** `undefined`: it is neither a plain object nor a plain array. */
function emptyLike(value: object): object | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return {};
  if (prototype === null) return Object.create(null);
  return prototype === Array.prototype && Array.isArray(value) ? [] : undefined;
}

function enumerableKeys(value: object): readonly (string | symbol)[] {
  const symbols = Object.getOwnPropertySymbols(value);
  const names = Object.keys(value);
  return symbols.length === 0 ? names : [...names, ...symbols.filter((key) => isEnumerable(value, key))];
}

function isEnumerable(value: object, key: symbol): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, key);
}

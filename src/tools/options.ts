// Reading what a program without types may have got wrong: each option once, and a refusal that names tool and option.

import { ToolUsageError } from "../errors.js";

/** What was given, by option. */
export type GivenOptions = ReadonlyMap<string, unknown>;

/** Every option once, so that a getter cannot answer differently the second time. */
export function readOnce(options: object, known: Iterable<string>): GivenOptions {
  const read = new Map<string, unknown>();
  for (const option of new Set([...known, ...Object.keys(options)])) {
    if (option in options) read.set(option, Reflect.get(options, option));
  }
  return read;
}

export function refused(tool: string, option: string, why: string): ToolUsageError {
  return new ToolUsageError(`tool "${tool}": bad option "${option}": ${why}`, { tool });
}

export function flag(tool: string, option: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw refused(tool, option, "it must be true or false");
}

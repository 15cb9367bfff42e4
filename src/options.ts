// What every bag of options is checked with. Owns how a mistake reads: whose option, its name, and what it must be; never its
// value. Options of a tool are checked in tools/options.ts, which names the tool.

import { ToolUsageError } from "./errors.js";

/**
 * Refuses options that do not exist: `rest` is what was left of them.
 *
 * @throws ToolUsageError naming the first option that does not exist: a misspelt one must not be ignored
 */
export function refuseUnknown(owner: string, rest: object): void {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new ToolUsageError(`${owner}: there is no option ${JSON.stringify(unknown)}`);
}

/** @throws ToolUsageError when the option is there and undefined: a variable that is not set must not become a random key */
export function refuseMissing(owner: string, option: string, options: object): void {
  const given = Object.getOwnPropertyDescriptor(options, option);
  if (given === undefined || given.value !== undefined || given.get !== undefined) return;
  throw new ToolUsageError(`${owner}: ${option} is undefined; leave it out for a random one of this process`);
}

/**
 * Reads an option that counts something.
 *
 * @throws ToolUsageError naming the option when it is not a whole number above 0
 */
export function countOption(owner: string, option: string, value: unknown): number {
  if (isPositive(value)) return value;
  throw new ToolUsageError(`${owner}: ${option} must be a whole number above 0`);
}

/** @throws ToolUsageError naming the option when it is not a whole number of milliseconds above 0 */
export function durationOption(owner: string, option: string, value: unknown): number {
  if (isPositive(value)) return value;
  throw new ToolUsageError(`${owner}: ${option} must be a whole number of milliseconds above 0`);
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/** @throws ToolUsageError when what must be an object of options is none */
export function refuseNoObject(owner: string, options: unknown): void {
  if (typeof options === "object" && options !== null) return;
  throw new ToolUsageError(`${owner}: options must be an object`);
}

/** @throws ToolUsageError naming the option when it is there and no function */
export function refuseNoFunction(owner: string, option: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw new ToolUsageError(`${owner}: ${option} must be a function`);
}

/** @throws ToolUsageError when it is there and no AbortSignal */
export function refuseNoSignal(owner: string, value: unknown): void {
  if (value === undefined || value instanceof AbortSignal) return;
  throw new ToolUsageError(`${owner}: signal must be an AbortSignal`);
}

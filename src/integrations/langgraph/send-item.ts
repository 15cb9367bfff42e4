// Items on their way through `Send`. LangGraph turns any nested plain object with a string `node` and `args` into a `Send`;
// such items travel as JSON text.

import { ToolUsageError } from "../../index.js";
import { exactJson } from "../../spi.js";

const WRAPPED = "aa_item";
const MAX_DEPTH = 250;

/** The item as it may travel. @throws ToolUsageError when it must travel as text and is not JSON */
export function wrapItem(item: unknown): unknown {
  return holdsSendLike(item) || wrappedText(item) !== undefined ? { [WRAPPED]: textOf(item) } : item;
}

/** The item as it was. */
export function unwrapItem(item: unknown): unknown {
  const text = wrappedText(item);
  if (text === undefined) return item;
  try {
    return JSON.parse(text);
  } catch {
    // A Send of somebody else's; the parser's error would quote it.
    return item;
  }
}

/** The text of what looks like a wrapped item; a user's item may look like one, so it is wrapped, too. */
function wrappedText(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null || !Object.hasOwn(item, WRAPPED)) return undefined;
  const text: unknown = Object.getOwnPropertyDescriptor(item, WRAPPED)?.value;
  return typeof text === "string" && Object.keys(item).length === 1 ? text : undefined;
}

function textOf(item: unknown): string {
  try {
    return exactJson(item);
  } catch (cause) {
    throw new ToolUsageError("fanOut: an item that looks like a Send inside must be JSON to travel", { cause });
  }
}

/** What is nested deeper than JSON may be is treated like one: it travels as text, or is refused. */
function holdsSendLike(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth > MAX_DEPTH || (!Array.isArray(value) && looksLikeSend(value))) return true;
  return Object.values(value).some((inner) => holdsSendLike(inner, depth + 1));
}

function looksLikeSend(value: object): boolean {
  return "node" in value && typeof value.node === "string" && "args" in value;
}

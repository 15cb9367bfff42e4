// Cuts what tools returned long ago. The call and its result stay; the result says how much is missing.

import type { MediaPart, NeutralContent, NeutralResultMessage, TextPart } from "./message.js";
import type { Unit } from "./units.js";

/** Which results are cut, and to what. */
export interface ToolResultRule {
  /** Characters that are left of a result. */
  readonly maxChars: number;
  /** So many of the newest results stay whole, and with each of them the other results of its message. */
  readonly keepLast: number;
}

/** The same units, with older results cut. */
export function shortenResults(units: readonly Unit[], { maxChars, keepLast }: ToolResultRule): Unit[] {
  let newer = 0;
  const cut = units.toReversed().map((unit): Unit => {
    if (unit.kind !== "exchange") return unit;
    const whole = newer < keepLast;
    newer += unit.results.length;
    return whole ? unit : { ...unit, results: unit.results.map((result) => shortened(result, maxChars)) };
  });
  return cut.toReversed();
}

/** The message itself when it is short enough. */
function shortened(result: NeutralResultMessage, maxChars: number): NeutralResultMessage {
  const content = shortContent(result.content, maxChars);
  return content === result.content ? result : { ...result, content };
}

function shortContent(content: NeutralContent, maxChars: number): NeutralContent {
  if (typeof content === "string") return cutText(content, maxChars);
  let left = maxChars;
  const parts = content.map((part): TextPart | MediaPart => {
    if (part.kind === "media") return { kind: "text", text: `[${part.type} left out]` };
    const text = cutText(part.text, left);
    left = Math.max(0, left - part.text.length);
    return text === part.text ? part : { kind: "text", text };
  });
  return parts.every((part, index) => part === content[index]) ? content : parts;
}

/** At most that many characters of the beginning, and a line that says so. Never between the halves of a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = headOf(text, maxChars);
  return `${kept}\n[shortened: ${text.length - kept.length} of ${text.length} characters left out]`;
}

/** At most that many characters of the beginning, none of them half a pair. */
export function headOf(text: string, maxChars: number): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
  return text.slice(0, end);
}

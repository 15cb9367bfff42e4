// Texts in columns. A database cannot hold every text that JavaScript can: PostgreSQL has no NUL, UTF-8 has no half surrogate
// pairs, an index has no room for long keys. Owns how such texts are written so that they come back, or are told apart.

import { digest, isWellFormed } from "../../spi.js";

/** Marks a text that is not written as it is. */
const MARK = "\u0001";
const ESCAPED = `${MARK}json:`;
const HASHED = `${MARK}sha256:`;
/** Far below what an index of PostgreSQL takes (2704 bytes), at three bytes a unit. */
const MAX_KEY = 512;

/** A text as it goes into a column; `fromColumn` gives it back unchanged. */
export function toColumn(text: string): string {
  return isUnfit(text) ? ESCAPED + JSON.stringify(text) : text;
}

export function fromColumn(column: string): string {
  if (!column.startsWith(ESCAPED)) return column;
  const text: unknown = JSON.parse(column.slice(ESCAPED.length));
  return String(text);
}

/** A text to look up by: readable where it can be, never the same for two texts. */
export function keyOf(text: string): string {
  if (text.length <= MAX_KEY && !isUnfit(text)) return text;
  // The escaped form is JSON, which a digest can take, and no two texts share one.
  return HASHED + digest("agent-adapter/row/v1", ["key", JSON.stringify(text)]);
}

/** What JSON holds of a value. `JSON.stringify` writes NUL and half surrogate pairs as escapes, so that a column can take it. */
export function jsonColumn(value: unknown): string {
  return JSON.stringify(value);
}

function isUnfit(text: string): boolean {
  return text.includes("\0") || text.includes(MARK) || !isWellFormed(text);
}

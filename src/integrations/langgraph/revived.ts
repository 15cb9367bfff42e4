// What LangGraph's serializer does not give back as it was: it reads `{ lc: 1 | 2 }` at any depth as an object of its own. Shown in
// an interrupt, sent as an answer or written to a channel, such a value would be something else, or fail, whenever it is read.

import type { JsonValue } from "../../spi.js";

export function isRevived(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  const lc: unknown = Object.getOwnPropertyDescriptor(value, "lc")?.value;
  return lc === 1 || lc === 2 || Object.values(value).some(isRevived);
}

// Which specs came from LangChain tools that end the agent's loop. LangChain's own notion: a spec has no place for it.

import type { AnyToolSpec } from "../../index.js";

const DIRECT = new WeakSet<AnyToolSpec>();

export function markReturnDirect(spec: AnyToolSpec): void {
  DIRECT.add(spec);
}

export function isReturnDirect(spec: AnyToolSpec): boolean {
  return DIRECT.has(spec);
}

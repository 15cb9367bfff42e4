// Names of nodes and state fields. They become names in LangGraph, in sealed state and in drawings, so they are plain.

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_SHOWN = 80;

/** Why this cannot be a name; `undefined` when it can. */
export function nameFault(name: unknown): string | undefined {
  if (typeof name !== "string" || !NAME.test(name))
    return `must be 1 to 64 characters of A-Z a-z 0-9 _ -, not ${shown(name)}`;
  if (name in Object.prototype) return `"${name}" is a name on Object.prototype`;
  if (name.startsWith("__") || name.startsWith("aa_")) return `"${name}" starts with __ or aa_, which are reserved`;
  return undefined;
}

/** What somebody gave for a name, for a message: quoted, cut, and on one line whatever it holds. */
export function shown(name: unknown): string {
  return typeof name === "string" ? JSON.stringify(name.slice(0, MAX_SHOWN)) : "something that is not text";
}

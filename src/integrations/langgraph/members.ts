// Looking into what LangGraph hands over without knowing its class.

/** Own and inherited members of an object by name; of anything else none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  // Class instances (graphs, node specs) keep some of theirs on the prototype, so this is no copy.
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

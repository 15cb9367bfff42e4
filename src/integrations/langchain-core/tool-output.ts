// A result with an artifact: what the model reads, and what only the program gets. Plain JSON, so that it can be journaled
// and cached like any result.

const MARK = "agent_adapter.output";

/** What a tool returns to give its ToolMessage an artifact. */
export interface ToolOutput {
  /** Tells it from a result of that shape. */
  readonly type: typeof MARK;
  /** A string, content blocks, or JSON. */
  readonly content: unknown;
  /** JSON: it is kept and given again like any result. */
  readonly artifact: unknown;
}

/**
 * A result whose artifact goes into the ToolMessage, not to the model.
 *
 * @example
 * const flights = defineTool({
 *   name: "flights",
 *   description: "Flights to a city.",
 *   inputSchema: z.object({ city: z.string() }),
 *   effects: "read",
 *   execute: ({ city }) => toolOutput(`2 flights to ${city}`, [{ id: "f1" }, { id: "f2" }]),
 * });
 */
export function toolOutput(content: unknown, artifact: unknown): ToolOutput {
  return { type: MARK, content, artifact };
}

/** A result, taken apart. */
export function readOutput(value: unknown): { readonly content: unknown; readonly artifact: unknown } {
  if (typeof value === "object" && value !== null && "type" in value && value.type === MARK) {
    const { content, artifact }: Readonly<Record<string, unknown>> = { ...value };
    return { content, artifact };
  }
  return { content: value, artifact: undefined };
}

// Properties proved: the taxonomy (names, who may read what), its brand across copies, and that hosts can write on errors.
import { describe, expect, test, vi } from "vitest";
import * as api from "../../src/index.js";
import { AgentAdapterError, isAgentAdapterError, ToolError, ToolFailed, ToolUsageError } from "../../src/index.js";

type ErrorClass = new (message: string, details?: object) => AgentAdapterError;

const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === "function" && value !== AgentAdapterError && value.prototype instanceof AgentAdapterError;
const CLASSES = Object.entries(api)
  .map(([name, value]: [string, unknown]) => ({ name, value }))
  .filter((entry): entry is { name: string; value: ErrorClass } => isErrorClass(entry.value))
  .map(({ name, value }) => [name, value] as const);
const VISIBLE = new Set(
  "ToolArgsInvalid ToolNotFound ToolError ApprovalDenied ApprovalExpired BudgetExceeded".split(" "),
);

describe("every error class", () => {
  test("all of them are found by this suite", () => {
    expect(CLASSES.length).toBeGreaterThanOrEqual(11);
  });

  test.each(CLASSES)("E2: %s is called so everywhere, and says whether the model may read it", (name, ErrorOf) => {
    const cause = new Error("inner");
    const error = new ErrorOf("what happened", { cause, tool: "pay", callId: "c1" });
    expect(error.kind).toBe(name);
    expect(error.name).toBe(name);
    expect(error.modelVisible).toBe(VISIBLE.has(name));
    expect(error).toBeInstanceOf(AgentAdapterError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ message: "what happened", cause, tool: "pay", callId: "c1" });
    expect(String(error)).toBe(`${name}: what happened`);
  });

  test.each(CLASSES)("E2: a host can write on a %s", (_name, ErrorOf) => {
    const error = new ErrorOf("what happened");
    expect(Object.isExtensible(error)).toBe(true);
    expect(Object.isFrozen(error)).toBe(false);
    Object.assign(error, { pregelTaskId: "t1" });
    expect(error).toHaveProperty("pregelTaskId", "t1");
  });

  test("E2: what was not given is absent, also the cause", () => {
    const error = new ToolFailed("what happened");
    expect(error.tool).toBeUndefined();
    expect(error.callId).toBeUndefined();
    expect("cause" in error).toBe(false);
  });
});

describe("isAgentAdapterError", () => {
  test("E2: knows the errors of a second copy of the package, by kind too", async () => {
    vi.resetModules();
    const copy = await import("../../src/errors.js");
    const theirs: unknown = new copy.ApprovalDenied("no");
    expect(theirs instanceof AgentAdapterError).toBe(false);
    expect(isAgentAdapterError(theirs)).toBe(true);
    expect(isAgentAdapterError(theirs, "ApprovalDenied")).toBe(true);
    expect(isAgentAdapterError(theirs, "ToolError")).toBe(false);
    expect(copy.isAgentAdapterError(new ToolError("x"), "ToolError")).toBe(true);
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["text", "ToolError"],
    ["another error", new Error("x")],
    ["a look-alike", { kind: "ToolError", modelVisible: true, message: "x", name: "ToolError" }],
    ["a copy made of JSON", JSON.parse(JSON.stringify(new ToolError("x")))],
    ["a structured clone", structuredClone(new ToolError("x"))],
  ])("E2: refuses %s", (_what, value) => {
    expect(isAgentAdapterError(value)).toBe(false);
  });

  test("E2: an error of a subclass of the user's is still ours", () => {
    class Busy extends ToolError {}
    const error = new Busy("later");
    expect(isAgentAdapterError(error, "ToolError")).toBe(true);
    expect(isAgentAdapterError(new ToolUsageError("x"), "ToolError")).toBe(false);
  });
});

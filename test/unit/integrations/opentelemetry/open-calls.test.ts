// Properties proved: calls are found by their names and context, and nothing of a call that left is kept.
import { ROOT_CONTEXT } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { TracedCalls, type TracedCall } from "../../../../src/integrations/opentelemetry/open-calls.js";
import { startStopwatch } from "../../../../src/spi.js";

const names = { tool: "act", callId: "c", runId: "r", threadId: undefined };
const call = (over = false): TracedCall => ({
  names,
  context: { runId: "r", threadId: undefined, principal: undefined, signal: undefined, metadata: {} },
  parent: ROOT_CONTEXT,
  watch: startStopwatch(),
  span: undefined,
  waited: undefined,
  over,
});

test("O1: a call is found by its context among calls of the same names, else the first that is not over", () => {
  const calls = new TracedCalls();
  const [ended, first, second] = [call(true), call(), call()];
  for (const each of [ended, first, second]) calls.add(each);
  expect(calls.find(names, second.context)).toBe(second);
  // For whom a call acts may change on the way; its metadata does not.
  const actingForBo = { ...second.context, principal: "bo" };
  expect(calls.find(names, actingForBo)).toBe(second);
  expect(calls.find(names, { metadata: {} })).toBe(first);
  expect(calls.find({ ...names, threadId: "t" }, first.context)).toBeUndefined();
});

test("O1: a call that left is not found, and nothing is kept of it", () => {
  const calls = new TracedCalls();
  const only = call();
  calls.add(only);
  expect(calls.has(names)).toBe(true);
  calls.remove(only);
  expect(calls.has(names)).toBe(false);
  expect(calls.find(names, only.context)).toBeUndefined();
});

// Properties proved on the real LangGraph and the real OpenTelemetry SDK: across a pause a call has one span and one wait, from when
// it was asked to when the answer was used; siblings that finished have no second one; a race has one winner.
import { afterEach, beforeEach, expect, test } from "vitest";
import { deny, ToolError } from "agent-adapter";
import { OpenTelemetryHook } from "agent-adapter/opentelemetry";
import { ai, asking, aTaskPerCall, call, counted, failure, sleep, Stand } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { endMs, Sdk, startMs } from "../../../support/telemetry.js";

let sdk: Sdk;
beforeEach(() => {
  sdk = new Sdk().register();
});
afterEach(() => Sdk.unregister());

const names = () => sdk.spans().map(({ name }) => name);
const stand = (ran: string[]) =>
  new Stand({
    tools: () => [counted(ran, "look", { effects: "read" }), asking(ran, "send")],
    hooks: [new OpenTelemetryHook()],
  });

test("O1: a pause writes the finished sibling and nothing of the call that waits; the answer writes call and wait", async () => {
  const ran: string[] = [];
  const first = stand(ran);
  const before = Date.now();
  await sdk.inSpan("first turn", () => first.start(call("1", 1, "look"), call("2", 2)));
  expect(names()).toEqual(["execute_tool look", "first turn"]);
  expect(sdk.named("first turn")[0]?.events.map(({ name }) => name)).toEqual(["agent_adapter.approval.asked"]);
  const asked = Date.now();
  await sleep(40);
  // A program that was started again: hook, executor and graph are new ones, and nothing is remembered outside the checkpointer.
  forgetProcess();
  const second = first.rebuild({ hooks: [new OpenTelemetryHook()] });
  const pending = await second.only();
  sdk.forget();
  await sdk.inSpan("second turn", () => second.decide(pending));
  expect(ran).toEqual(["look 1", "send 2"]);
  expect(names()).toEqual(["wait_for_approval send", "execute_tool send", "second turn"]);
  const [wait, sent, turn] = sdk.spans();
  if (wait === undefined || sent === undefined || turn === undefined) throw new Error("spans are missing");
  expect(startMs(wait)).toBeGreaterThanOrEqual(before);
  expect(startMs(wait)).toBeLessThanOrEqual(asked);
  expect(endMs(wait) - startMs(wait)).toBeGreaterThanOrEqual(35);
  expect(endMs(sent) - startMs(sent)).toBeLessThan(endMs(wait) - startMs(wait));
  expect(startMs(sent)).toBeGreaterThanOrEqual(endMs(wait) - 2);
  for (const span of [wait, sent]) expect(span.parentSpanContext?.spanId).toBe(turn.spanContext().spanId);
  expect(sent.attributes).toMatchObject({
    "gen_ai.tool.call.id": "2",
    "gen_ai.conversation.id": first.thread,
  });
  expect(wait.attributes).toMatchObject({ "agent_adapter.approval.binding": pending.value.binding });
});

test("O1: a denial across a pause is a wait and a failed call", async () => {
  const ran: string[] = [];
  const graph = stand(ran);
  await graph.start(call("1", 1));
  await graph.decide(await graph.only(), deny({ by: "ana" }));
  expect(names()).toEqual(["wait_for_approval send", "execute_tool send"]);
  expect(sdk.spans().map(({ attributes }) => attributes["error.type"])).toEqual([undefined, "ApprovalDenied"]);
  expect(ran).toEqual([]);
});

test("O1: of ten resumes at once one has the spans of the call", async () => {
  const ran: string[] = [];
  const graph = stand(ran);
  await graph.start(call("1", 1));
  const pending = await graph.only();
  const answer = graph.sign(pending);
  await Promise.allSettled(Array.from({ length: 10 }, () => graph.resume({ [pending.id]: answer })));
  expect(ran).toEqual(["send 1"]);
  expect(names()).toEqual(["wait_for_approval send", "execute_tool send"]);
});

test("O1: of two tasks at the same time with one call id, each has its own arguments and its own end", async () => {
  const ran: string[] = [];
  const work = async ({ n }: { n: number }) => {
    await sleep(n === 1 ? 40 : 5);
    if (n === 2) throw new ToolError("no");
  };
  const graph = new Stand({
    tools: () => [counted(ran, "look", { effects: "read", body: work })],
    hooks: [new OpenTelemetryHook({ values: true })],
    graph: aTaskPerCall,
  });
  await sdk.inSpan("turn", () => graph.start(call("x", 1, "look"), call("x", 2, "look")));
  const ends = sdk
    .named("execute_tool look")
    .map(({ attributes }) => [attributes["gen_ai.tool.call.arguments"], attributes["error.type"]]);
  expect(ends).toEqual([
    ['{"n":2}', "ToolError"],
    ['{"n":1}', undefined],
  ]);
  const [second, first] = sdk.named("execute_tool look");
  if (first === undefined || second === undefined) throw new Error("spans are missing");
  expect(endMs(first) - startMs(first)).toBeGreaterThan(30);
});

test("O1: an abort of the graph's run is `cancelled`", async () => {
  const abort = new AbortController();
  const graph = new Stand({
    tools: () => [counted([], "look", { effects: "read", body: () => new Promise(() => undefined) })],
    hooks: [new OpenTelemetryHook()],
  });
  const running = graph.app.invoke(
    { messages: [ai([call("1", 1, "look")])] },
    { ...graph.config, signal: abort.signal },
  );
  setTimeout(() => abort.abort(), 20);
  await failure(running);
  await sleep(5);
  expect(sdk.spans().map(({ attributes }) => attributes["error.type"])).toEqual(["cancelled"]);
});

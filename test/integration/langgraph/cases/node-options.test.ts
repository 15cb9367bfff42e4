// Properties proved: nodes, reducers and `resume` refuse what they cannot do before anything runs.
import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, deny, defineTool, Executor, Registry } from "../../../../src/index.js";
import { Merge } from "../../../../src/flow/index.js";
import {
  encryptedSaver,
  fanOut,
  LangGraphApproval,
  oneUse,
  pendingApprovals,
  reducer,
  resume,
  toolNode,
  toolTask,
  type OneAnswer,
} from "../../../../src/integrations/langgraph/index.js";

const key = "16 bytes or more, please";
const usage = (message: RegExp) =>
  expect.objectContaining({ kind: "ToolUsageError", message: expect.stringMatching(message) });
// Callers without types may give anything.
const misspelt: Record<string, unknown> = { misspelt: 1 };

function payTool(ran: string[] = []) {
  return defineTool({
    name: "pay",
    description: "Pays.",
    inputSchema: z.object({ to: z.string() }),
    confirm: true,
    execute: ({ to }) => {
      ran.push(to);
      return `paid ${to}`;
    },
  });
}

describe("N1: an option that does not exist is refused by name, with its owner", () => {
  const pay = payTool();
  test.each([
    ["toolNode", () => toolNode(new Registry(), misspelt)],
    ["toolTask", () => toolTask(pay, { into: "paid", ...misspelt })],
    ["oneUse", () => oneUse(() => ({}), misspelt)],
    ["fanOut", () => fanOut("pay", () => [], misspelt)],
    ["reducer", () => reducer(Merge.sum, misspelt)],
    ["LangGraphApproval", () => new LangGraphApproval(misspelt)],
    ["encryptedSaver", () => encryptedSaver(new MemorySaver(), { key, ...misspelt })],
  ])("%s", (owner, make) => {
    expect(make).toThrow(usage(new RegExp(`^${owner}: there is no option "misspelt"$`)));
  });
});

test("R1: toolTask refuses an executor that has another tool of that name", () => {
  const executor = new Executor(new Registry([payTool()]));
  expect(() => toolTask(payTool(), { into: "paid", executor })).toThrow(usage(/not registered/));
});

test("R3: reducer refuses a rule that was not called, instead of keeping it as the value", () => {
  expect(() => reducer(Merge.append as never)).toThrow(usage(/Merge\.append\(\)/));
});

test("T2: toolNode refuses a concurrency that runs nothing", () => {
  expect(() => toolNode(new Registry(), { concurrency: 0 })).toThrow(usage(/concurrency/));
});

async function waitingApp() {
  const ran: string[] = [];
  const pay = payTool(ran);
  const executor = new Executor(new Registry([pay]), { approval: new LangGraphApproval({ key }) });
  const State = Annotation.Root({ paid: Annotation<string> });
  const node = oneUse(async () => ({ paid: await executor.run(pay, { to: "ana" }, { callId: "pay-1" }) }), {
    executor,
  });
  const graph = new StateGraph(State).addNode("pay", node).addEdge(START, "pay").addEdge("pay", END);
  const app = graph.compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "t1" } };
  await app.invoke({ paid: "" }, config);
  const [pending] = await pendingApprovals(app, config);
  if (pending === undefined) throw new Error("it did not pause");
  return { app, config, pending, ran };
}

test("R5: one request that is named twice in a map is refused, and nothing is sent", async () => {
  const { app, config, pending, ran } = await waitingApp();
  const answers: Record<string, OneAnswer> = { [pending.id]: deny(), [pending.binding]: approve() };
  await expect(resume(app, answers, config)).rejects.toThrow(usage(/answered twice/));
  await expect(resume(app, approve(), config, misspelt)).rejects.toThrow(usage(/^resume: .*misspelt/));
  expect([ran, (await pendingApprovals(app, config))[0]?.status]).toEqual([[], "waiting"]);
  await expect(resume(app, { [pending.binding]: approve() }, config)).resolves.toEqual({ paid: "paid ana" });
  expect(ran).toEqual(["ana"]);
});

// A hundred approvals in one node, as work that can be counted: how often bodies run, and how often and how much the checkpointer
// is asked. Time is the bench's business.

import { AIMessage } from "@langchain/core/messages";
import {
  Command,
  END,
  INTERRUPT,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from "@langchain/langgraph";
import { expect, test } from "vitest";
import { approve, defineTool, Executor, Registry } from "agent-adapter";
import { LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { KEY, type Pending } from "../../../support/langgraph.js";

const APPROVALS = 100;

/** The real one, which counts what it is asked to do. */
class CountingSaver extends MemorySaver {
  calls = 0;

  override getTuple(...args: Parameters<MemorySaver["getTuple"]>) {
    this.calls += 1;
    return super.getTuple(...args);
  }

  override put(...args: Parameters<MemorySaver["put"]>) {
    this.calls += 1;
    return super.put(...args);
  }

  override putWrites(...args: Parameters<MemorySaver["putWrites"]>) {
    this.calls += 1;
    return super.putWrites(...args);
  }
}

test("S7: of a hundred approvals in one node each body runs once, and the last resume asks the checkpointer no more than the first", async () => {
  const ran: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "a payment",
    inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    confirm: true,
    execute: (args) => ran.push(args),
  });
  const registry = new Registry([pay]);
  const port = new LangGraphApproval({ key: KEY });
  const saver = new CountingSaver();
  const app = new StateGraph(MessagesAnnotation)
    .addNode("tools", toolNode(registry, { executor: new Executor(registry, { approval: port }) }))
    .addEdge(START, "tools")
    .addEdge("tools", END)
    .compile({ checkpointer: saver as BaseCheckpointSaver });
  const tool_calls = Array.from({ length: APPROVALS }, (_, n) => ({ name: "pay", args: { n }, id: `c${n}` }));
  const config = { configurable: { thread_id: "t" } };
  const perResume: number[] = [];

  let out: object = await app.invoke({ messages: [new AIMessage({ content: "", tool_calls })] }, config);
  for (let waiting = pendingIn(out); waiting !== undefined; waiting = pendingIn(out)) {
    const before = saver.calls;
    out = await app.invoke(new Command({ resume: { [waiting.id]: port.resumeValue(waiting, approve()) } }), config);
    perResume.push(saver.calls - before);
  }

  expect(ran).toEqual(tool_calls.map(({ args }) => args));
  expect(perResume).toHaveLength(APPROVALS);
  // The last one ends the node: LangGraph saves the step.
  expect(new Set(perResume.slice(0, -1)).size).toBe(1);
  expect(perResume.at(-1)).toBeLessThanOrEqual((perResume[0] ?? 0) + 2);
});

function pendingIn(out: object): Pending | undefined {
  const found: unknown = INTERRUPT in out ? out[INTERRUPT] : undefined;
  return Array.isArray(found) ? found[0] : undefined;
}

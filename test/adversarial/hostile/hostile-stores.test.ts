// Stores that throw at once, and records that are written on: an answer is neither lost nor used twice.
import { afterEach, describe, expect, test } from "vitest";
import { MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import {
  approve,
  DeferredApproval,
  defineTool,
  Executor,
  MemoryApprovalStore,
  MemoryClaimStore,
  Registry,
  isAgentAdapterError,
} from "agent-adapter";
import { Stand } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";
import { CANARY } from "./parts.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";

describe("A5: stores and claims that misbehave", () => {
  test("a claims store that throws at once keeps the answer; the same answer is used once", async () => {
    const ran: string[] = [];
    let fail = true;
    const inner = new MemoryClaimStore();
    const claims = {
      claim: (...args: Parameters<MemoryClaimStore["claim"]>) => {
        if (fail) throw new Error(CANARY);
        return inner.claim(...args);
      },
    };
    const stand = new Stand({
      saver: new MemorySaver(),
      claims: claims as never,
      tools: () => [
        defineTool({
          name: "pay",
          description: "P.",
          inputSchema: z.object({}),
          confirm: true,
          execute: () => {
            ran.push("x");
            return 1;
          },
        }),
      ],
    });
    const paused = await stand.start({ name: "pay", args: {}, id: "a" });
    const [pending] = paused.interrupts;
    if (pending === undefined) throw new Error("no pause");
    await stand.decide(pending).catch((thrown: unknown) => thrown);
    expect(ran).toEqual([]);
    fail = false;
    const done = await stand.again();
    expect([ran, done.interrupts.length]).toEqual([["x"], 0]);
  });

  test("A8: a deferred store whose lists and records are written on", async () => {
    const ran: unknown[] = [];
    const inner = new MemoryApprovalStore();
    const registry = new Registry([
      defineTool({
        name: "pay",
        description: "P.",
        inputSchema: z.object({ to: z.string() }),
        confirm: true,
        execute: (args) => {
          ran.push(args);
          return 1;
        },
      }),
    ]);
    const executor = new Executor(registry, {
      secret: SECRET,
      approval: new DeferredApproval(inner, { requestTtlMs: 60_000 }),
    });
    const call = () =>
      executor
        .run("pay", { to: "ana" }, { context: executor.context({ runId: "r" }), callId: "c" })
        .catch((error: unknown) => error);
    expect(isAgentAdapterError(await call(), "ApprovalPending")).toBe(true);
    const [record] = await inner.list();
    if (record === undefined) throw new Error("no record");
    try {
      Object.assign(record.request.arguments, { to: "mallory" });
    } catch {
      /* frozen */
    }
    try {
      Object.assign(record, { status: "approved" });
    } catch {
      /* frozen */
    }
    expect(isAgentAdapterError(await call(), "ApprovalPending")).toBe(true);
    await inner.decide(record.id, approve());
    forgetProcess();
    expect(await call()).toBe(1);
    expect(ran).toEqual([{ to: "ana" }]);
  });
});

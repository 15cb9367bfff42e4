// Two tenants in one process who happen to choose the same names: nothing of one reaches the other, whether they are told
// apart by their secrets or by their threads.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, CallbackApproval, Executor, MemoryCache, Registry, type ExecutorOptions } from "agent-adapter";
import { Flow, runFlow } from "agent-adapter/flow";
import { exportTool } from "agent-adapter/langchain";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

const ANA = "the secret of tenant ana, 32 bytes";
const BEN = "the secret of tenant ben, 32 bytes";

interface Tenant {
  readonly executor: Executor;
  /** Every run of the tool. */
  readonly ran: readonly string[];
}

/** Tenants whose `read` tool gives their own name. */
function tenantsOf(ran: string[], tool: { readonly confirm?: boolean; readonly oncePerRun?: boolean } = {}) {
  return (name: string, options: ExecutorOptions = {}): Tenant => {
    const registry = new Registry();
    registry.tool({
      ...tool,
      name: "read",
      description: "Reads a record.",
      inputSchema: z.object({}),
      execute: () => {
        ran.push(name);
        return `record of ${name}`;
      },
    });
    return { executor: new Executor(registry, options), ran };
  };
}

const flow = new Flow("f", { state: z.object({ r: z.string().default("") }) })
  .node("n", async (_state, ctx) => ({ r: String(await ctx.run("read", {})) }))
  .end("n");

describe("the first result of a tool that runs once per run", () => {
  it("E7/process: of a compiled flow stays with those who have the secret, whatever the thread is called", async () => {
    const ran: string[] = [];
    const tenant = tenantsOf(ran, { confirm: true, oncePerRun: true });
    const app = (name: string, secret: string, checkpointer: MemorySaver) => {
      const { executor } = tenant(name, { secret, approval: new LangGraphApproval() });
      return compileFlow(flow, { executor }).compile({ checkpointer });
    };
    const thread = { configurable: { thread_id: "1" } };
    const saver = new MemorySaver();
    await runCompiled(app("ana", ANA, saver), {}, thread);
    // Built anew for the answer, as web applications do.
    expect(await runCompiled(app("ana", ANA, saver), approve(), thread)).toMatchObject({
      state: { r: "record of ana" },
    });

    const ben = app("ben", BEN, new MemorySaver());
    expect(await runCompiled(ben, {}, thread)).toMatchObject({ status: "paused" });
    expect(await runCompiled(ben, approve(), thread)).toMatchObject({ state: { r: "record of ben" } });
    expect(ran).toEqual(["ana", "ben"]);
  });

  const inRun = ({ executor }: Tenant) =>
    executor.run("read", {}, { context: executor.context({ runId: "turn-1", threadId: "1" }) });

  it("E7/process: is shared by executors of one secret, not by those of another or of none", async () => {
    const ran: string[] = [];
    const tenant = tenantsOf(ran, { oncePerRun: true });
    expect(await inRun(tenant("ana", { secret: ANA }))).toBe("record of ana");
    expect(await inRun(tenant("ana's next", { secret: ANA }))).toBe("record of ana");
    expect(await inRun(tenant("ben", { secret: BEN }))).toBe("record of ben");
    expect(await inRun(tenant("none"))).toBe("record of none");
    expect(await inRun(tenant("another"))).toBe("record of another");
    expect(ran).toEqual(["ana", "ben", "none", "another"]);
  });

  it("E7/process: is carried by a cache to those who have the secret, also as an older one", async () => {
    const ran: string[] = [];
    const tenant = tenantsOf(ran, { oncePerRun: true });
    const cache = new MemoryCache();
    const elsewhere = (name: string, secret: ExecutorOptions["secret"] = ANA) => {
      forgetProcess();
      return inRun(tenant(name, { secret, cache }));
    };
    expect(await elsewhere("ana")).toBe("record of ana");
    expect(await elsewhere("ana's next")).toBe("record of ana");
    expect(await elsewhere("ana's rotated", ["a new secret of ana, 32 bytes long", ANA])).toBe("record of ana");
    expect(await elsewhere("ben", BEN)).toBe("record of ben");
    expect(ran).toEqual(["ana", "ben"]);
  });

  it("A3: the key in the cache is no digest that anybody without the secret can compute", async () => {
    const keys: string[] = [];
    const cache = { get: () => Promise.resolve(undefined), set: async (key: string) => void keys.push(key) };
    for (const secret of [ANA, ANA, BEN]) {
      forgetProcess();
      await inRun(tenantsOf([], { oncePerRun: true })("x", { secret, cache }));
    }
    expect(keys[0]).toMatch(/^[\w-]{43}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});

describe("a visit of a local flow", () => {
  it("J2: is remembered for executors of one secret, and no other tenant's rules are skipped by it", async () => {
    const ran: string[] = [];
    const tenant = tenantsOf(ran);
    const run = ({ executor }: Tenant) => runFlow(flow, {}, { executor, runId: "order-1" });
    expect(await run(tenant("ana", { secret: ANA }))).toMatchObject({ state: { r: "record of ana" } });
    expect(await run(tenant("ana's next", { secret: ANA }))).toMatchObject({ state: { r: "record of ana" } });
    expect(await run(tenant("ben", { secret: BEN, policy: { read: true } }))).toMatchObject({ status: "paused" });
    expect(await run(tenant("none", { policy: { read: true } }))).toMatchObject({ status: "paused" });
    expect(ran).toEqual(["ana"]);
  });
});

describe("a run of a plain program", () => {
  it("E7/process, A2: of one name in two threads is two runs, each with results and approvals of its own", async () => {
    const asked: unknown[] = [];
    const ran: (string | undefined)[] = [];
    const registry = new Registry();
    const read = registry.tool({
      name: "read",
      description: "Reads a record.",
      inputSchema: z.object({}),
      confirm: true,
      execute: (_args, { threadId, idempotencyKey }) => {
        ran.push(idempotencyKey);
        return `record of ${threadId}`;
      },
    });
    const approval = new CallbackApproval((request) => {
      asked.push(request.request.taskRun);
      return approve();
    });
    const executor = new Executor(registry, { approval });
    const exported = exportTool(read, executor);
    const said = async (thread_id: string) => {
      const call = { type: "tool_call" as const, id: "call_0", name: "read", args: {} };
      const message: unknown = await exported.invoke(call, { configurable: { thread_id, run_id: "turn-1" } });
      return message;
    };
    expect(await said("ana")).toMatchObject({ content: "record of ana" });
    expect(await said("ben")).toMatchObject({ content: "record of ben" });
    expect(await said("ben")).toMatchObject({ content: "record of ben" });
    await executor.run(read, {}, { context: executor.context({ runId: "turn-1" }) });
    expect(asked).toEqual([["ana", "turn-1"], ["ben", "turn-1"], ["turn-1"]]);
    expect(new Set(ran).size).toBe(3);
  });
});

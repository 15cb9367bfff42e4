// The same walk where answers wait in a real SQLite file, where bodies do listen, and through flows.
import { afterEach, describe, expect, it } from "vitest";
import { MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import { approve, CallbackApproval, DeferredApproval, Executor, isAgentAdapterError, Registry } from "agent-adapter";
import { checkpointOf, Flow, resumeFlow, runFlow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { openSqlite } from "agent-adapter/sqlite";
import { forgetProcess } from "../../support/process.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";
async function microtasks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await Promise.resolve();
}
const quiet = () => new Promise((resolve) => setTimeout(resolve, 2));

describe("A5, A8, E6: an approved call out of a SQLite store, aborted after n turns", () => {
  it.each([false, true])("forgets its process: %s", async (forgets) => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 80; turn += 1) {
      const stores = await openSqlite(":memory:");
      const ran: string[] = [];
      const registry = new Registry();
      registry.tool({
        name: "pay",
        description: "P.",
        inputSchema: z.object({}),
        confirm: true,
        cost: 1,
        execute: async () => {
          ran.push("x");
          await microtasks(4);
          return { ok: 1 };
        },
      });
      const build = () =>
        new Executor(registry, {
          secret: SECRET,
          ledger: stores.ledger,
          claims: stores.claims,
          approval: new DeferredApproval(stores.approvals, { unknownAfterMs: 1 }),
        });
      // A plain program remembers its runs by executor: one that is built anew knows nothing, as a new process.
      let kept = build();
      const make = () => (forgets ? (kept = build()) : kept);
      const call = (executor: Executor, signal?: AbortSignal) =>
        executor
          .run(
            "pay",
            {},
            { callId: "c", context: executor.context({ runId: "r", ...(signal === undefined ? {} : { signal }) }) },
          )
          .catch((error: unknown) => error);
      await call(make());
      let approvals = 0;
      const decideAll = async () => {
        for (const record of await stores.approvals.list({ status: "pending" })) {
          approvals += 1;
          await stores.approvals.decide(record.id, approve());
        }
      };
      await decideAll();
      const stop = new AbortController();
      const first = call(make(), stop.signal);
      await microtasks(turn);
      stop.abort(new Error("stop"));
      await first;
      if (forgets) {
        await quiet();
        forgetProcess();
      }
      let got: unknown;
      for (let tries = 0; tries < 4; tries += 1) {
        got = await call(make());
        if (isAgentAdapterError(got)) {
          await quiet();
          await decideAll();
        } else break;
      }
      if (ran.length > approvals) bad.push(`${turn}: ran ${ran.length} times under ${approvals} approvals`);
      if (!forgets && (ran.length !== 1 || JSON.stringify(got) !== '{"ok":1}'))
        bad.push(`${turn}: ran ${ran.length}, got ${String(got)}`);
      const entries = await stores.ledger.entries();
      if (entries.length !== 1) bad.push(`${turn}: ${entries.length} entries`);
      await stores.close();
      forgetProcess();
    }
    expect(bad).toEqual([]);
  });
});

describe("A5: a body that listens: every run had an answer of its own", () => {
  it("with a callback", async () => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 60; turn += 1) {
      let [started, answers] = [0, 0];
      const registry = new Registry();
      registry.tool({
        name: "pay",
        description: "P.",
        inputSchema: z.object({}),
        confirm: true,
        execute: async (_args, ctx) => {
          started += 1;
          for (let n = 0; n < 6; n += 1) {
            await Promise.resolve();
            ctx.signal.throwIfAborted();
          }
          return 1;
        },
      });
      const executor = new Executor(registry, {
        secret: SECRET,
        approval: new CallbackApproval(() => {
          answers += 1;
          return approve();
        }),
      });
      const stop = new AbortController();
      const first = executor
        .run("pay", {}, { callId: "c", context: executor.context({ runId: "r", signal: stop.signal }) })
        .catch((error: unknown) => error);
      await microtasks(turn);
      stop.abort(new Error("stop"));
      await first;
      const got: unknown = await executor
        .run("pay", {}, { callId: "c", context: executor.context({ runId: "r" }) })
        .catch((error: unknown) => error);
      await quiet();
      if (started > answers) bad.push(`${turn}: started ${started} under ${answers}`);
      if (got !== 1) bad.push(`${turn}: got ${String(got)}`);
      forgetProcess();
    }
    expect(bad).toEqual([]);
  });
});

describe("F3, F7, C4: a flow aborted after n turns goes on where it was", () => {
  const make = () => {
    const ran: string[] = [];
    const registry = new Registry();
    const body = (name: string) => async () => {
      ran.push(name);
      await microtasks(3);
      return 1;
    };
    registry.tool({
      name: "plain",
      description: "P.",
      inputSchema: z.object({ k: z.string() }),
      execute: ({ k }) => body(`plain-${k}`)(),
    });
    registry.tool({ name: "pay", description: "P.", inputSchema: z.object({}), confirm: true, execute: body("pay") });
    const flow = new Flow("f", { state: z.object({ n: z.number().default(0) }) })
      .node("a", async (_s, ctx) => {
        await ctx.run("plain", { k: "a" });
        return {};
      })
      .node("b", async (_s, ctx) => {
        await ctx.run("plain", { k: "b" });
        await ctx.run("pay", {});
        await ctx.run("plain", { k: "c" });
        return { n: 1 };
      })
      .node(
        "c",
        async (_s, ctx) => {
          await ctx.run("plain", { k: "d" });
          return {};
        },
        { pause: (state) => ({ n: state.n }) },
      )
      .edge("a", "b")
      .edge("b", "c")
      .end("c");
    return { ran, flow, executor: new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() }) };
  };
  const want = "pay,plain-a,plain-b,plain-c,plain-d";

  it("local", async () => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 150; turn += 2) {
      for (const phase of [0, 1, 2]) {
        const { ran, flow, executor } = make();
        const stop = new AbortController();
        let checkpoint: string | undefined;
        let status = "";
        const steps = [
          (signal?: AbortSignal) =>
            runFlow(flow, {}, { executor, runId: "r", ...(signal === undefined ? {} : { signal }) }),
          ...[1, 2].map(
            () => (signal?: AbortSignal) =>
              resumeFlow(flow, checkpoint ?? "", approve(), { executor, ...(signal === undefined ? {} : { signal }) }),
          ),
        ];
        for (const [index, step] of steps.entries()) {
          const run = step(index === phase ? stop.signal : undefined);
          if (index === phase) {
            void microtasks(turn).then(() => stop.abort(new Error("stop")));
          }
          let result = await run.catch((error: unknown) => error);
          for (let tries = 0; tries < 3 && result instanceof Error; tries += 1) {
            await quiet();
            checkpoint = checkpointOf(result) ?? checkpoint;
            const from = checkpoint;
            result =
              from === undefined
                ? await runFlow(flow, {}, { executor, runId: "r" }).catch((error: unknown) => error)
                : await resumeFlow(flow, from, null, { executor }).catch((error: unknown) => error);
          }
          if (result instanceof Error) {
            bad.push(`${phase}/${turn}: ${String(result)}`);
            break;
          }
          const at = result as Awaited<ReturnType<typeof runFlow>>;
          status = at.status;
          if (at.status === "paused") checkpoint = at.checkpoint;
        }
        for (let tries = 0; tries < 2 && status === "paused"; tries += 1) {
          const more = await resumeFlow(flow, checkpoint ?? "", approve(), { executor }).catch(
            (error: unknown) => error,
          );
          if (more instanceof Error) {
            bad.push(`${phase}/${turn}: more ${String(more)}`);
            break;
          }
          const at = more as Awaited<ReturnType<typeof runFlow>>;
          status = at.status;
          if (at.status === "paused") checkpoint = at.checkpoint;
        }
        if (status !== "done" || ran.toSorted().join() !== want) bad.push(`${phase}/${turn}: ${status} ${ran.join()}`);
        forgetProcess();
      }
    }
    expect(bad).toEqual([]);
  });

  it("compiled", async () => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 400; turn += 8) {
      for (const phase of [0, 1, 2]) {
        const { ran, flow, executor } = make();
        const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
        const T = { configurable: { thread_id: "t" } };
        const stop = new AbortController();
        let status = "";
        for (const index of [0, 1, 2, 3, 4]) {
          const signal = index === phase ? { signal: stop.signal } : {};
          const run = runCompiled(app, index === 0 ? {} : approve(), { ...T, ...signal } as never);
          if (index === phase) void microtasks(turn).then(() => stop.abort(new Error("stop")));
          let result: unknown = await run.catch((error: unknown) => error);
          for (let tries = 0; tries < 4 && result instanceof Error; tries += 1) {
            await quiet();
            result = await runCompiled(app, null, T).catch((error: unknown) => error);
            if (result instanceof Error && /nothing has run/.test(result.message))
              result = await runCompiled(app, {}, T).catch((error: unknown) => error);
          }
          if (result instanceof Error) {
            bad.push(`${phase}/${turn}: ${String(result)}`);
            break;
          }
          status = (result as { status: string }).status;
          if (status === "done") break;
        }
        if (status !== "done" || ran.toSorted().join() !== want) bad.push(`${phase}/${turn}: ${status} ${ran.join()}`);
        forgetProcess();
      }
    }
    expect(bad).toEqual([]);
  });
});

// An abort at every point of a resume, of LangGraph and of a deferred approval in SQLite: what was approved runs once, and the thread
// goes on.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, DeferredApproval, defineTool, Executor, isAgentAdapterError, Registry } from "agent-adapter";
import { resume } from "agent-adapter/langgraph";
import { openSqlite } from "agent-adapter/sqlite";
import { Stand } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";
import { ended, quiet, turns, walk } from "./turns.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";

describe("A5, A6, E6: a resume of a graph that is aborted after n turns", () => {
  const tools = (ran: string[]) => () => [
    defineTool({
      name: "pay",
      description: "Pays.",
      inputSchema: z.object({ n: z.number() }),
      confirm: true,
      execute: async ({ n }) => {
        ran.push(`pay${n}`);
        await turns(3);
        return n;
      },
    }),
    defineTool({
      name: "plain",
      description: "Does it.",
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        ran.push(`plain${n}`);
        await turns(3);
        return n;
      },
    }),
  ];

  /** Whoever comes next brings it to its end. */
  async function goOn({ app, executor, thread }: Stand): Promise<string> {
    const config = { configurable: { thread_id: thread } };
    let last = "";
    for (let tries = 0; tries < 4; tries += 1) {
      const state = await app.getState(config);
      if (state.next.length === 0) return "done";
      const isAsked = tries > 0 && state.tasks.some(({ interrupts }) => interrupts.length > 0);
      last = String(await ended(resume(app as never, isAsked ? approve() : null, config, { executor })));
    }
    const { next } = await app.getState(config);
    return next.length === 0 ? "done" : last;
  }

  it("the approved call runs once, the plain one too, and the thread goes on", async () => {
    const bad = await walk(260, 19, async (turn) => {
      const ran: string[] = [];
      const stand = new Stand({ tools: tools(ran), saver: new MemorySaver() });
      await stand.start({ name: "plain", args: { n: 1 }, id: "a" }, { name: "pay", args: { n: 2 }, id: "b" });
      const stop = new AbortController();
      const config = { configurable: { thread_id: stand.thread }, signal: stop.signal };
      const first = ended(resume(stand.app as never, approve(), config, { executor: stand.executor }));
      await turns(turn);
      stop.abort(new Error("stop"));
      await first;
      await quiet();
      const end = await goOn(stand);
      forgetProcess();
      const wrong: string[] = [];
      if (end !== "done") wrong.push(`does not go on: ${end}`);
      if (ran.toSorted().join() !== "pay2,plain1") wrong.push(`ran ${ran.join()}`);
      return wrong;
    });
    expect(bad).toEqual([]);
  });
});

async function deferred() {
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
      await turns(4);
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
  const call = (executor: Executor, signal?: AbortSignal) =>
    ended(
      executor.run(
        "pay",
        {},
        { callId: "c", context: executor.context({ runId: "r", ...(signal === undefined ? {} : { signal }) }) },
      ),
    );
  let approvals = 0;
  const decideAll = async () => {
    for (const record of await stores.approvals.list({ status: "pending" })) {
      approvals += 1;
      await stores.approvals.decide(record.id, approve());
    }
  };
  return { stores, ran, build, call, decideAll, approvals: () => approvals };
}

/** Longer than `unknownAfterMs`. */
const later = () => new Promise((resolve) => setTimeout(resolve, 2));

describe("A5, A8, E6: an approved call out of a SQLite store, aborted after n turns", () => {
  // A plain program remembers its runs by executor: one that is built anew knows nothing, as a new process.
  it.each([false, true])(
    "runs once under each approval, one entry; by a new executor each time: %s",
    async (forgets) => {
      const bad = await walk(80, 3, async (turn) => {
        const { stores, ran, build, call, decideAll, approvals } = await deferred();
        const kept = build();
        const executor = () => (forgets ? build() : kept);
        await call(executor());
        await decideAll();
        const stop = new AbortController();
        const first = call(executor(), stop.signal);
        await turns(turn);
        stop.abort(new Error("stop"));
        await first;
        await later();
        if (forgets) forgetProcess();
        let got = await call(executor());
        for (let tries = 0; tries < 3 && isAgentAdapterError(got); tries += 1) {
          await later();
          await decideAll();
          got = await call(executor());
        }
        const wrong: string[] = [];
        if (ran.length > approvals()) wrong.push(`ran ${ran.length} times under ${approvals()} approvals`);
        if (!forgets && `${ran.length} ${JSON.stringify(got)}` !== '1 {"ok":1}')
          wrong.push(`ran ${ran.length}, got ${String(got)}`);
        const entries = await stores.ledger.entries();
        if (entries.length !== 1) wrong.push(`${entries.length} entries`);
        await stores.close();
        forgetProcess();
        return wrong;
      });
      expect(bad).toEqual([]);
    },
  );
});

// Properties proved: the order of the stages. One test for each pair of neighbours in stages.ts that would behave otherwise
// if they were swapped and that no other test of the executor holds in place; each was seen to fail on the swap.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ApprovalAlreadyDecided, defineTool, MemoryLedger, type Hook } from "../../../src/index.js";
import { failure, gate, kindOf, no, pay, ScriptedPort, stand, turns, yes } from "./stand.js";

const to = { to: "ana" };

/** A tool that runs once per run, and how often it did. */
function onceTool(confirm: boolean | (() => boolean) = false) {
  const count = { runs: 0 };
  const tool = defineTool({
    name: "open",
    description: "d",
    inputSchema: z.object({ to: z.string() }),
    oncePerRun: true,
    confirm,
    execute: () => (count.runs += 1),
  });
  return { count, tool };
}

/** A read that may come from the cache, and how often it did not. */
function cachedTool() {
  const count = { runs: 0 };
  const tool = defineTool({
    name: "rate",
    description: "d",
    inputSchema: z.object({ to: z.string() }),
    effects: "read",
    cache: { ttlMs: 60_000, scope: "shared" },
    execute: () => (count.runs += 1),
  });
  return { count, tool };
}

describe("prepare", () => {
  test("E1: the ledger is opened before a call replays: one that never saw the call has an entry for it", async () => {
    const ledger = new MemoryLedger();
    const opened: string[] = [];
    const open = ledger.open.bind(ledger);
    ledger.open = (opening) => {
      opened.push(opening.callId);
      return open(opening);
    };
    const { executor, again } = stand([pay()], { ledger });
    await executor.run("pay", to, { context: again(), callId: "c" });
    await executor.run("pay", to, { context: again(), callId: "c" });
    expect(opened).toEqual(["c", "c"]);
  });

  test("E9/before-after: hooks replace arguments before the first result of a run is looked up", async () => {
    const { tool, count } = onceTool();
    const hook: Partial<Hook> = { beforeTool: () => ({ arguments: { to: "the one account" } }) };
    const { executor } = stand([tool], { hooks: [hook] });
    const context = executor.context();
    expect(await executor.run(tool, { to: "a" }, { context })).toBe(1);
    expect(await executor.run(tool, { to: "b" }, { context })).toBe(1);
    expect(count.runs).toBe(1);
  });

  test("E9/before-after, A8/ports: the first result of a run is looked up before the rule is asked", async () => {
    let rules = 0;
    const { tool } = onceTool(() => {
      rules += 1;
      return true;
    });
    const port = new ScriptedPort(yes());
    const { executor } = stand([tool], { approval: port });
    const context = executor.context();
    await executor.run(tool, to, { context });
    await executor.run(tool, to, { context });
    expect([rules, port.asked.length]).toEqual([1, 1]);
  });
});

describe("perform", () => {
  test("E1, E9/errors-approvals: what a hook holds is let go after the ledger has the end", async () => {
    const log: string[] = [];
    const ledger = new MemoryLedger();
    const close = ledger.close.bind(ledger);
    ledger.close = async (id, closing) => {
      await turns();
      log.push("closed");
      return close(id, closing);
    };
    const hook: Partial<Hook> = { beforeTool: () => ({ finally: () => void log.push("let go") }) };
    const { executor } = stand([pay()], { ledger, hooks: [hook] });
    await executor.run("pay", to);
    expect(log).toEqual(["closed", "let go"]);
  });

  test("E3, E9/before-after: an abort reaches the caller at once, also while an after-hook is at work", async () => {
    const stop = new AbortController();
    const [entered, hold] = [gate(), gate()];
    const hook: Partial<Hook> = {
      afterTool: () => {
        entered.open();
        return hold.wait;
      },
    };
    const { executor } = stand([pay()], { hooks: [hook] });
    const run = failure(executor.run("pay", to, { signal: stop.signal }));
    await entered.wait;
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await Promise.race([run, turns()])).toBe(reason);
    hold.open();
  });

  test("E9/errors-approvals: hooks that were opened hear that another run of the call is at work", async () => {
    const heard: unknown[] = [];
    const [held, entered, finish] = [gate(), gate(), gate()];
    let hooks = 0;
    const hook: Partial<Hook> = {
      async beforeTool() {
        hooks += 1;
        if (hooks === 2) await held.wait;
      },
      onError: (_call, error) => void heard.push(error),
    };
    const tool = pay({
      confirm: true,
      execute: () => {
        entered.open();
        return finish.wait;
      },
    });
    const { executor, again } = stand([tool], { approval: new ScriptedPort(yes()), hooks: [hook] });
    const first = executor.run(tool, to, { context: again() });
    const second = failure(executor.run(tool, to, { context: again() }));
    await entered.wait;
    held.open();
    await turns();
    finish.open();
    await first;
    expect(await second).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(heard).toEqual([await second]);
  });

  test("J2: a re-run of a call that runs once per run replays as that call", async () => {
    const { tool, count } = onceTool();
    const { executor, again } = stand([tool]);
    for (let i = 0; i < 2; i += 1) expect(await executor.run(tool, to, { context: again() })).toBe(1);
    expect(count.runs).toBe(1);
  });

  test("E8: of two equal calls of a tool that runs once per run, prepared together, one is asked about", async () => {
    const { tool, count } = onceTool(true);
    const port = new ScriptedPort(yes(), yes());
    const { executor } = stand([tool], { approval: port });
    const outcomes = await executor.runMany([
      { tool: "open", args: to },
      { tool: "open", args: to },
    ]);
    expect(outcomes).toMatchObject([{ value: 1 }, { value: 1 }]);
    expect([count.runs, port.asked.length]).toEqual([1, 1]);
  });

  test("A5/process: an answer that somebody else used is refused on every re-run, at once", async () => {
    const port = new ScriptedPort(yes(), yes());
    port.onConsume = () => Promise.reject(new ApprovalAlreadyDecided("used elsewhere"));
    const { executor, again } = stand([pay({ confirm: true })], { approval: port });
    const run = () => kindOf(executor.run("pay", to, { context: again() }));
    expect(await run()).toBe("ApprovalAlreadyDecided");
    expect(await run()).toBe("ApprovalAlreadyDecided");
  });

  test("A5/process, E7/process: a cached result never bypasses a human, nor is an answer left unused for it", async () => {
    const { tool, count } = cachedTool();
    let asks = false;
    const port = new ScriptedPort(yes(), no());
    const { executor } = stand([tool], { approval: port, policy: { rate: () => asks } });
    expect(await executor.run(tool, to)).toBe(1);
    asks = true;
    expect(await executor.run(tool, to)).toBe(1);
    expect(port.tokens).toHaveLength(1);
    expect(await kindOf(executor.run(tool, to))).toBe("ApprovalDenied");
    expect(port.tokens).toHaveLength(2);
    expect(count.runs).toBe(1);
  });

  test("E1/cost, E7/process: a cached result is no attempt", async () => {
    const { tool } = cachedTool();
    const { executor, entries } = stand([tool]);
    await executor.run(tool, to);
    await executor.run(tool, to);
    expect((await entries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["ok", 1],
      ["cached", 0],
    ]);
  });

  test("E4, E5: each attempt has its own deadline, all under one approval", async () => {
    let attempts = 0;
    const tool = defineTool({
      name: "slow",
      description: "d",
      inputSchema: z.object({ to: z.string() }),
      confirm: true,
      idempotent: true,
      timeoutMs: 20,
      retries: { maxAttempts: 3, initialDelayMs: 1 },
      execute: () => {
        attempts += 1;
        return attempts < 3 ? new Promise<string>(() => undefined) : "done";
      },
    });
    const port = new ScriptedPort(yes());
    const { executor, entry } = stand([tool], { approval: port });
    expect(await executor.run(tool, to)).toBe("done");
    expect(port.tokens).toHaveLength(1);
    expect(await entry()).toMatchObject({ status: "ok", attempts: 3 });
  });
});

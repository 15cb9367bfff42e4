// Properties proved: what the executor does with every word a port can say; an answer is used last, once, and kept by every
// failure before; nobody runs a call twice or on other arguments than were approved. The port is a script.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  ApprovalAlreadyDecided,
  defineTool,
  Executor,
  isAgentAdapterError,
  Registry,
  StoreUnavailable,
  ToolError,
} from "../../../src/index.js";
import { bindingOf } from "../../../src/approvals/request.js";
import { LangGraphApproval } from "../../../src/integrations/langgraph/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import {
  expired,
  failure,
  gate,
  kindOf,
  no,
  ourError,
  pay,
  pending,
  ScriptedPort,
  stale,
  stand,
  turns,
  yes,
} from "./stand.js";

const to = { to: "ana" };
const thrower = (thrown: unknown) => () => {
  throw thrown;
};

/** One gated tool that counts, on a scripted port. */
function gated(...steps: ConstructorParameters<typeof ScriptedPort>) {
  const port = new ScriptedPort(...steps);
  const count = { runs: 0, rules: 0 };
  const tool = pay({
    confirm: () => {
      count.rules += 1;
      return true;
    },
    execute: (args) => {
      count.runs += 1;
      return `paid ${args.to} ${args.amount}`;
    },
  });
  const setup = stand([tool], { approval: port });
  return {
    ...setup,
    port,
    count,
    run: (args: unknown = to) => setup.executor.run("pay", args, { context: setup.again() }),
  };
}

describe("the request", () => {
  test("A2: holds everything about the call, and its binding is over all of it", async () => {
    const clock = new ManualClock(5);
    const port = new ScriptedPort(yes());
    port.requestTtlMs = 10;
    const tool = pay({ confirm: true, effects: "destructive" });
    const { executor } = stand([tool], { approval: port, clock });
    const context = executor.context({ runId: "the request", threadId: "t", principal: "carl" });
    await executor.run(tool, to, { context, callId: "c" });
    const [shown] = port.asked;
    expect(shown?.request).toEqual({
      v: 1,
      kind: "tool",
      runId: "the request",
      threadId: "t",
      taskRun: ["t", "the request"],
      tool: "pay",
      description: "Pays.",
      effects: "destructive",
      definitionDigest: tool.definitionDigest,
      arguments: { to: "ana", amount: 1 },
      callId: "c",
      generation: 0,
      requestedBy: "carl",
      expiresAt: 15,
      supersedes: null,
      previousAttempt: null,
    });
    expect(shown && bindingOf(shown.request)).toBe(shown?.binding);
  });

  test("A2: keeps whom it was asked for", async () => {
    const { executor, port, runId } = gated(pending, stale, yes());
    for (const principal of ["ana", "mallory"]) {
      await executor.run("pay", to, { context: executor.context({ runId, principal }) }).catch(() => undefined);
    }
    expect(port.asked.map(({ request }) => request.requestedBy)).toEqual(["ana", "ana", "ana"]);
  });

  test("B19, G3: rule, reviewer and body see one parsed value, made once", async () => {
    let made = 0;
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "delete",
      description: "d",
      inputSchema: z.object({
        dangerous: z.boolean().default(true),
        amount: z.coerce.number(),
        id: z.string().default(() => `id-${(made += 1)}`),
      }),
      confirm: (args) => {
        seen.push(args);
        return args.dangerous;
      },
      execute: (args) => void seen.push(args),
    });
    const port = new ScriptedPort(pending, yes());
    const { executor, again } = stand([tool], { approval: port });
    await failure(executor.run("delete", { amount: "7" }, { context: again() }));
    await executor.run("delete", { amount: "7" }, { context: again() });
    const [id] = [port.asked[0]?.request.arguments["id"]];
    expect(seen).toEqual(Array.from({ length: 2 }, () => ({ dangerous: true, amount: 7, id })));
    expect(port.asked[1]).toEqual(port.asked[0]);
  });

  test("G5: a schema that would change what was approved is refused before anybody is asked", async () => {
    const port = new ScriptedPort(yes());
    const tool = defineTool({
      name: "pay",
      description: "d",
      inputSchema: z.object({ to: z.string().transform((name) => `${name}!`) }),
      confirm: true,
      execute: () => "done",
    });
    const { executor } = stand([tool], { approval: port });
    expect(await kindOf(executor.run(tool, to))).toBe("ToolUsageError");
    expect(port.asked).toEqual([]);
  });
});

describe("the rule", () => {
  test.each([
    ["false", () => false, 0],
    ["true", () => true, 1],
    ["a promise of false", async () => false, 0],
    ["nothing", () => undefined as never, 1],
    ["0", () => 0 as never, 1],
    ["a promise of nothing", async () => undefined as never, 1],
  ])("N1: that says %s opens the gate only when it is a plain false", async (_what, confirm, asked) => {
    const port = new ScriptedPort(yes());
    const { executor } = stand([pay({ confirm })], { approval: port });
    await executor.run("pay", to);
    expect(port.asked).toHaveLength(asked);
  });

  test("B18, B19: is awaited once per call: not again after a pause, and it cannot change its mind", async () => {
    let answer = true;
    let rules = 0;
    const tool = pay({
      confirm: async () => {
        rules += 1;
        await turns();
        return answer;
      },
    });
    const port = new ScriptedPort(pending, pending, no());
    const { executor, again } = stand([tool], { approval: port });
    await failure(executor.run(tool, to, { context: again() }));
    answer = false;
    expect(await kindOf(executor.run(tool, to, { context: again() }))).toBe("ApprovalPending");
    expect(await kindOf(executor.run(tool, to, { context: again() }))).toBe("ApprovalDenied");
    expect(rules).toBe(1);
  });

  test("N1: that throws refuses the call: nothing is asked, nothing runs", async () => {
    const port = new ScriptedPort(yes());
    const { executor } = stand([pay({ confirm: thrower(new Error("x")) })], { approval: port });
    await failure(executor.run("pay", to));
    expect(port.asked).toEqual([]);
  });
});

describe("a decision", () => {
  test("A5/process: to approve runs the call once; a re-run replays it without asking", async () => {
    const { run, port, count } = gated(yes(), yes());
    expect(await run()).toBe("paid ana 1");
    expect(await run()).toBe("paid ana 1");
    expect([count.runs, port.asked.length, port.tokens.length]).toEqual([1, 1, 1]);
  });

  test("A5/process: to deny runs nothing, now and later, whatever would be said then", async () => {
    const { run, port, count } = gated(no("too much"), yes(), yes());
    expect(await ourError(run())).toMatchObject({ kind: "ApprovalDenied", tool: "pay", modelVisible: true });
    const again = await ourError(run());
    expect(again).toMatchObject({ kind: "ApprovalDenied", message: "a reviewer denied this call: too much" });
    expect([count.runs, port.asked.length, port.tokens.length]).toEqual([0, 1, 1]);
  });

  test("A5/process: that is not there yet keeps the same request, until it is", async () => {
    const { run, port, count } = gated(pending, pending, yes());
    expect(await kindOf(run())).toBe("ApprovalPending");
    expect(await kindOf(run())).toBe("ApprovalPending");
    expect(await run()).toBe("paid ana 1");
    expect(new Set(port.asked.map(({ binding }) => binding)).size).toBe(1);
    expect(count).toEqual({ runs: 1, rules: 1 });
  });

  test("A4: that is no longer good is asked again at once, saying which request it replaces", async () => {
    const { run, port } = gated(stale, stale, yes());
    expect(await run()).toBe("paid ana 1");
    const [first, second, third] = port.asked;
    expect(first?.request.supersedes).toBeNull();
    expect(second?.request).toEqual({ ...first?.request, supersedes: first?.binding });
    expect(third?.request).toEqual({ ...first?.request, supersedes: second?.binding });
  });

  test("A4: that is no longer good after a pause replaces the request that was shown", async () => {
    const { run, port } = gated(pending, stale, pending, yes());
    expect(await kindOf(run())).toBe("ApprovalPending");
    expect(await kindOf(run())).toBe("ApprovalPending");
    expect(await run()).toBe("paid ana 1");
    expect(port.asked[2]?.request.supersedes).toBe(port.asked[0]?.binding);
    expect(port.asked[3]).toEqual(port.asked[2]);
  });

  test("A4: that came too late for its request is not a denial, and stays so", async () => {
    const { run, port, count } = gated(expired, yes());
    for (let i = 0; i < 2; i += 1)
      expect(await ourError(run())).toMatchObject({ kind: "ApprovalExpired", tool: "pay" });
    expect([count.runs, port.asked.length, port.tokens.length]).toEqual([0, 1, 0]);
  });

  test("A2: is asked for again when the tool has changed in between", async () => {
    const port = new ScriptedPort(pending, yes());
    const registries = ["1", "2"].map(
      (version) =>
        new Registry([
          defineTool({
            name: "pay",
            description: "d",
            inputSchema: z.object({ to: z.string() }),
            confirm: true,
            version,
            execute: () => version,
          }),
        ]),
    );
    const live = { current: registries[0] };
    const registry = registries[0];
    if (registry === undefined) throw new Error("no registry");
    registry.get = (name) =>
      live.current === registry ? Registry.prototype.get.call(registry, name) : live.current?.get(name);
    const executor = new Executor(registry, { approval: port });
    const run = () => executor.run("pay", to, { context: executor.context({ runId: "a changed tool" }) });
    expect(await kindOf(run())).toBe("ApprovalPending");
    live.current = registries[1];
    expect(await run()).toBe("2");
    const [first, second] = port.asked;
    expect(second?.request.supersedes).toBe(first?.binding);
    expect(second?.request.definitionDigest).not.toBe(first?.request.definitionDigest);
  });
});

describe("an edit", () => {
  test("A7: is parsed, and is what runs", async () => {
    const { run, count } = gated(yes({ to: "bob" }));
    expect(await run()).toBe("paid bob 1");
    expect(count.runs).toBe(1);
  });

  test.each([
    ["that does not fit", { to: 5 }],
    ["with an unsafe integer", { to: "bob", amount: 2 ** 60 }],
  ])("A7, B27: %s is refused before anything is used; a good one can follow", async (_what, edit) => {
    const port = new ScriptedPort(yes(edit), yes({ to: "bob" }));
    const tool = defineTool({
      name: "pay",
      description: "d",
      inputSchema: z.object({ to: z.string(), amount: z.int().default(1) }),
      confirm: true,
      execute: (args) => args.to,
    });
    const { executor, again } = stand([tool], { approval: port });
    expect(await kindOf(executor.run(tool, to, { context: again() }))).toBe("ToolArgsInvalid");
    expect(port.tokens).toEqual([]);
    expect(await executor.run(tool, to, { context: again() })).toBe("bob");
    expect(port.asked[1]?.binding).toBe(port.asked[0]?.binding);
  });

  test("A7, G5: that the schema changes again is refused", async () => {
    const tool = defineTool({
      name: "pay",
      description: "d",
      inputSchema: z.object({ to: z.string().transform((name) => (name === "ana" ? name : `${name}!`)) }),
      confirm: true,
      execute: (args) => args.to,
    });
    const { executor } = stand([tool], { approval: new ScriptedPort(yes({ to: "bob" })) });
    expect(await kindOf(executor.run(tool, to))).toBe("ToolArgsInvalid");
  });
});

describe("an answer is used last", () => {
  test("A5/process: after everything else; then the tool runs", async () => {
    const log: string[] = [];
    const port = new ScriptedPort((shown) => {
      log.push(`decide ${shown.request.generation}`);
      return yes({ to: "bob" });
    });
    port.onConsume = async () => void log.push("consume");
    const tool = pay({
      confirm: () => {
        log.push("rule");
        return true;
      },
      execute: () => void log.push("tool"),
    });
    const hook = { beforeTool: () => void log.push("before"), afterTool: () => void log.push("after") };
    const { executor } = stand([tool], { approval: port, hooks: [hook] });
    await executor.run(tool, to);
    expect(log).toEqual(["before", "rule", "decide 0", "consume", "tool", "after"]);
  });

  test("A5/process: when using it up fails it stays this process's, under the same token", async () => {
    const { run, port, count } = gated(yes(), yes(), yes());
    let outages = 2;
    port.onConsume = async () => {
      outages -= 1;
      if (outages >= 0) throw new StoreUnavailable("down");
    };
    expect(await kindOf(run())).toBe("StoreUnavailable");
    expect(await kindOf(run())).toBe("StoreUnavailable");
    expect(count.runs).toBe(0);
    expect(await run()).toBe("paid ana 1");
    expect(port.tokens).toHaveLength(3);
    expect(new Set(port.tokens).size).toBe(1);
    expect(count).toEqual({ runs: 1, rules: 1 });
  });

  test("A5/process: when somebody else used it the call is refused, now and on a re-run, and never runs", async () => {
    const { run, port, count } = gated(yes(), yes(), yes());
    port.onConsume = thrower(new ApprovalAlreadyDecided("used elsewhere"));
    expect(await kindOf(run())).toBe("ApprovalAlreadyDecided");
    port.onConsume = () => Promise.resolve();
    expect(await kindOf(run())).toBe("ApprovalAlreadyDecided");
    expect(count.runs).toBe(0);
    expect(port.tokens).toHaveLength(1);
  });

  test("A5/process: an abort before it leaves it unused", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const { executor, again, port, count } = gated(() => {
      stop.abort(reason);
      return yes();
    }, yes());
    expect(await failure(executor.run("pay", to, { context: again(), signal: stop.signal }))).toBe(reason);
    expect(port.tokens).toEqual([]);
    expect(await executor.run("pay", to, { context: again() })).toBe("paid ana 1");
    expect(count.runs).toBe(1);
  });

  test("A5/process: a port that throws leaves it unused", async () => {
    const { run, port } = gated(thrower(new StoreUnavailable("down")), yes());
    expect(await kindOf(run())).toBe("StoreUnavailable");
    expect(await run()).toBe("paid ana 1");
    expect(port.tokens).toHaveLength(1);
  });
});

describe("an approved call that failed", () => {
  test.each([
    ["by an error", () => new Error("x"), "ToolFailed"],
    ["by text", () => "x", "ToolFailed"],
  ])("A5/process: %s is not run again; the refusal says what it failed by", async (_what, make, kind) => {
    let runs = 0;
    const port = new ScriptedPort(yes(), yes());
    const tool = pay({
      confirm: true,
      execute: () => {
        runs += 1;
        throw make();
      },
    });
    const { executor, again } = stand([tool], { approval: port });
    expect(await kindOf(executor.run(tool, to, { context: again() }))).toBe(kind);
    const error = await ourError(executor.run(tool, to, { context: again() }));
    expect(error).toMatchObject({ kind: "ApprovalAlreadyDecided", cause: { name: kind } });
    expect([runs, port.asked.length]).toEqual([1, 1]);
  });

  test("A5/process: by an answer for the model gives the same answer again", async () => {
    const tool = pay({ confirm: true, execute: thrower(new ToolError("no such account")) });
    const { executor, again } = stand([tool], { approval: new ScriptedPort(yes(), yes()) });
    for (let i = 0; i < 2; i += 1) {
      const error = await ourError(executor.run(tool, to, { context: again() }));
      expect(error).toMatchObject({ kind: "ToolError", message: "no such account" });
    }
  });

  test("A5/process: by an abort has an unknown outcome: the next request says so, and is of the next generation", async () => {
    const stop = new AbortController();
    const clock = new ManualClock(77);
    const port = new ScriptedPort(yes(), yes());
    let runs = 0;
    const tool = pay({
      confirm: true,
      execute: () => {
        runs += 1;
        if (runs > 1) return "paid";
        stop.abort();
        throw stop.signal.reason;
      },
    });
    const { executor, again } = stand([tool], { approval: port, clock });
    await failure(executor.run(tool, to, { context: again(), signal: stop.signal }));
    clock.advance(10);
    expect(await executor.run(tool, to, { context: again() })).toBe("paid");
    expect(port.asked[1]?.request).toMatchObject({
      generation: 1,
      previousAttempt: { outcome: "unknown", claimedAt: 77 },
    });
    expect(new Set(port.tokens).size).toBe(2);
  });
});

describe("several runs of one call at once", () => {
  /** A gated tool whose body waits. */
  function slow(port: ScriptedPort) {
    const [entered, finish] = [gate(), gate<string>()];
    const count = { runs: 0 };
    const tool = pay({
      confirm: true,
      execute: () => {
        count.runs += 1;
        entered.open();
        return finish.wait;
      },
    });
    const setup = stand([tool], { approval: port });
    return { ...setup, entered, finish, count, run: () => setup.executor.run("pay", to, { context: setup.again() }) };
  }

  test("A5/process: of two that were decided together one runs; the other is refused once the first has settled", async () => {
    const both = gate();
    let asked = 0;
    const meet = async () => {
      asked += 1;
      if (asked === 2) both.open();
      await both.wait;
      return yes();
    };
    const { run, entered, finish, count } = slow(new ScriptedPort(meet, meet));
    const ends: string[] = [];
    const runs = [run(), run()].map((promise) =>
      promise.then(
        (value) => ends.push(String(value)),
        (error: unknown) => ends.push(isAgentAdapterError(error) ? error.kind : "?"),
      ),
    );
    await entered.wait;
    await turns();
    expect(ends).toEqual([]);
    finish.open("paid");
    await Promise.all(runs);
    expect(ends.toSorted()).toEqual(["ApprovalAlreadyDecided", "paid"]);
    expect(count.runs).toBe(1);
  });

  test("A5/process: the second is refused only when the first has settled, also while the first is still using its answer up", async () => {
    const both = gate();
    const used = gate();
    let asked = 0;
    const meet = async () => {
      asked += 1;
      if (asked === 2) both.open();
      await both.wait;
      return yes();
    };
    const port = new ScriptedPort(meet, meet);
    port.onConsume = () => used.wait;
    const { run, finish, count } = slow(port);
    let ended = 0;
    const runs = [run(), run()].map((promise) => promise.then(String, () => "refused").finally(() => (ended += 1)));
    await turns();
    expect(ended).toBe(0);
    used.open();
    await turns();
    expect(ended).toBe(0);
    finish.open("paid");
    expect((await Promise.all(runs)).toSorted()).toEqual(["paid", "refused"]);
    expect(count.runs).toBe(1);
  });

  test("A5/process: one that comes while the call is running is refused, and nobody is asked for it", async () => {
    const port = new ScriptedPort(yes(), yes());
    const { run, entered, finish, count } = slow(port);
    const first = run();
    await entered.wait;
    const second = failure(run());
    await turns();
    finish.open("paid");
    expect(await first).toBe("paid");
    expect(await second).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect([count.runs, port.asked.length]).toEqual([1, 1]);
  });

  test("A5/process: one that was held up by a hook until the first was denied is denied, too", async () => {
    const held = gate();
    let hooks = 0;
    const port = new ScriptedPort(no(), yes());
    const hook = {
      beforeTool: async () => {
        hooks += 1;
        if (hooks === 2) await held.wait;
      },
    };
    const { executor, again } = stand([pay({ confirm: true })], { approval: port, hooks: [hook] });
    const first = failure(executor.run("pay", to, { context: again() }));
    const second = failure(executor.run("pay", to, { context: again() }));
    expect(await first).toMatchObject({ kind: "ApprovalDenied" });
    held.open();
    expect(await second).toMatchObject({ kind: "ApprovalDenied" });
    expect(port.asked).toHaveLength(1);
  });

  test("A5/process: one that was held up runs on the arguments that were shown, not on its own", async () => {
    const held = gate();
    let [hooks, made] = [0, 0];
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "pay",
      description: "d",
      inputSchema: z.object({ to: z.string(), id: z.string().default(() => `id-${(made += 1)}`) }),
      confirm: true,
      execute: (args) => void seen.push(args),
    });
    const hook = {
      beforeTool: async () => {
        hooks += 1;
        if (hooks === 2) await held.wait;
      },
    };
    const port = new ScriptedPort(pending, yes());
    const { executor, again } = stand([tool], { approval: port, hooks: [hook] });
    const first = kindOf(executor.run("pay", to, { context: again() }));
    const second = executor.run("pay", to, { context: again() });
    expect(await first).toBe("ApprovalPending");
    held.open();
    await second;
    const used = port.asked.at(-1)?.request.arguments;
    expect(seen).toEqual([used]);
    expect(new Set(port.asked.map(({ binding }) => binding)).size).toBe(1);
  });

  test("A5/process: ten at once run it once", async () => {
    const port = new ScriptedPort(...Array.from({ length: 10 }, () => yes()));
    const { run, finish, count } = slow(port);
    finish.open("paid");
    const ends = await Promise.allSettled(Array.from({ length: 10 }, run));
    expect(ends.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(1);
    expect(count.runs).toBe(1);
    expect(port.tokens).toHaveLength(1);
  });

  test("A5/process: different calls do not hinder each other", async () => {
    const port = new ScriptedPort(yes(), yes());
    const { executor } = stand([pay({ confirm: true })], { approval: port });
    const context = executor.context();
    const results = await Promise.all([executor.run("pay", to, { context }), executor.run("pay", to, { context })]);
    expect(results).toEqual(["paid ana", "paid ana"]);
    expect(new Set(port.asked.map(({ binding }) => binding)).size).toBe(2);
  });
});

describe("without a way to ask", () => {
  test("A8/ports, N1: no port is a ToolUsageError that names the tool", async () => {
    const { executor } = stand([pay({ confirm: true })]);
    const error = await ourError(executor.run("pay", to));
    expect(error).toMatchObject({ kind: "ToolUsageError", tool: "pay" });
    expect(error.message).toContain("approval");
  });

  test("A8/ports, N1: a port that can only pause a graph is refused outside one, before it asks", async () => {
    const port = new LangGraphApproval({ key: "0123456789abcdef0123456789abcdef" });
    let asked = 0;
    port.decide = () => Promise.reject(new Error(`asked ${(asked += 1)}`));
    let runs = 0;
    const { executor } = stand([pay({ confirm: true, execute: () => (runs += 1) }), pay({ name: "free" })], {
      approval: port,
    });
    expect(await kindOf(executor.run("pay", to))).toBe("ToolUsageError");
    await expect(executor.run("free", to)).resolves.toBe("paid ana");
    expect([runs, asked]).toEqual([0, 0]);
  });
});

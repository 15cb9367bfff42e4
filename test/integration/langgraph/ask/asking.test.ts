// Rows of "What can happen" in docs/guide/life-of-an-approval.md in which nothing is used up: asking, showing
// again, refusing, superseding. Every row says how often the tool ran: not at all, until a good answer to the shown request came.

import { describe, expect, it } from "vitest";
import { approve, deny, ToolArgsInvalid } from "agent-adapter";
import { LangGraphApproval } from "agent-adapter/langgraph";
import { DAY_MS, ended, only, requestOf, Rig, SECRET, toolMessages, type Ask, type Step } from "./rig.js";

const PROCESSES = [
  ["in the same process", (rig: Rig) => rig.redeploy()],
  ["in a new process", (rig: Rig) => rig.newProcess()],
] as const;

function expectSame(step: Step, ask: Ask): void {
  const shown = only(step);
  expect(shown.id).toBe(ask.id);
  expect(shown.value.binding).toBe(ask.value.binding);
  expect(shown.value.request).toEqual(ask.value.request);
  expect(shown.value.meta).toEqual(ask.value.meta);
}

describe("none: a call needs a human", () => {
  it("A6, L1: it is asked about with generation 0 and nothing of it runs", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["p1", "a1"]);
    expect(requestOf(ask)).toMatchObject({
      v: 1,
      kind: "tool",
      tool: "pay",
      callId: "a1",
      arguments: { n: "a1" },
      generation: 0,
      threadId: "t",
      supersedes: null,
      previousAttempt: null,
    });
    expect(requestOf(ask).taskRun).toHaveLength(2);
    expect(rig.ran).toEqual(["p1"]);
  });

  it("A6: a denied rule of a predicate asks nobody", async () => {
    const rig = new Rig({ confirm: () => false });
    expect(ended(await rig.start())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: two asks of one node are asked one after the other, under different ids", async () => {
    const rig = new Rig();
    const first = await rig.asked(["a1", "a2"]);
    const second = only(await rig.byId(first, rig.answer(first)));
    expect(requestOf(second)).toMatchObject({ callId: "a2", generation: 0 });
    expect(second.id).not.toBe(first.id);
    expect(rig.ran).toEqual(["a1"]);
    expect(await rig.pending()).toHaveLength(1);
    expect(ended(await rig.byId(second, rig.answer(second)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a2"]);
  });
});

describe.each(PROCESSES)("asked: a re-run %s", (_where, next) => {
  it("A6: `invoke(null)` shows the same request under the same id and runs no user code", async () => {
    const seen: string[] = [];
    const rig = new Rig({ hooks: [{ beforeTool: ({ callId }) => void seen.push(callId) }] });
    const ask = await rig.asked(["p1", "a1"]);
    seen.length = 0;
    let asked = 0;
    rig.is.confirm = () => {
      asked += 1;
      return true;
    };
    for (let round = 0; round < 3; round += 1) expectSame(await next(rig).nothing(), ask);
    expect(rig.ran).toEqual(["p1"]);
    expect(seen).toEqual([]);
    expect(asked).toBe(0);
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    expect(rig.times("a1")).toBe(1);
    expect(rig.times("p1")).toBe(1);
  });

  it("A6: the clock may move for a year, the request stays the one that was shown", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    rig.clock.advance(365 * DAY_MS);
    expectSame(await next(rig).nothing(), ask);
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: a tool that meanwhile says it needs nobody still waits for its answer", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    rig.is.confirm = false;
    expectSame(await next(rig).nothing(), ask);
    expect(rig.ran).toEqual([]);
  });

  it("A6: a changed definition asks anew under the same id, with another binding that names the old one", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    rig.is.version = "2";
    const again = only(await next(rig).nothing());
    expect(again.id).toBe(ask.id);
    expect(again.value.binding).not.toBe(ask.value.binding);
    expect(requestOf(again)).toMatchObject({ callId: "a1", generation: 0, supersedes: ask.value.binding });
    // The answer to the superseded request was never used, and does not fit.
    expect(ended(await rig.byId(again, rig.answer(ask)))).toBe("invalid");
    expect(rig.ran).toEqual([]);
    expectSame(await next(rig).nothing(), again);
    const second = only(await rig.byId(again, rig.answer(again)));
    expect(requestOf(second)).toMatchObject({ callId: "a2", supersedes: null });
    expect(ended(await rig.byId(second, rig.answer(second)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a2"]);
  });
});

describe.each(PROCESSES)("asked: bad answers by id %s", (_where, next) => {
  it("A6, L2: each is an invalid resume, nothing is used and the same request can be answered", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    const good = rig.answer(ask);
    const stranger = new Rig({ secret: "a secret of somebody else, also long" });
    const foreign = new Rig();
    const elsewhere = await foreign.asked(["a1"], { thread: "another thread" });
    const bad = [
      "yes",
      true,
      0,
      [],
      {},
      { approved: true },
      approve({ by: "mallory" }),
      { ...good, decision: { approved: true, editedArgs: { n: "9999" } } },
      { ...good, decision: { ...good.decision, by: "mallory" } },
      { ...good, mac: `${good.mac.slice(0, -1)}${good.mac.endsWith("A") ? "E" : "A"}` },
      { ...good, expiresAt: good.expiresAt + 1 },
      { ...good, signedAt: good.signedAt - 1 },
      { ...good, binding: elsewhere.value.binding },
      { ...good, keyId: "process" },
      { ...good, extra: 1 },
      foreign.answer(elsewhere),
      stranger.answer(ask),
    ];
    for (const value of bad) {
      next(rig);
      expect([value, ended(await rig.byId(ask, value))]).toEqual([value, "invalid"]);
      expect(rig.ran).toEqual([]);
      expect((await rig.pending()).map(({ id }) => id)).toEqual([ask.id]);
    }
    expectSame(await next(rig).nothing(), ask);
    const end = await rig.finish(await rig.byId(ask, good));
    expect(ended(end)).toBe("done");
    expect(rig.ran).toEqual(["a1", "a2"]);
    forgetNothing(stranger, foreign);
  });

  it("A6, L2: refused answers never quote the value", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const step = await next(rig).byId(ask, { approved: true, reason: "hunter2-hunter2" });
    expect(ended(step)).toBe("invalid");
    expect(String(step.error)).not.toContain("hunter2");
  });
});

function forgetNothing(...rigs: readonly Rig[]): void {
  for (const rig of rigs) expect(rig.ran).toEqual([]);
}

describe.each(PROCESSES)("asked or answered: an answer that is genuine and no longer good %s", (_where, next) => {
  it("A6, A4/answers: a fresh expired one leads to a new request at once, which names the old one", async () => {
    const rig = new Rig({ answerTtlMs: 1000 });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    rig.clock.advance(1001);
    const again = only(await next(rig).byId(ask, answer));
    expect(again.id).not.toBe(ask.id);
    expect(requestOf(again)).toMatchObject({ callId: "a1", generation: 0, supersedes: ask.value.binding });
    expect(rig.ran).toEqual([]);
    // It stays refused: not used, not usable.
    expect(ended(await next(rig).byId(again, answer))).toBe("invalid");
    expectSame(await next(rig).nothing(), again);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A4/answers: at its last millisecond an answer is good", async () => {
    const rig = new Rig({ answerTtlMs: 1000 });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    rig.clock.advance(1000);
    expect(ended(await next(rig).byId(ask, answer))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, A4/answers: a stored one that expired before it was used leads to a new request", async () => {
    const rig = new Rig({ answerTtlMs: 1000, hooks: [failing()] });
    const ask = await rig.asked(["a1"], {});
    await failingUse(rig, ask);
    rig.clock.advance(1001);
    const again = only(await next(rig).nothing());
    expect(again.id).not.toBe(ask.id);
    expect(requestOf(again)).toMatchObject({ generation: 0, supersedes: ask.value.binding });
    expectSame(await next(rig).nothing(), again);
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: a fresh one of an older definition leads to the request of the new definition", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    rig.is.version = "2";
    const again = only(await next(rig).byId(ask, answer));
    expect(again.id).not.toBe(ask.id);
    expect(requestOf(again).supersedes).toBe(ask.value.binding);
    expect(requestOf(again).definitionDigest).not.toBe(requestOf(ask).definitionDigest);
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: a stored one of an older definition leads to the request of the new definition", async () => {
    const rig = new Rig({ hooks: [failing()] });
    const ask = await rig.asked();
    await failingUse(rig, ask);
    rig.is.version = "2";
    const again = only(await next(rig).nothing());
    expect(requestOf(again)).toMatchObject({ supersedes: ask.value.binding, generation: 0 });
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, A3/hmac: a stored one under a removed answer key leads to a new request (the seal key is still there)", async () => {
    const rig = new Rig({ key: "answer key one, 32 bytes or more", hooks: [failing()] });
    const ask = await rig.asked();
    await failingUse(rig, ask);
    rig.is.key = "answer key two, 32 bytes or more";
    const again = only(await next(rig).nothing());
    expect(again.id).not.toBe(ask.id);
    expect(requestOf(again)).toMatchObject({ supersedes: ask.value.binding, generation: 0 });
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, A3/hmac: a fresh one under a removed answer key is an invalid resume; the same request is answered under the new key", async () => {
    const rig = new Rig({ key: "answer key one, 32 bytes or more" });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    rig.is.key = "answer key two, 32 bytes or more";
    expect(ended(await next(rig).byId(ask, answer))).toBe("invalid");
    expect(rig.ran).toEqual([]);
    expectSame(await next(rig).nothing(), ask);
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, A3/hmac: rotated keys: answers and seals of the older secret are good as long as it is on the list", async () => {
    const rig = new Rig({ secret: "the older root secret, long enough" });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    rig.is.secret = ["the newer root secret, long enough", "the older root secret, long enough"];
    expect(ended(await next(rig).byId(ask, answer))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: it happens several times in a row, for different reasons, and each time exactly one request waits", async () => {
    const rig = new Rig({ answerTtlMs: 1000, key: "answer key one, 32 bytes or more", hooks: [failing()] });
    const asks = [await rig.asked()];
    const changes = [
      () => rig.clock.advance(1001),
      () => (rig.is.version = "2"),
      () => (rig.is.key = "answer key two, 32 bytes or more"),
      () => rig.clock.advance(1001),
    ];
    for (const change of changes) {
      await failingUse(rig, last(asks));
      change();
      asks.push(only(await next(rig).nothing()));
      expect(await rig.pending()).toHaveLength(1);
      expect(requestOf(last(asks)).supersedes).toBe(asks.at(-2)?.value.binding);
    }
    expect(new Set(asks.map(({ value }) => value.binding)).size).toBe(asks.length);
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.byId(last(asks), rig.answer(last(asks))))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });
});

/** A hook that fails as long as the switch is on. */
let broken = false;
function failing() {
  return {
    beforeTool: () => {
      if (broken) throw new Error("the budget service is down");
    },
  };
}

/** Deliver a good answer into an attempt that fails before the claim. */
async function failingUse(rig: Rig, ask: Ask): Promise<void> {
  broken = true;
  const step = await rig.byId(ask, rig.answer(ask));
  broken = false;
  expect(ended(step)).toBe("Error: the budget service is down");
}

function last<T>(items: readonly T[]): T {
  const item = items.at(-1);
  if (item === undefined) throw new Error("empty");
  return item;
}

describe("asked: the decision", () => {
  it("A6, A7: an edit runs instead of what was asked, once", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const step = await rig.byId(ask, rig.answer(ask, approve({ editedArgs: { n: "less" } })));
    expect(ended(step)).toBe("done");
    expect(toolMessages(step)["a1"]?.content).toContain('{"n":"less"}');
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, A7: an edit that does not fit the tool, signed where the tool is not at hand, is an invalid resume", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const elsewhere = new LangGraphApproval({ key: SECRET });
    const edited = elsewhere.resumeValue(ask, approve({ editedArgs: { n: 5 } }));
    expect(ended(await rig.byId(ask, edited))).toBe("invalid");
    expect(rig.ran).toEqual([]);
    expect(() => rig.answer(ask, approve({ editedArgs: { n: 5 } }))).toThrow(ToolArgsInvalid);
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: a denial is an answer for the model; the tool never runs", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const step = await rig.byId(ask, rig.answer(ask, deny({ reason: "not this month" })));
    expect(ended(step)).toBe("done");
    const { status, content } = toolMessages(step)["a1"] ?? { status: "", content: "" };
    expect(status).toBe("error");
    expect(JSON.parse(String(content))).toMatchObject({ error: { kind: "ApprovalDenied" } });
    expect(String(content)).toContain("not this month");
    expect(rig.ran).toEqual([]);
  });
});

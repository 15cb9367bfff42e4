// The other examples: each checks itself; here it runs and prints what its page claims.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startPostgres, whyNoPostgres } from "../support/postgres.js";
import { repository } from "../support/temporary-copy.js";
import { beside, runExample } from "./run-example.js";

const EXAMPLES = [
  "after-a-crash.ts",
  "approver-process.ts",
  "attack-kit.ts",
  "checkpointers.ts",
  "compiled-flow.ts",
  "compression.ts",
  "demo.ts",
  "deployment.ts",
  "fan-out.ts",
  "flow-gate-edit.ts",
  "flow-order.ts",
  "flow-review-loop.ts",
  "flow-uneven-join.ts",
  "from-human-in-the-loop.ts",
  "from-tool-node.ts",
  "observability.ts",
  "own-node.ts",
  "quickstart.ts",
  "restart.ts",
  "review-desk.ts",
  "sign-elsewhere.ts",
  "signed-decisions.ts",
  "stores-postgres.ts",
  "stores-sqlite.ts",
  "testing-your-app.ts",
  "tools-and-executor.ts",
];
const PLAYED = [
  'reviewer   approved pay {"invoice":"7","euros":120}',
  "a worker   refused: the approval was used before",
  "a worker   ran: paid",
  "the ledger of all of them: 1 payment",
];

test("every example is run by a test", () => {
  const files = readdirSync(join(repository, "examples")).filter((name) => name.endsWith(".ts"));
  expect(files.toSorted()).toEqual(EXAMPLES);
});

describe("in a process of its own", { timeout: 300_000, concurrent: true }, () => {
  test("quickstart pauses, shows the request and resumes", async () => {
    expect(await runExample("quickstart.ts")).toEqual({
      code: 0,
      out: "asks for { period: '2026-09' }\nsent 2026-09\n",
      err: "",
    });
  });

  test("A6: the quick start asks in one process and is approved in another, once", async () => {
    const { code, out } = await runExample("restart.ts");
    expect(code).toBe(0);
    const [, asked, , sent, , refused] = out.split("\n");
    expect([asked, sent]).toEqual(["asks for { period: '2026-09' } <binding>", "sent 2026-09"]);
    expect(refused).toMatch(/^ToolUsageError: /);
  });

  test("an app is tested with scripted answers, a clock of its own, and contracts", async () => {
    const { code, out } = await runExample("testing-your-app.ts");
    expect(code).toBe(0);
    expect(beside(out, "a day later")).toEqual(["expired"]);
    expect(beside(out, "every case passed")).toEqual(["true"]);
  });

  test("review-desk: one of two reviewers is first, a late denial is not taken, check says the word that fits, an expired answer asks again", async () => {
    const { code, out } = await runExample("review-desk.ts");
    expect(code).toBe(0);
    expect(beside(out, "ana approves, ben denies")).toEqual(["somebody was first: reload what waits; taken"]);
    expect(beside(out, "ben denies, too late")).toEqual(["somebody was first: reload what waits"]);
    expect(beside(out, "an edit that does not fit")).toEqual(["not sent: malformed"]);
    expect(beside(out, "signed with last year's key")).toEqual(["ok"]);
    expect(beside(out, "signed with an unknown key")).toEqual(["signature"]);
    expect(beside(out, "a day later")).toEqual(["not sent: expired"]);
    expect(beside(out, "sent all the same")).toEqual(["asked again"]);
    expect(beside(out, "what ran")).toEqual(["0", "1"]);
    expect(beside(out, "a new answer")).toEqual(["taken"]);
  });

  test("A6: a process that was killed while an approved tool ran is asked about again, and the bank pays once", async () => {
    const { code, out } = await runExample("after-a-crash.ts");
    expect(code).toBe(0);
    expect(beside(out, "2. ana approves")).toEqual(["ended by SIGKILL"]);
    expect(beside(out, "5. go on, five minutes later")).toEqual(["waits, generation 1: outcome unknown"]);
    expect(beside(out, "what the bank did")).toEqual(["1 payment"]);
  });

  test("R7, J4/check-saver: a checkpointer is checked, and encrypted", async () => {
    const { code, out } = await runExample("checkpointers.ts");
    expect(code).toBe(0);
    expect(beside(out, "kept").length).toBeGreaterThan(8);
    expect(beside(out, "the name in the file")).toEqual(["false"]);
  });

  test("A3/ed25519: a store with approvers takes no decision that nobody signed", async () => {
    const { code, out } = await runExample("signed-decisions.ts");
    expect(code).toBe(0);
    expect(beside(out, "a decision that nobody signed")).toEqual(["pending"]);
    expect(beside(out, "decided by")).toEqual(["ana"]);
  });

  test("E5, E8, G4: tools and an executor in a plain program", async () => {
    const { code, out } = await runExample("tools-and-executor.ts");
    expect(code).toBe(0);
    expect(beside(out, "desk")).toEqual(["true, policy"]);
    expect(beside(out, "the price, at the second try")).toEqual(["900"]);
    expect(beside(out, "4")).toEqual(["ToolNotFound: there is no tool of that name"]);
  });

  test("W0: what node:crypto alone makes of the described formats is what the graph accepts", async () => {
    const { code, out } = await runExample("sign-elsewhere.ts");
    expect(code).toBe(0);
    expect(beside(out, "the binding, computed again")[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(beside(out, "another key")).toEqual(["refused: invalid answer, nothing ran"]);
    expect(beside(out, "the key of the graph")).toEqual(["ran send_statement 2026-10"]);
  });

  test("Q1: the attack kit finds what interrupt() in a node lets through", { timeout: 120_000 }, async () => {
    const { code, out } = await runExample("attack-kit.ts");
    expect(code).toBe(0);
    expect(out).toMatch(/^\| replayed\/earlier-point \| RAN TWICE \|$/m);
    expect(out).toMatch(/^\| raced\/eight-at-once \| RAN TWICE \|$/m);
    expect(out).toMatch(/^\| bare\/words \| RAN FORGED \|$/m);
  });

  test("R4: a node of one's own replays what finished before the pause", async () => {
    const { code, out } = await runExample("own-node.ts");
    expect(code).toBe(0);
    expect(beside(out, "each call ran once")).toEqual(['["shipping_rate laptop","send_statement 2026-10"]']);
  });

  test("R1, R2, R3: parallel requests are answered by a map of their ids", async () => {
    const { code, out } = await runExample("fan-out.ts");
    expect(code).toBe(0);
    expect(beside(out, "paid")).toEqual(['["7: 120 euros","8: 30 euros"]']);
  });

  test("C2: a compiled flow waits for a store, and a node may share its name with a field", async () => {
    const { code, out } = await runExample("compiled-flow.ts");
    expect(code).toBe(0);
    expect(beside(out, "continued before anybody decided")).toEqual(["paused"]);
    expect(beside(out, "ana decided, continued")).toEqual(["done: sent 2027-03"]);
    expect(beside(out, "steps, runs")).toEqual(["2, shipping_rate laptop, send_statement 2027-03"]);
  });

  test("F6: an order asks before anything is placed, and goes on from its checkpoint", async () => {
    const { code, out } = await runExample("flow-order.ts");
    expect(code).toBe(0);
    expect(out).toContain('n1g{{"a human approves"}} --> n1');
    expect(beside(out, "asks")).toEqual(['before "place": {"rates":[5,12]}']);
    expect(beside(out, "each ran once")).toEqual(['["shipping_rate laptop","shipping_rate desk","place"]']);
  });

  test("F4: a loop is left over its cap", async () => {
    const { code, out } = await runExample("flow-review-loop.ts");
    expect(code).toBe(0);
    expect(out).toContain('n1 -.->|"at most 2x"| n0');
    expect(beside(out, "wants draft 9")[0]).toMatch(/^a person reads draft 3 /);
  });

  test("F2: a join runs once, after branches of any length", async () => {
    const { code, out } = await runExample("flow-uneven-join.ts");
    expect(code).toBe(0);
    expect(out).toContain('n6[/"summary"\\]');
    expect(beside(out, "abroad")).toEqual(["customs, price, stock, supplier, delivery (5 steps)"]);
    expect(beside(out, "at home")).toEqual(["price, stock, supplier, delivery (5 steps)"]);
  });

  test("F6, A7: what a reviewer edits at a gate is what the step sees", async () => {
    const { code, out } = await runExample("flow-gate-edit.ts");
    expect(code).toBe(0);
    expect(beside(out, "asks")[0]).toContain("nothing ran: []");
    expect(out).toContain('{"to":"ana","euros":90,"log":["pay ana 90","tell ana about 90"]}');
    expect(beside(out, "a second yes")).toEqual(["ApprovalAlreadyDecided"]);
    expect(beside(out, "a no")).toEqual(["denied, the log is []"]);
  });

  test("A3/ed25519: an approver signs in a process of her own, and the one that runs tools cannot", async () => {
    const { code, out } = await runExample("approver-process.ts");
    expect(code).toBe(0);
    expect(beside(out, "this process")).toEqual(["cannot approve"]);
    expect(beside(out, "the ledger says")).toEqual(["decided by ana"]);
  });

  test("K1, K2: the model is sent less of a long conversation, the state keeps everything", async () => {
    const { code, out } = await runExample("compression.ts");
    expect(code).toBe(0);
    expect(beside(out, "the state keeps")).toEqual(["24 messages"]);
    expect(beside(out, "a call left open")).toEqual(["outcome unknown"]);
  });

  test("O1: calls, the wait for a human and what a body does are spans", async () => {
    const { code, out } = await runExample("observability.ts");
    expect(code).toBe(0);
    expect(beside(out, "wait_for_approval pay")).toEqual(["in agent"]);
    expect(beside(out, "POST /payments")).toEqual(["in execute_tool pay"]);
  });

  test("I2, B16: what LangChain's human-in-the-loop middleware lets through, ours does not", async () => {
    const { code, out } = await runExample("from-human-in-the-loop.ts");
    expect(code).toBe(0);
    expect(beside(out, "anybody who can resume")).toEqual(["nothing ran"]);
    expect(beside(out, "a caller's context, no answer")).toEqual([
      "ran send_statement 2026-09, send_statement 2026-10, shipping_rate laptop",
      "ran shipping_rate laptop",
    ]);
    expect(beside(out, "the conversation")).toEqual(["2 calls, 1 of them answered", "3 calls, 3 of them answered"]);
  });

  test("L2, A5: what ToolNode with interrupt() lets through, toolNode does not", async () => {
    const { code, out } = await runExample("from-tool-node.ts");
    expect(code).toBe(0);
    expect(beside(out, "anybody who can resume")).toEqual([
      "ran send_statement 2026-09",
      "refused: invalid answer, nothing ran",
    ]);
    expect(beside(out, "the old checkpoint again")).toEqual([
      "ran send_statement 2026-09",
      "refused: ApprovalAlreadyDecided, nothing ran",
    ]);
  });

  test("A11/sqlite: a reviewer and two workers on one SQLite file pay once", async () => {
    const { code, out } = await runExample("stores-sqlite.ts");
    expect(code).toBe(0);
    expect(linesOf(out)).toEqual(PLAYED.toSorted());
  });

  test.skipIf(whyNoPostgres() !== undefined)("A11/postgres: the same on PostgreSQL", async () => {
    const server = await startPostgres();
    try {
      const { code, out } = await runExample("stores-postgres.ts", [], { env: { DATABASE_URL: server.url } });
      expect(code).toBe(0);
      expect(linesOf(out)).toEqual(PLAYED.toSorted());
      const deployment = await runExample("deployment.ts", [], { env: { DATABASE_URL: server.url } });
      expect(deployment).toMatchObject({ code: 0, err: "" });
      expect(beside(deployment.out, "it ran")).toEqual(["paid INV-2026-7"]);
      expect(beside(deployment.out, "readable in the checkpointer")).toEqual(["false"]);
    } finally {
      await server.stop();
    }
  });
});

function linesOf(out: string): string[] {
  return out
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .toSorted();
}

// `npm run demo`: it prints what the README and the guide claim, each line really tried, and a person can be the reviewer.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { repository } from "../support/temporary-copy.js";
import { beside, runExample, section, type Run } from "./run-example.js";

const INVALID = "refused: invalid answer, nothing ran";
const USED = "refused: ApprovalAlreadyDecided, nothing ran";

describe("the demo", () => {
  let run: Run;
  const said = (label: string) => beside(run.out, label);

  beforeAll(async () => {
    run = await runExample("demo.ts");
  }, 30_000);

  test("ends well, says nothing on stderr, and has no colour codes outside a terminal", () => {
    expect(run.err).toBe("");
    expect(run.code).toBe(0);
    expect(run.out).not.toContain("\u001B");
    expect(run.out).not.toContain("UNEXPECTED");
    expect(run.out.trimEnd().split("\n").at(-1)).toBe("Everything above was tried just now and came out as it should.");
  });

  test("before: any yes approves, and the old checkpoint sends a second time", () => {
    const both = "ran shipping_rate laptop and send_statement 2026-09";
    expect(said('anybody says "yes"')).toEqual([both]);
    expect(said('"yes" to the old checkpoint')).toEqual([both]);
    expect(said("for one approval")).toEqual(["send_statement ran 2 times, shipping_rate 3 times"]);
  });

  test("after: one tool ran, the other waits, and the reviewer is shown what would run", () => {
    expect(said("ran")).toEqual(["shipping_rate laptop"]);
    expect(said("waits for a human")).toEqual(["send_statement"]);
    expect(said("tool")).toEqual(["send_statement (destructive)"]);
    expect(said("arguments")).toEqual(['{"period":"2026-09"}']);
  });

  test("what nobody signed is refused", () => {
    for (const label of ['a bare "yes"', "a bare decision", "ana's answer, edit forged", "signed with another key"]) {
      expect(said(label)).toEqual([INVALID]);
    }
    expect(said("signing a changed request")).toEqual(["refused: ToolUsageError, nothing signed"]);
  });

  test("the signed answer runs the tool once; the same answer does nothing", () => {
    expect(said("ana approves")).toEqual(["ran send_statement 2026-09"]);
    expect(said("again, to the old checkpoint")).toEqual([USED]);
    expect(said("again, to the finished thread")).toEqual(["nothing ran"]);
    const [before, after] = said("ten callers at once");
    expect(before).toBe("10 went on; send_statement runs: 10");
    expect(after).toBe("1 went on, 9 refused: ApprovalAlreadyDecided; send_statement runs: 1");
  });

  test("an edit runs instead and the model is told; a denial reads as an error", () => {
    expect(said("an edit that does not fit")).toEqual(["refused: ToolArgsInvalid, nothing signed"]);
    expect(said("ana approves 2026-12")).toEqual(["ran send_statement 2026-12"]);
    expect(said("ben denies")).toEqual(["nothing ran"]);
    expect(said("the model reads")).toEqual([
      '[A reviewer changed the arguments of this call to {"period":"2026-12"}]',
      '{"error":{"kind":"ApprovalDenied","message":"a reviewer denied this call: not this month"}}',
    ]);
  });

  test("R4: in a node of one's own the answer is used once, and the call before it is not run again", () => {
    const rows = section(run.out, "Your own node: oneUse").join("\n");
    expect(rows).toMatch(/first call ran +shipping_rate laptop/);
    expect(rows).toMatch(/ana approves in the node +ran send_statement 2027-02/);
    expect(rows).toMatch(/again +nothing ran/);
  });

  test("the ledger has one entry per call", () => {
    const rows = section(run.out, "The ledger").map((text) => text.trim().split(/ {2,}/));
    expect(rows[0]).toEqual(["thread", "tool", "status", "runs", "decided by", "edit", "error"]);
    expect(rows.slice(1, 11)).toEqual([
      ["shop-1", "shipping_rate", "ok", "1"],
      ["shop-1", "send_statement", "ok", "1", "ana"],
      ["shop-2", "shipping_rate", "ok", "1"],
      ["shop-2", "send_statement", "ok", "1", "ana"],
      ["shop-3", "shipping_rate", "ok", "1"],
      ["shop-3", "send_statement", "ok", "1", "ana", expect.stringMatching(/^[0-9a-f]{8}$/)],
      ["shop-4", "shipping_rate", "ok", "1"],
      ["shop-4", "send_statement", "denied", "0", "ben", "ApprovalDenied"],
      ["shop-5", "shipping_rate", "ok", "1"],
      ["shop-5", "send_statement", "ok", "1", "ana"],
    ]);
    expect(said("entries for 10 calls, 22 resumes")).toEqual(["10"]);
  });
});

describe("a person as the reviewer", { timeout: 30_000, concurrent: true }, () => {
  const ask = (...lines: readonly string[]) =>
    runExample("demo.ts", ["--ask"], { input: lines.map((text) => `${text}\n`).join("") });

  test("approves", async () => {
    const { code, out } = await ask("a");
    expect(code).toBe(0);
    expect(beside(out, "with your answer")).toEqual(["ran send_statement 2026-09"]);
    expect(beside(out, "the model reads")).toEqual(["sent 2026-09"]);
    expect(section(out, "The ledger").join("\n")).toMatch(/send_statement +ok +1 +you/);
  });

  test("edits, after an edit that does not fit", async () => {
    const { code, out } = await ask("e", "last month", "e", "2026-12");
    expect(code).toBe(0);
    expect(out).toContain("refused: ToolArgsInvalid");
    expect(out).not.toContain("last month");
    expect(beside(out, "with your answer")).toEqual(["ran send_statement 2026-12"]);
  });

  test("denies, and the model reads why", async () => {
    const { code, out } = await ask("what?", "d", "not today");
    expect(code).toBe(0);
    expect(beside(out, "with your answer")).toEqual(["nothing ran"]);
    expect(beside(out, "the model reads")[0]).toContain("a reviewer denied this call: not today");
  });

  test("walks away: nothing runs", async () => {
    const { code, out } = await ask();
    expect(code).toBe(0);
    expect(out).toContain("Nobody decided: the request stays open, and nothing ran.");
  });
});

test("a line that comes out otherwise is marked and fails the demo", () => {
  const text = `import { tried, finish } from "./examples/support/page.ts"; tried("it", "ran twice", "ran once"); finish();`;
  const { stdout, status } = spawnSync(join(repository, "node_modules/.bin/tsx"), ["-e", text], {
    cwd: repository,
    encoding: "utf8",
  });
  expect(stdout).toMatch(/it +ran twice +UNEXPECTED, it should be: ran once/);
  expect(status).toBe(1);
});

// Two programs on one SQLite file: each with its own handle, registry and executor, as two processes would have.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, Executor, Registry, ToolError } from "agent-adapter";
import { openSqlite, type SqlStores } from "agent-adapter/sqlite";
import { ManualClock } from "agent-adapter/testing";

const folder = mkdtempSync(join(tmpdir(), "aa-shared-"));
const open: SqlStores[] = [];
let files = 0;

afterEach(async () => {
  for (const stores of open.splice(0)) await stores.close();
});
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function program(file: string, ran: string[]) {
  const stores = await openSqlite(join(folder, file), { synchronous: "normal" });
  open.push(stores);
  const rate = defineTool({
    name: "rate",
    description: "a rate",
    inputSchema: z.object({ item: z.string() }),
    effects: "read",
    cost: 5,
    cache: { ttlMs: 60_000, scope: "shared" },
    execute: ({ item }) => {
      ran.push(item);
      return { item, percent: 5 };
    },
  });
  const send = defineTool({
    name: "send",
    description: "sends once per run",
    inputSchema: z.object({ to: z.string() }),
    oncePerRun: true,
    execute: ({ to }) => {
      ran.push(`send ${to}`);
      return `sent ${to}`;
    },
  });
  const executor = new Executor(new Registry([rate, send]), { ledger: stores.ledger, cache: stores.cache });
  return { executor, rate, send, stores };
}

describe("two programs on one file", () => {
  it("E7/shared: a result that one has cached is not run for by the other, whatever the order of its arguments", async () => {
    const ran: string[] = [];
    const file = `shared-${(files += 1)}.db`;
    const [one, two] = [await program(file, ran), await program(file, ran)];
    expect(await one.executor.run(one.rate, { item: "a" })).toEqual({ item: "a", percent: 5 });
    expect(await two.executor.run(two.rate, { item: "a" })).toEqual({ item: "a", percent: 5 });
    expect(await two.executor.run(two.rate, { item: "b" })).toEqual({ item: "b", percent: 5 });
    expect(ran).toEqual(["a", "b"]);
  });

  it("E7/shared: errors, other definitions and other principals are not shared; a result ends with its time", async () => {
    const file = `shared-${(files += 1)}.db`;
    const ran: string[] = [];
    const clock = new ManualClock(1_000_000);
    async function reader(version: string) {
      const stores = await openSqlite(join(folder, file), { synchronous: "normal", clock });
      open.push(stores);
      const read = defineTool({
        name: "read",
        description: "reads for somebody",
        version,
        inputSchema: z.object({ item: z.string() }),
        effects: "read",
        cache: { ttlMs: 1000, scope: "principal" },
        execute: ({ item }) => {
          ran.push(`${version} ${item}`);
          if (item === "bad") throw new ToolError("no");
          return `${version} ${item}`;
        },
      });
      const executor = new Executor(new Registry([read]), { cache: stores.cache, clock });
      return (item: string, principal?: string) =>
        executor.run(read, { item }, { context: executor.context(principal === undefined ? {} : { principal }) });
    }
    const [one, two, other] = [await reader("1"), await reader("1"), await reader("2")];
    expect(await one("a", "ana")).toBe("1 a");
    expect(await two("a", "ana")).toBe("1 a");
    expect(ran).toEqual(["1 a"]);
    expect(await two("a", "ben")).toBe("1 a");
    expect(await two("a")).toBe("1 a");
    expect(await other("a", "ana")).toBe("2 a");
    expect(ran).toEqual(["1 a", "1 a", "1 a", "2 a"]);
    for (const call of [one, two]) await expect(call("bad", "ana")).rejects.toMatchObject({ kind: "ToolError" });
    expect(ran.slice(4)).toEqual(["1 bad", "1 bad"]);
    clock.advance(1001);
    expect(await two("a", "ana")).toBe("1 a");
    expect(ran.slice(6)).toEqual(["1 a"]);
  });

  it("E7/shared: a tool that runs once per run runs once for both", async () => {
    const ran: string[] = [];
    const file = `shared-${(files += 1)}.db`;
    const [one, two] = [await program(file, ran), await program(file, ran)];
    const first = { context: one.executor.context({ runId: "turn-1", threadId: "t" }) };
    const second = { context: two.executor.context({ runId: "turn-1", threadId: "t" }) };
    expect(await one.executor.run(one.send, { to: "ana" }, first)).toBe("sent ana");
    expect(await two.executor.run(two.send, { to: "ana" }, second)).toBe("sent ana");
    await expect(two.executor.run(two.send, { to: "mallory" }, second)).rejects.toMatchObject({ kind: "ToolError" });
    expect(ran).toEqual(["send ana"]);
  });

  it("E1/shared: entries and totals of both are in one ledger, one entry per call", async () => {
    const ran: string[] = [];
    const file = `shared-${(files += 1)}.db`;
    const [one, two] = [await program(file, ran), await program(file, ran)];
    await one.executor.run(one.rate, { item: "a" }, { context: one.executor.context({ runId: "r" }), callId: "c1" });
    await two.executor.run(two.rate, { item: "b" }, { context: two.executor.context({ runId: "r" }), callId: "c2" });
    await two.executor.run(two.rate, { item: "a" }, { context: two.executor.context({ runId: "r" }), callId: "c3" });
    for (const { stores } of [one, two]) {
      const entries = await stores.ledger.entries({ runId: "r" });
      expect(entries.map(({ callId, status, attempts }) => [callId, status, attempts])).toEqual([
        ["c1", "ok", 1],
        ["c2", "ok", 1],
        ["c3", "cached", 0],
      ]);
      expect(await stores.ledger.totals({ runId: "r" })).toMatchObject({ calls: 2, attempts: 2, cost: 10 });
    }
  });
});

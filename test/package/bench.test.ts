// `npm run bench` as a command: every row runs, and what is printed can be read. One round of the smallest sizes, on the sources;
// no figure is judged here.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, UsageError } from "../../bench/arguments.js";
import { commitOf } from "../../bench/report/machine.js";
import { replacePart } from "../../bench/report/page.js";
import { COLUMNS, markdownPoints, markdownTable, terminalTable } from "../../bench/report/table.js";
import { growthOf, lineThrough, median, spread } from "../../bench/measure/statistics.js";
import type { Result } from "../../bench/result.js";
import { rows } from "../../bench/rows/all.js";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function bench(...options: string[]): Promise<Ended> {
  const flags = ["--no-warnings", "--import", "tsx", "--conditions=agent-adapter-source", "bench/run.ts"];
  const child = spawn(process.execPath, [...flags, ...options], { cwd: repository });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name].on("data", (piece) => (texts[name] += String(piece)));
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, ...texts })));
}

describe("every row, one round", () => {
  let told: {
    readonly versions: Record<string, string>;
    readonly measured: string;
    readonly commit: string;
    readonly rows: readonly Result[];
  };

  // All of them in one process; a slow machine is no failure.
  beforeAll(async () => {
    const { status, stdout, stderr } = await bench("--smoke", "--json");
    if (status !== 0) throw new Error(`the bench ended with ${status}: ${stderr}`);
    told = JSON.parse(stdout) as typeof told;
  }, 0);

  test("S1 to S10 and growth of arguments, batches, journals, approvals, flows and stores are rows", () => {
    const names = rows.map(({ name }) => name);
    const numbers = new Set(names.flatMap((name) => /^S(\d+)/.exec(name)?.[1] ?? []));
    expect([...numbers]).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    for (const growth of ["arguments", "batch", "journal", "approvals", "flow-local", "flow-compiled"]) {
      expect(names).toContain(`growth-${growth}`);
    }
    const stores = ["sqlite", "postgres"].flatMap((engine) => [1, 4, 8].map((size) => `stores-${engine}-${size}`));
    expect(names.filter((name) => name.startsWith("stores"))).toEqual(stores);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(rows.map(({ name }) => name))("%s was measured", (name) => {
    const row = told.rows.find((each) => each.row === name);
    expect(row?.ours).toMatch(/\d|not measured/);
    expect(JSON.stringify(row)).not.toMatch(/NaN|Infinity/);
    // What has a peer was compared with it, unless there is no server here.
    const hasPeer = row?.note === "" && row.against !== null;
    expect(row?.peer).toMatch(hasPeer ? /\d/ : /^$/);
  });

  test("it says what was measured, on what versions", () => {
    expect(told.measured).toBe("src");
    expect(told.commit).toMatch(/^[0-9a-f]{12}( \+ changes)?$|^no commit$/);
    expect(Object.keys(told.versions)).toEqual(expect.arrayContaining(["node", "@langchain/langgraph", "zod"]));
  });

  test("the table has a line for each row and all columns", () => {
    const lines = markdownTable(told.rows).split("\n");
    expect(lines.length).toBe(rows.length + 2);
    for (const line of lines) expect(line.split(/(?<!\\)\|/).length).toBe(COLUMNS.length + 2);
    const text = terminalTable(told.rows).split("\n");
    for (const column of COLUMNS) expect(text[0]).toContain(column);
    for (const [index, { name }] of rows.entries()) expect(text[index + 2]).toMatch(new RegExp(`^${name} `));
  });

  test("every growing row says how it grows, and shows its sizes", () => {
    const growing = told.rows.filter(({ grown }) => grown !== null);
    expect(growing.length).toBeGreaterThan(10);
    for (const { fit } of growing) expect(fit).toMatch(/linear \(n\^-?\d+\.\d\d.*R2 /);
    expect(markdownPoints(told.rows).split("\n").length).toBe(growing.length + 2);
  });
});

test("a profile of each side is kept, and the functions of both packages are named", async () => {
  const { status, stdout, stderr } = await bench("--smoke", "--json", "--profile", "--row", "S1");
  expect(status).toBe(0);
  const { rows: found } = JSON.parse(stdout) as { readonly rows: readonly Result[] };
  expect(found.map(({ row }) => row)).toEqual(["S1"]);
  expect(found[0]?.profiles.length).toBe(2);
  for (const path of found[0]?.profiles ?? []) {
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      nodes: expect.any(Array),
      samples: expect.any(Array),
    });
  }
  expect(stderr).toContain("agent-adapter, most self time:");
  expect(stderr).toContain("LangGraph and LangChain, most self time:");
}, 0);

describe("the command line", () => {
  test("an unknown row is a UsageError that names the rows there are, and status 2", async () => {
    expect(() => parse(["--row", "S11"])).toThrow(UsageError);
    expect(() => parse(["--row", "S11"])).toThrow(/no row S11; there are S1, S2-1/);
    const { status, stdout, stderr } = await bench("--row", "S11");
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^UsageError: no row S11.*\n\nnpm run bench -- \[options\]/);
  }, 0);

  test.each([
    [["--fast"]],
    [["S1"]],
    [["--row"]],
    [["--quick", "--smoke"]],
    [["--write", "--row", "S1"]],
    [["--write", "--smoke"]],
  ])("%j is a UsageError", (given) => {
    expect(() => parse(given)).toThrow(UsageError);
  });

  test("a group is all of its rows, in the order of the table", () => {
    const names = (...given: string[]) => parse(given).rows.map(({ name }) => name);
    expect(names("--row", "S2")).toEqual(["S2-1", "S2-10", "S2-100"]);
    expect(names("--row", "S3", "--row", "S1")).toEqual(["S1", "S3"]);
    expect(names()).toEqual(rows.map(({ name }) => name));
  });
});

describe("the figures", () => {
  const at = (f: (n: number) => number) => [10, 30, 100, 300, 1000].map((n) => ({ n, ms: f(n) }));

  test("a line is found with its fixed cost, and explains everything", () => {
    const { fixed, perUnit, r2 } = lineThrough(at((n) => 5 + 0.25 * n));
    expect([fixed, perUnit, r2].map((value) => value.toFixed(6))).toEqual(["5.000000", "0.250000", "1.000000"]);
  });

  test("work that is linear is told from work that is not, also behind a fixed cost", () => {
    expect(growthOf(at((n) => 5 + n)).exponent).toBeLessThan(1.05);
    expect(growthOf(at((n) => n * Math.log2(n))).exponent).toBeGreaterThan(1.15);
    expect(growthOf(at((n) => 100 + n * n * 0.01)).exponent).toBeGreaterThan(1.15);
  });

  test("a median of an even number of values is between the two in the middle", () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  });
});

test("only the marked part of the page is written", () => {
  const page = "a\n<!-- bench: table -->\nold\n<!-- /bench -->\nb\n";
  expect(replacePart(page, "table", "new")).toBe("a\n<!-- bench: table -->\nnew\n<!-- /bench -->\nb\n");
  expect(() => replacePart(page, "points", "new")).toThrow("no part points");
});

const hasGit = spawnSync("git", ["--version"]).status === 0;

test.skipIf(!hasGit)("the commit is named, and whether anything differs from it", () => {
  const root = temporaryCopy([], { "a.txt": "a" });
  const git = (...words: string[]) =>
    spawnSync("git", ["-C", root, "-c", "user.name=a", "-c", "user.email=a@b", ...words]);
  git("init", "-q");
  expect(commitOf(root)).toBe("no commit");
  git("add", "-A");
  git("commit", "-qm", "first");
  expect(commitOf(root)).toMatch(/^[0-9a-f]{12}$/);
  writeFileSync(join(root, "a.txt"), "b");
  expect(commitOf(root)).toMatch(/^[0-9a-f]{12} \+ changes$/);
});

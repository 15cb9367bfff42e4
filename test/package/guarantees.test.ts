// The gate behind docs/guarantees.md: it passes on the repository, and each fault it exists for is caught in a copy.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkRepository, citationsIn, readRows, stalePages, titlesIn } from "../../scripts/check-guarantees.mjs";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

// Seeded titles are built, so that nothing here is a citation of this file.
const titled = (title: string, call = "test") => `${call}(${JSON.stringify(title)}, () => {});\n`;

function copyWith(titles: string, change: (table: string) => string): string {
  const root = temporaryCopy(["docs/guarantees.md", "scripts/guarantees.json"], { "test/seed.test.ts": titles });
  const table = join(root, "docs/guarantees.md");
  const none = readFileSync(table, "utf8").replaceAll("| yes |", "| no |");
  writeFileSync(table, change(none));
  return root;
}

const problemsOf = (root: string) => checkRepository(root).problems;
const deliver = (start: string) => (table: string) =>
  table.replace(new RegExp(`^(\\| ${start} \\|.*\\|) no \\|`, "m"), "$1 yes |");

test("the table of this repository holds", () => {
  expect(checkRepository(repository).problems).toEqual([]);
});

test("the table has every promise of the specification", () => {
  const families: Record<string, number> = { W: 2, G: 5, E: 12, A: 11, J: 4, F: 7, R: 8, T: 4, L: 7, C: 6 };
  const rest: Record<string, number> = { I: 2, O: 1, K: 2, N: 1, Q: 1, S: 10 };
  const expected = Object.entries({ ...families, ...rest }).flatMap(([family, count]) =>
    Array.from({ length: count }, (_, index) => `${family}${index + (family === "W" ? 0 : 1)}`),
  );
  const ids = new Set(readRows(readFileSync(join(repository, "docs/guarantees.md"), "utf8")).map(({ id }) => id));
  expect([...ids].toSorted()).toEqual(expected.toSorted());
});

describe("seeded faults", () => {
  test("an untouched copy has none", () => {
    expect(problemsOf(copyWith("", (table) => table))).toEqual([]);
  });

  test("a delivered part without a citing test", () => {
    const root = copyWith("", deliver("G2"));
    expect(problemsOf(root)).toEqual(["G2: delivered, but no test cites it"]);
    expect(problemsOf(copyWith(titled("G2: names are own properties"), deliver("G2")))).toEqual([]);
  });

  test("a later part that only the bare id cites", () => {
    const later = (table: string) => table.replace(/^(\| G1 \|.*\| strict \|) no \|/m, "$1 yes |");
    expect(problemsOf(copyWith(titled("G1: refuses"), later))).toEqual(["G1/strict: delivered, but no test cites it"]);
    expect(problemsOf(copyWith(titled("refuses [G1/strict]"), later))).toEqual([]);
  });

  test("a citation in a comment, in prose or of a skipped test", () => {
    const titles = `// ${titled("G2: x")}${titled("as G2 says")}${titled("G2: x", "test.skip")}${titled("G2: x", "it.todo")}`;
    expect(problemsOf(copyWith(titles, deliver("G2")))).toEqual(["G2: delivered, but no test cites it"]);
    const skippedSuite = `describe.skip("suite", () => { ${titled("G2: x")} });`;
    expect(problemsOf(copyWith(skippedSuite, deliver("G2")))).toEqual(["G2: delivered, but no test cites it"]);
  });

  test("a deleted row", () => {
    const root = copyWith("", (table) => table.replace(/^\| A4 \|.*requests.*\n/m, ""));
    expect(problemsOf(root)).toEqual(["A4/requests: its row is missing (rows are never deleted)"]);
  });

  test("a row that is not pinned, twice there, or with a word that means nothing", () => {
    const more = "| G2 | again | | no |\n| G9 | new | | maybe |\n";
    const problems = problemsOf(copyWith("", (table) => table + more));
    expect(problems).toContain("G9: add it to scripts/guarantees.json");
    expect(problems).toContain("G2: two rows");
    expect(problems).toContain('G9: delivered is "yes" or "no"');
  });

  test("a citation of a promise or part that does not exist", () => {
    const problems = problemsOf(copyWith(titled("E99: x") + titled("x (G1/nothing, B12)"), (table) => table));
    expect(problems).toEqual([
      "test/seed.test.ts:1: cites E99, which does not exist",
      "test/seed.test.ts:2: cites G1/nothing, which does not exist",
    ]);
  });

  test("the command fails on a fault", () => {
    const root = copyWith("", deliver("G2"));
    const command = () =>
      execFileSync(process.execPath, [join(repository, "scripts/check-guarantees.mjs"), root], { stdio: "pipe" });
    expect(command).toThrow(/G2: delivered, but no test cites it/);
  });
});

describe("the pages that link proofs", () => {
  const stale = (root: string) => stalePages(root, checkRepository(root));

  test("are what the titles say", () => {
    expect(stale(repository)).toEqual([]);
  });

  test("are stale when a test cites one promise more, and right again after the update", () => {
    const root = copyWith(titled("G2: own names"), deliver("G2"));
    const update = () =>
      execFileSync(process.execPath, [join(repository, "scripts/check-guarantees.mjs"), root, "--update"]);
    expect(stale(root).map(([path]) => path)).toEqual(["docs/guarantees.md", "docs/reference/proofs.md"]);
    mkdirSync(join(root, "docs/reference"));
    update();
    expect(stale(root)).toEqual([]);
    const row = /^\| G2 \|.*$/m.exec(readFileSync(join(root, "docs/guarantees.md"), "utf8"))?.[0];
    expect(row).toMatch(/\| yes \| \[tests\]\(reference\/proofs\.md#g2\) \|$/);
    expect(readFileSync(join(root, "docs/reference/proofs.md"), "utf8")).toContain("- [seed](../../test/seed.test.ts)");

    writeFileSync(join(root, "test/more.test.ts"), titled("G2: no prototypes"));
    expect(stale(root).map(([path]) => path)).toEqual(["docs/reference/proofs.md"]);
  });
});

test("what a title cites", () => {
  expect(citationsIn("W0: bytes")).toEqual(["W0"]);
  expect(citationsIn("A2, B21: bound")).toEqual(["A2", "B21"]);
  expect(citationsIn("(A2, B21) bound [A4/answers]")).toEqual(["A2", "B21", "A4/answers"]);
  expect(citationsIn("bound to its call (A2 B21)")).toEqual(["A2", "B21"]);
  expect(citationsIn("the A2 paper: a format (see A2), [1] http://x")).toEqual([]);
});

test("titles of every spelling of a test", () => {
  const text = `
    describe("a", () => { it.concurrent("b", f); test.each([1])(\`c \${x}\`, f); test.for(rows)("d", f); });
    expect("e"); other.test("f");`;
  expect(titlesIn("x.ts", text).map(({ title }) => title)).toEqual(["a", "b", "c …", "d"]);
});

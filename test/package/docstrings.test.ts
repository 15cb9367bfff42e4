// The docstring check: the public symbols of this package pass it, and each kind of fault is caught.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readDocstrings } from "../../scripts/check-docstrings.mjs";
import { compileExamples } from "../../scripts/support/docstring-examples.mjs";
import { readPins } from "../../scripts/public-api.mjs";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

const ERRORS = `// Errors.
/** The base. */
export class AgentAdapterError extends Error {}
/** Misuse. */
export class ToolUsageError extends AgentAdapterError {}
`;
const GOOD = `// A public file.
import { ToolUsageError } from "./errors.js";
export { ToolUsageError } from "./errors.js";
/** How it pays. */
export interface PayOptions {
  /** Whole cents. */
  readonly cents: number;
  /** Who pays. Default: nobody. */
  readonly by?: string;
}
/**
 * Pays.
 *
 * @throws ToolUsageError when it is not above 0
 * @example const paid: number = pay({ cents: 1 });
 */
export function pay(options: PayOptions): number {
  return checked(options.cents);
}
/**
 * Holds money.
 *
 * @example new Purse().put(1);
 */
export class Purse {
  /**
   * Puts some in.
   *
   * @throws ToolUsageError when it is not above 0
   */
  put(cents: number): void {
    checked(cents);
  }
  #count(): void {}
}
function checked(cents: number): number {
  if (cents <= 0) throw new ToolUsageError();
  return cents;
}
`;

/** A package with one entry point, whose file is the good one with a change. */
function packageWith(from = "", to = ""): string {
  expect(GOOD).toContain(from);
  const manifest = {
    name: "agent-adapter",
    type: "module",
    exports: { ".": { "agent-adapter-source": "./src/index.ts" } },
  };
  return temporaryCopy(["tsconfig.json"], {
    "package.json": JSON.stringify(manifest),
    "src/errors.ts": ERRORS,
    "src/index.ts": GOOD.replace(from, to),
  });
}

function problemsWith(from = "", to = ""): string[] {
  const root = packageWith(from, to);
  const { problems, examples } = readDocstrings(root);
  return [...problems, ...compileExamples(root, examples, [])];
}

describe("every public symbol has a complete docstring", { timeout: 120_000 }, () => {
  test("this package passes, and the check has seen every name of every entry point", () => {
    const { problems, symbols, examples } = readDocstrings(repository);
    expect(problems).toEqual([]);
    // Several entry points share names (errors, INTEGRATION's types), which are read once.
    const names = new Set(Object.values(readPins(repository)).flatMap(({ values, types }) => [...values, ...types]));
    expect(symbols).toBeGreaterThanOrEqual(names.size);
    expect(examples.length).toBeGreaterThan(50);
  });

  test("the command prints what it saw, and fails with a fault", () => {
    const check = (root: string) =>
      spawnSync(process.execPath, [join(repository, "scripts/check-docstrings.mjs"), root], { encoding: "utf8" });
    const bad = check(packageWith("/** Whole cents. */", ""));
    expect(bad.status).toBe(1);
    expect(bad.stderr).toContain(". PayOptions.cents: no docstring");
    expect(bad.stdout).toMatch(/4 symbols, 3 members, 2 examples/);
  });
});

describe("faults", { timeout: 120_000 }, () => {
  test("a complete file has none", () => expect(problemsWith()).toEqual([]));

  test.each<[string, string, string, string]>([
    ["a symbol without a docstring", "/** How it pays. */", "", ". PayOptions: no docstring"],
    [
      "words that are no sentence",
      "/** How it pays. */",
      "/** options */",
      ". PayOptions: its docstring has no sentence that ends",
    ],
    ["a member without a docstring", "/** Whole cents. */", "", ". PayOptions.cents: no docstring"],
    ["an option without its default", " Default: nobody.", "", ". PayOptions.by: does not say its default"],
    ["a tag in place of a sentence", " * Pays.\n *\n", "", ". pay: no docstring"],
    [
      "a method without a docstring",
      "  /**\n   * Puts some in.\n   *\n   * @throws ToolUsageError when it is not above 0\n   */\n",
      "",
      ". Purse.put: no docstring",
    ],
    [
      "an error from a function that is called",
      " * @throws ToolUsageError when it is not above 0\n * @ex",
      " * @ex",
      ". pay: throws ToolUsageError, and no @throws says so",
    ],
    [
      "an error of a method",
      "   * @throws ToolUsageError when it is not above 0\n",
      "",
      ". Purse.put: throws ToolUsageError, and no @throws says so",
    ],
    [
      "a function without an example",
      " * @example const paid: number = pay({ cents: 1 });\n",
      "",
      ". pay: no @example",
    ],
    ["a class without an example", " * @example new Purse().put(1);\n", "", ". Purse: no @example"],
    [
      "an example with a wrong type",
      "const paid: number",
      "const paid: string",
      ". pay: its @example does not compile, line 1: Type 'number' is not assignable to type 'string'.",
    ],
    [
      "an example with a name that nobody knows",
      "new Purse().put(1);",
      "new Wallet();",
      ". Purse: its @example does not compile, line 1: Cannot find name 'Wallet'.",
    ],
  ])("%s", (_fault, from, to, problem) => expect(problemsWith(from, to)).toContain(problem));

  test("what is caught, thrown by a callback or said to be nothing is no fault", () => {
    const tried = "try { return checked(options.cents) } catch { return 0 }";
    for (const body of [tried, "return [1].map((cents) => checked(cents)).length;"]) {
      const [head = "", tail = ""] = GOOD.split("return checked(options.cents);");
      const quiet = (head + body + tail).replace(" * @throws ToolUsageError when it is not above 0\n * @ex", " * @ex");
      expect(problemsWith(GOOD, quiet)).toEqual([]);
    }
    expect(problemsWith("@throws ToolUsageError when it is not above 0\n * @ex", "@throws nothing\n * @ex")).toEqual(
      [],
    );
  });
});

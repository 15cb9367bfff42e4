// Properties proved: every rule that docs/reference/flow-rules.md numbers is cited by the title of a test, and no other number is; the
// messages of the compiler that it shows are what the compiler says.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { titlesIn } from "../../../scripts/check-guarantees.mjs";
import { repository } from "../../support/temporary-copy.js";

const FOLDER = "test/unit/flow";
const page = readFileSync(join(repository, "docs/reference/flow-rules.md"), "utf8");
const numbers = [...page.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));

test("F2: every numbered rule is cited by a test, and rules are numbered in order", () => {
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(numbers.length).toBeGreaterThan(25);
  const cited = readdirSync(join(repository, FOLDER))
    .filter((name) => name.endsWith(".test.ts"))
    .flatMap((name) => titlesIn(name, readFileSync(join(repository, FOLDER, name), "utf8")))
    .flatMap(({ title }) => [...title.matchAll(/\[rule (\d+)\]/g)].map(([, number]) => Number(number)));
  expect([...new Set(cited)].toSorted((a, b) => a - b)).toEqual(numbers);
});

test("F1: the compiler says what the page shows", () => {
  const [, shown = ""] = page.split("## What the compiler says")[1]?.split("```text\n") ?? [];
  const messages = shown
    .split("```")[0]
    ?.split("\n")
    .filter((line) => /^(?:Type|Argument) /.test(line))
    .map((line) => line.split("  ")[0] ?? "");
  expect(messages).toHaveLength(4);
  const diagnostics = messagesOf(`
    import * as z from "zod";
    import { call, Flow, map, Merge } from "../../../src/flow/index.js";
    import { defineTool } from "../../../src/tools/define-tool.js";
    const shippingRate = defineTool({ name: "r", description: "d", inputSchema: z.object({ item: z.string() }), execute: () => 5 });
    const state = { items: z.array(z.object({ item: z.string() })), rate: z.number(), rates: z.array(z.number()), item: z.string() };
    const args = { item: "x" };
    const flow = new Flow("order", { state, merge: { rates: Merge.append } });
    export const one = flow.node("rate", call(shippingRate, { args, into: "raet" }));
    export const two = flow.node("rates", map("itms", { tool: shippingRate, into: "rates" }));
    const nodes = flow.node("check", () => ({})).node("place", () => ({})).node("cancel", () => ({}));
    export const three = nodes.route("check", () => "plaec", ["place", "cancel"]);
    export const four = new Flow("order", { state, merge: { raets: Merge.append } });
  `);
  // In a union the compiler's order is its own.
  const words = (text: string) => (text.match(/"[^"]*"|\w+/g) ?? []).toSorted();
  expect(diagnostics.map((said) => words(said.split(/\n| Did you/)[0] ?? "")).slice(0, 3)).toEqual(
    messages?.map(words).slice(0, 3),
  );
  // This one begins with the type of the rule, which says nothing to anybody.
  expect(diagnostics[3]).toContain(messages?.[3]?.split("'...'")[1]);
  expect(diagnostics).toHaveLength(4);
});

/** What the compiler says about a file beside this one. */
function messagesOf(text: string): string[] {
  const file = join(repository, FOLDER, "what-the-compiler-says.ts");
  const config = ts.readConfigFile(join(repository, "tsconfig.json"), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config.config, include: [] }, ts.sys, repository);
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true) : read(name, ...rest);
  const program = ts.createProgram([file], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

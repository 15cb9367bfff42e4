// What every file of src looks like, checked on the syntax tree and not by the linter, so that a disable comment is no way out:
// a header comment, at most 300 code lines, no `any`, no `!`, no `export *`, no default export, no switched off compiler,
// no cast without a comment that says why it holds (schema.ts is the border where casts live), no clock and no randomness outside their ports, no lint rule switched off for a whole file or without a reason.
import ts from "typescript";
import { expect, test } from "vitest";
import { codeLines, nodesOf, sourceFiles, type SourceFile } from "../support/source-files.js";
import { repository } from "../support/temporary-copy.js";

const MAX_CODE_LINES = 300;

function nodeFault(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return "any";
  if (ts.isNonNullExpression(node)) return "non-null !";
  if (ts.isExportAssignment(node)) return "default export";
  if (node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent)) return "default export";
  if (ts.isExportSpecifier(node) && node.name.text === "default") return "default export";
  if (!ts.isExportDeclaration(node)) return undefined;
  return node.exportClause === undefined || ts.isNamespaceExport(node.exportClause) ? "export *" : undefined;
}

/** `as const` is no cast. A comment counts on the lines of the cast and the one above. */
function isUnexplainedCast(node: ts.Node, { path, text }: SourceFile): boolean {
  if (path === "src/tools/schema.ts" || !(ts.isAsExpression(node) || ts.isTypeAssertionExpression(node))) return false;
  if (ts.isConstTypeReference(node.type)) return false;
  const source = node.getSourceFile();
  const [first, last] = [node.getStart(), node.end].map((at) => source.getLineAndCharacterOfPosition(at).line);
  const lines = text.split("\n").slice(Math.max(0, (first ?? 0) - 1), (last ?? 0) + 1);
  return !lines.some((line) => /(^|\s)\/\/ \S|\*\/\s*$/.test(line));
}

const TEXT_FAULTS: readonly (readonly [string, RegExp, RegExp?])[] = [
  ["no header comment", /^(?!\/\/ \S)/],
  ["compiler switched off", /@ts-(ignore|expect-error|nocheck)/],
  ["reads the clock", /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, /^src\/async\//],
  ["randomness", /\bMath\.random\(|\brandomUUID\(|\brandomBytes\(|\bgetRandomValues\(/, /^src\/crypto\//],
  ["lint rule switched off for a file", /(eslint|oxlint)-disable(?!-(next-)?line)/],
  ["lint rule switched off without a reason", /(eslint|oxlint)-disable-(next-)?line(?!.* -- \S)/],
];

function faultsOf(file: SourceFile): string[] {
  const nodes = nodesOf(file);
  const faults = nodes.flatMap((node) => nodeFault(node) ?? []);
  for (const cast of nodes.filter((node) => isUnexplainedCast(node, file))) {
    faults.push(`a cast without a comment that says why it holds: ${cast.getText()}`);
  }
  for (const [fault, pattern, allowed] of TEXT_FAULTS) {
    if (pattern.test(file.text) && allowed?.test(file.path) !== true) faults.push(fault);
  }
  if (codeLines(file) > MAX_CODE_LINES) faults.push(`${codeLines(file)} code lines`);
  return faults.map((fault) => `${file.path}: ${fault}`);
}

test("every source file keeps the rules", () => {
  const files = sourceFiles(repository);
  expect(files.length).toBeGreaterThan(0);
  expect(files.flatMap(faultsOf)).toEqual([]);
});

test.each([
  ["any", "// Owns x.\nexport const a: any = 1;"],
  ["any", "// Owns x.\nexport const a = b as any; // sure"],
  ["a cast without a comment that says why it holds: b as C", "// Owns x.\n\nexport const a = b as C;"],
  ["non-null !", "// Owns x.\nexport const a = b!.c;"],
  ["export *", '// Owns x.\nexport * from "./b.js";'],
  ["export *", '// Owns x.\nexport * as b from "./b.js";'],
  ["default export", "// Owns x.\nexport default 1;"],
  ["default export", "// Owns x.\nexport default function a() {}"],
  ["default export", '// Owns x.\nexport { a as default } from "./b.js";'],
  ["no header comment", "export const a = 1; // Owns x."],
  ["compiler switched off", "// Owns x.\n// @ts-expect-error because\nexport const a = b;"],
  ["reads the clock", "// Owns x.\nexport const a = Date.now();"],
  ["randomness", "// Owns x.\nexport const a = crypto.randomUUID();"],
  ["lint rule switched off for a file", "// Owns x.\n/* oxlint-disable no-console */"],
  ["lint rule switched off without a reason", "// Owns x.\n// oxlint-disable-next-line no-console\nf();"],
  ["301 code lines", `// Owns x.\n${"f();\n".repeat(301)}`],
])("catches: %s", (fault, text) => {
  expect(faultsOf({ path: "src/tools/x.ts", text })).toEqual([`src/tools/x.ts: ${fault}`]);
});

test("does not mind comments, blank lines and what only looks alike", () => {
  const text = `// Owns x; never uses any of it.\n\n${"// more\n\n".repeat(400)}
    switch (a) { default: f(!b); }
    // oxlint-disable-next-line no-console -- the reason
    f();
    const a = [1] as const;
    // JSON.parse gave it.
    const b = a as C;
    const d = a as D; // made above`;
  expect(faultsOf({ path: "src/tools/x.ts", text })).toEqual([]);
});

test("L7: LangGraph's internal keys are named in one file", () => {
  const internal = /__pregel_|\bcheckpoint_map\b/;
  const home = "src/integrations/langgraph/pregel-internals.ts";
  const naming = sourceFiles(repository).filter(({ path, text }) => path !== home && internal.test(text));
  expect(naming.map(({ path }) => path)).toEqual([]);
});

// The lint rules that carry the conventions are on: each fires on a seeded violation in a copy.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

const SEEDS: Readonly<Record<string, string>> = {
  "typescript(no-explicit-any)": "export const a = (b: unknown) => b as any;",
  "typescript(no-non-null-assertion)": "export const a = (b: string | undefined) => b!;",
  "import(no-default-export)": "const a = 1;\nexport default a;",
  "eslint(no-console)": 'console.log("a");',
  "eslint(no-restricted-globals)": "setTimeout(() => {}, 1);",
  "eslint(no-restricted-imports)": 'import { HumanMessage } from "@langchain/core/messages";\nexport { HumanMessage };',
  "typescript(no-floating-promises)": "export const a = async () => {};\na();",
  "eslint(max-lines)": `export const a = [\n${"  1,\n".repeat(300)}];`,
  "eslint(max-lines-per-function)": `export function a(b: () => void) {\n${"  b();\n".repeat(60)}}`,
  "eslint(max-params)": "export const a = (b: 1, c: 1, d: 1, e: 1, f: 1) => [b, c, d, e, f];",
  "eslint(complexity)": `export const a = (b: number) => ${"b === 1 || ".repeat(12)}false;`,
  "eslint(max-depth)": "export const a = (b: boolean) => {\n  if (b) while (b) if (b) for (;;) if (b) return;\n};",
};

test("each rule fires on its seed in src", { timeout: 60_000 }, () => {
  const names = Object.keys(SEEDS);
  const files = Object.fromEntries(names.map((name, index) => [`src/approvals/seed-${index}.ts`, `${SEEDS[name]}\n`]));
  const root = temporaryCopy([".oxlintrc.json", "tsconfig.json"], files);
  const command = join(repository, "node_modules/oxlint/bin/oxlint");
  const options = ["--type-aware", "--deny-warnings", "--format", "unix", "src"];
  const { stdout, status } = spawnSync(process.execPath, [command, ...options], { cwd: root, encoding: "utf8" });
  expect(status).toBe(1);
  for (const [index, name] of names.entries()) {
    const found = stdout.split("\n").filter((line) => line.startsWith(`src/approvals/seed-${index}.ts:`));
    expect(found).toContainEqual(expect.stringContaining(name));
  }
});

// The layers of DESIGN section 5, twice: by dependency-cruiser with the rules of the repository, and by an own scan of the
// imports, so that a rule cannot be switched off in silence. Each rule is shown to fire on a seeded violation.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importsOf, sourceFiles, type SourceFile } from "../support/source-files.js";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

interface CruiseResult {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

function cruise(root: string): CruiseResult {
  const command = join(repository, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const options = ["--config", ".dependency-cruiser.cjs", "--output-type", "json", "src"];
  // The json reporter exits 0 whatever it found.
  const output = execFileSync(process.execPath, [command, ...options], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return JSON.parse(output) as CruiseResult;
}

const violationsOf = (result: CruiseResult) =>
  result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);

// ---- the own scan --------------------------------------------------------------------------------------------------

const LAYERS = [
  /^src\/(crypto\/|async\/|(errors|options)\.ts$)/,
  /^src\/(tools|context)\//,
  /^src\/(hooks|approvals|ledger|cache|journal|compression)\//,
  /^src\/executor\//,
  /^src\/flow\//,
  /^src\/(index|spi|integration)\.ts$/,
  /^src\/(integrations|stores|testing)\//,
];
const ADAPTERS = LAYERS.length - 1;
const ORDER = /^src\/executor\/(stages\/|stages\.ts|executor\.ts)/;
const SURFACES = /^src\/(index|spi|flow\/index)\.ts$/;

// Which code outside the package a file may see: the first line that matches the file decides.
const OUTSIDE: readonly (readonly [RegExp, RegExp])[] = [
  [/^src\/crypto\//, /^node:crypto$/],
  [/^src\/context\/current-context\.ts$/, /^node:async_hooks$/],
  [/^src\/tools\/schema\.ts$/, /^(@standard-schema\/spec|@cfworker\/json-schema|zod)(\/|$)/],
  [/^src\/tools\//, /^@standard-schema\/spec$/],
  [/^src\/stores\/sqlite\//, /^(node:|libsql$)/],
  // Drivers run in processes of their own, and effects are counted in a file.
  [/^src\/testing\/attacks\/driver-process\.ts$/, /^node:(child_process|url)$/],
  [/^src\/testing\/attacks\/(driver-host|stage|run-attacks)\.ts$/, /^node:(fs|os|path)$/],
  // LangGraph validates resume values with zod schemas only; zod is its peer, too.
  [/^src\/integrations\/langgraph\/raise-interrupt\.ts$/, /^(@langchain\/langgraph|zod)$/],
  [/^src\/integrations\/langgraph\//, /^@langchain\/(langgraph|langgraph-checkpoint|core)(\/|$)/],
  [/^src\/integrations\/langchain-core\//, /^@langchain\/core(\/|$)/],
  [/^src\/integrations\/langchain\//, /^(@langchain\/core|langchain)(\/|$)/],
  [/^src\/integrations\/opentelemetry\//, /^@opentelemetry\/api$/],
];

const layerOf = (path: string) => LAYERS.findIndex((layer) => layer.test(path));
const adapterOf = (path: string) => /^src\/(testing|(?:integrations|stores)\/[^/]+)\//.exec(path)?.[1] ?? "";

function adapterMayImport(from: string, to: string): boolean {
  if (SURFACES.test(to) || adapterOf(from) === adapterOf(to)) return true;
  if (to.startsWith("src/stores/sql/")) return from.startsWith("src/stores/");
  if (to.startsWith("src/integrations/langchain-core/"))
    return /^src\/integrations\/(langgraph|langchain)\//.test(from);
  return to === "src/integrations/langgraph/index.ts" && from.startsWith("src/integrations/langchain/agents/");
}

function mayImport(from: string, to: string): boolean {
  if (!to.startsWith("src/")) return OUTSIDE.find(([files]) => files.test(from))?.[1].test(to) ?? false;
  if (layerOf(from) === ADAPTERS) return adapterMayImport(from, to);
  if (from.startsWith("src/executor/stages/") && ORDER.test(to)) return false;
  if (layerOf(from) < ADAPTERS - 1 && to.endsWith("/index.ts")) return false;
  return layerOf(to) !== -1 && layerOf(to) <= layerOf(from);
}

function forbiddenImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter((to) => !mayImport(file.path, to))
      .map((to) => `${file.path} -> ${to}`),
  );
}

// ---- seeds ---------------------------------------------------------------------------------------------------------

// Rule, file, and the one import that breaks it. Every file is new, so that the state of src does not matter.
const SEEDS: readonly (readonly [string, string, string])[] = [
  ["layer-0-looks-down-only", "src/crypto/seed-up.ts", "../tools/seed-low.js"],
  ["layer-1-looks-down-only", "src/tools/seed-up.ts", "../approvals/seed-low.js"],
  ["layer-2-looks-down-only", "src/approvals/seed-up.ts", "../executor/seed-low.js"],
  ["layer-3-looks-down-only", "src/executor/seed-up.ts", "../integrations/langgraph/seed-low.js"],
  ["adapters-use-surfaces", "src/integrations/langgraph/seed-deep.ts", "../../approvals/seed-low.js"],
  ["adapters-do-not-know-each-other", "src/integrations/langgraph/seed-across.ts", "../langchain/seed-low.js"],
  [
    "langchain-kernel-is-for-langchain-adapters",
    "src/testing/seed-kernel.ts",
    "../integrations/langchain-core/seed-low.js",
  ],
  ["only-agents-know-langgraph", "src/integrations/langchain/seed-graph.ts", "../langgraph/seed-low.js"],
  ["core-has-no-packages", "src/approvals/seed-package.ts", "zod"],
  ["core-has-no-packages", "src/hooks/seed-langchain.ts", "@langchain/core/messages"],
  ["langgraph-only-in-its-folder", "src/integrations/langchain/seed-langgraph.ts", "@langchain/langgraph"],
  ["node-builtins-in-two-places", "src/executor/seed-builtin.ts", "node:fs"],
  ["node-builtins-in-two-places", "src/testing/attacks/seed-builtin.ts", "node:child_process"],
  ["barrels-are-for-outsiders", "src/executor/seed-barrel.ts", "../hooks/index.js"],
  ["no-dev-dependency-in-src", "src/integrations/langchain/seed-dev.ts", "fast-check"],
  ["sql-kernel-is-for-stores", "src/testing/seed-sql.ts", "../stores/sql/seed-low.js"],
  ["stages-do-not-know-each-other", "src/executor/stages/seed-stage.ts", "./seed-low.js"],
];
const LOW = ["tools", "approvals", "executor", "executor/stages", "integrations/langgraph", "integrations/langchain"];
const TARGETS = [...LOW, "integrations/langchain-core", "stores/sql"].map((folder) => `src/${folder}/seed-low.ts`);
const CYCLE = { "src/async/seed-one.ts": "./seed-two.js", "src/async/seed-two.ts": "./seed-one.js" };

const seeded: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...TARGETS, "src/hooks/index.ts"].map((path) => [path, "export const seed = 1;\n"])),
  ...Object.fromEntries(SEEDS.map(([, path, to]) => [path, `import * as seed from "${to}";\nexport { seed };\n`])),
  // A cycle of types alone counts too.
  "src/ledger/seed-orphan.ts": "export const seed = 1;\n",
  "src/cache/seed/memory-seed.ts": "export const seed = 1;\n",
  "src/cache/seed/store.ts": 'export { seed } from "./memory-seed.js";\n',
  ...Object.fromEntries(Object.entries(CYCLE).map(([path, to]) => [path, `export type * as seed from "${to}";\n`])),
};

// ---- tests ---------------------------------------------------------------------------------------------------------

describe("dependency-cruiser", { timeout: 60_000 }, () => {
  test("sees every source file and finds nothing forbidden", () => {
    const result = cruise(repository);
    const seen = result.modules.map(({ source }) => source).filter((path) => path.startsWith("src/"));
    expect(seen.toSorted()).toEqual(sourceFiles(repository).map(({ path }) => path));
    expect(violationsOf(result)).toEqual([]);
  });

  test("catches each seeded violation", () => {
    const root = temporaryCopy([".dependency-cruiser.cjs", "tsconfig.json", "package.json", "src"], seeded);
    const found = violationsOf(cruise(root));
    for (const [rule, path] of SEEDS) expect(found).toContainEqual(expect.stringContaining(`${rule}: ${path} -> `));
    expect(found).toContainEqual(expect.stringContaining("no-cycles: src/async/seed-"));
    expect(found).toContainEqual(expect.stringContaining("ports-do-not-know-implementations: src/cache/seed/store.ts"));
    expect(found).toContainEqual(expect.stringContaining("no-orphans: src/ledger/seed-orphan.ts"));
  });
});

describe("own scan of the imports", () => {
  test("finds nothing forbidden", () => {
    const files = sourceFiles(repository);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter(({ path }) => layerOf(path) === -1).map(({ path }) => `${path}: in no layer`)).toEqual([]);
    expect(forbiddenImports(files)).toEqual([]);
  });

  test("catches each seeded violation", () => {
    const files = Object.entries(seeded).map(([path, text]) => ({ path, text }));
    const found = forbiddenImports(files);
    for (const [, path] of SEEDS) expect(found).toContainEqual(expect.stringContaining(`${path} -> `));
    expect(found).toHaveLength(SEEDS.length);
  });

  test("reads every kind of import", () => {
    const text = `import type { A } from "./a.js"; export { b } from "../b.js"; const c = import("node:fs");
      type D = import("zod").D; import "./e.js"; export * from "./f.js"; // import "./g.js"`;
    expect(importsOf({ path: "src/tools/x.ts", text }).toSorted()).toEqual(
      ["node:fs", "src/b.ts", "src/tools/a.ts", "src/tools/e.ts", "src/tools/f.ts", "zod"].toSorted(),
    );
  });
});

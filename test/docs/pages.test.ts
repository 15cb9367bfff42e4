// The pages: in step with the source, within their limits, and complete. Links and code of all pages: links.test.ts.
import { spawnSync } from "node:child_process";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { readRows } from "../../scripts/check-guarantees.mjs";
import { nodesOf, sourceFiles } from "../support/source-files.js";
import { repository } from "../support/temporary-copy.js";
import { page, script } from "./run-example.js";

const sources = sourceFiles(repository);
const lines = (name: string) => page(name).trimEnd().split("\n");
/** The first cell of every row of every table, without its backquotes. */
const rowNames = (text: string) =>
  [...text.matchAll(/^\| `?([^`|]+?)`? \|/gm)].map(([, name]) => name ?? "").filter((name) => !name.startsWith("-"));
const sectionOf = (text: string, title: string) => text.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";

test("snippets are in step with the examples", () => {
  const check = spawnSync(process.execPath, ["scripts/sync-snippets.mjs", "--check"], {
    cwd: repository,
    encoding: "utf8",
  });
  expect(check.stderr).toBe("");
  expect(check.status).toBe(0);
});

describe("README", () => {
  test("is short: 150 lines, and its example has about 20 besides imports", () => {
    expect(lines("README.md").length).toBeLessThanOrEqual(150);
    const [, example = ""] = page("README.md").split("```ts\n");
    const [code = ""] = example.split("\n```");
    const statements = code.split("\n").filter((text) => text.trim() !== "" && !text.startsWith("import "));
    expect(statements.length).toBeLessThanOrEqual(22);
  });

  test("names commands that exist", () => {
    const named = [...page("README.md").matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name ?? "");
    expect(named).toContain("demo");
    for (const name of named) expect(script(name)).not.toBe("");
    expect(page("README.md")).toMatch(/^npm ci && npm test +# .*minutes/m);
    expect(script("test")).toBe("vitest run");
  });

  test("lists promises that are delivered, in their own words", () => {
    const rows = readRows(page("docs/guarantees.md"));
    const listed = [
      ...sectionOf(page("README.md"), "What it guarantees").matchAll(
        /^\| \[([A-Z]\d+)\]\(docs\/reference\/proofs\.md#([a-z0-9-]+)\) \| (.*) \|$/gm,
      ),
    ];
    expect(listed.length).toBeGreaterThan(8);
    for (const [, id, anchor, words] of listed) {
      const row = rows.find((found) => [found.id, found.part].filter(Boolean).join("-").toLowerCase() === anchor);
      expect(row).toMatchObject({ id, promise: words, delivered: "yes" });
    }
  });

  test("names the peer ranges of package.json", () => {
    const { peerDependencies } = JSON.parse(page("package.json")) as { peerDependencies: Record<string, string> };
    for (const range of Object.values(peerDependencies)) {
      expect(page("README.md")).toContain(range.replaceAll("||", "or"));
    }
  });
});

test("ARCHITECTURE has at most 200 lines and a reason for every stage", () => {
  const text = page("ARCHITECTURE.md");
  expect(lines("ARCHITECTURE.md").length).toBeLessThanOrEqual(200);
  const all = [...page("src/executor/stages.ts").matchAll(/^ {2}(\w+),/gm)].map(([, name]) => name ?? "");
  // A gate passes some of the stages of a call, and one of its own, which stands among those that prepare.
  const named = [...new Set(all)].toSorted((a, b) => Number(a === "openGate") - Number(b === "openGate"));
  expect(named.length).toBeGreaterThan(10);
  const explained = rowNames(sectionOf(text, "The order of the stages"));
  const stages = explained.filter((name) => name !== "prepare" && name !== "perform, outermost first");
  expect(stages.toSorted((a, b) => Number(a === "openGate") - Number(b === "openGate"))).toEqual(named);
});

describe("options.md has a row for", () => {
  const options = page("docs/reference/options.md");

  test.each([
    ["Tool options", "src/tools/spec.ts", "ToolOptions"],
    ["Executor options", "src/executor/parts.ts", "ExecutorOptions"],
    ["`toolNode` options", "src/integrations/langgraph/tool-node.ts", "ToolNodeOptions"],
    ["`LangGraphApproval` options", "src/approvals/signed-approval.ts", "SignedApprovalOptions"],
    ["`agentAdapterMiddleware` options", "src/integrations/langchain/agents/middleware.ts", "AgentAdapterOptions"],
  ])("%s: every member of the type, and nothing else", (title, file, type) => {
    const rows = rowNames(sectionOf(options, title)).filter((name) => name !== "option");
    const more =
      type === "ToolNodeOptions" ? membersOf("src/integrations/langgraph/node-settings.ts", "DurableOptions") : [];
    expect(rows.toSorted()).toEqual([...membersOf(file, type), ...more].toSorted());
  });

  // Every exported type of options, and the section that has it.
  const sections: Readonly<Record<string, string>> = {
    AgentAdapterOptions: "`agentAdapterMiddleware` options",
    ApproveOptions: "Tests of stores, savers and stacks",
    BatchRunOptions: "Runs and calls",
    BudgetHookOptions: "Hooks",
    CallbackApprovalOptions: "Other ports",
    CheckSaverOptions: "Tests of stores, savers and stacks",
    ClaimContractOptions: "Tests of stores, savers and stacks",
    CompileFlowOptions: "Flows",
    CompressionOptions: "Compression options",
    ContextOptions: "Runs and calls",
    ContractOptions: "Tests of stores, savers and stacks",
    DeferredApprovalOptions: "Other ports",
    DurableOptions: "`toolNode` options",
    EdgeOptions: "Flows",
    EncryptedSaverOptions: "Other nodes of a graph",
    ExecutorOptions: "Executor options",
    FanOutOptions: "Other nodes of a graph",
    FlowCallOptions: "Flows",
    FlowOptions: "Flows",
    HostedToolsOptions: "Other nodes of a graph",
    ImportOptions: "`importLangChain` options",
    LangGraphApprovalOptions: "`LangGraphApproval` options",
    LedgerContractOptions: "Tests of stores, savers and stacks",
    LoggingHookOptions: "Hooks",
    MemoryApprovalStoreOptions: "Other ports",
    MemoryCacheOptions: "Other ports",
    MemoryClaimStoreOptions: "Other ports",
    NodeOptions: "Flows",
    OneUseOptions: "Other nodes of a graph",
    OpenTelemetryHookOptions: "Hooks",
    PostgresOptions: "Stores",
    PruneOptions: "Stores",
    ReducerOptions: "Other nodes of a graph",
    RegistryOptions: "Registry options",
    ResumeFlowOptions: "Flows",
    ResumeOptions: "Other nodes of a graph",
    RetryOptions: "Retry options",
    RouteOptions: "Flows",
    RunAttacksOptions: "Tests of stores, savers and stacks",
    RunCompiledOptions: "Flows",
    RunFlowOptions: "Flows",
    RunOptions: "Runs and calls",
    SignedApprovalOptions: "`LangGraphApproval` options",
    SignerOptions: "Other ports",
    SigningOptions: "Other ports",
    SqliteOptions: "Stores",
    ToolNodeOptions: "`toolNode` options",
    ToolOptions: "Tool options",
    ToolResultOptions: "Compression options",
    ToolTaskOptions: "Other nodes of a graph",
    WaitOptions: "Stores",
  };
  // Types made of another one, whose members are named there.
  const derived = new Set(["HostedToolsOptions", "ImportOptions", "LangGraphApprovalOptions"]);

  test("every exported type of options", () => {
    const entries = Object.values(
      JSON.parse(page("test/package/public-api.json")) as Record<string, { types: string[] }>,
    );
    const exported = entries.flatMap(({ types }) => types.filter((name) => name.endsWith("Options")));
    expect(Object.keys(sections)).toEqual([...new Set(exported)].toSorted());
  });

  test.each(Object.entries(sections))("%s: every member, in %s", (type, title) => {
    const section = sectionOf(options, title);
    expect(section).not.toBe("");
    if (derived.has(type)) return;
    const code = new Set([...section.matchAll(/`[^`]+`/g)].flatMap(([span]) => span.match(/\w+/g) ?? []));
    const members = allMembersOf(type);
    expect(members.length).toBeGreaterThan(0);
    expect(members.filter((member) => !code.has(member))).toEqual([]);
  });

  test("every ledger status", () => {
    const statuses = literalsOf("src/ledger/ledger.ts", "LedgerStatus");
    expect(rowNames(sectionOf(options, "Ledger statuses")).toSorted()).toEqual([...statuses, "status"].toSorted());
  });
});

test("errors.md has every kind once, under those who see it, and no other", async () => {
  const text = page("docs/reference/errors.md");
  const kinds = literalsOf("src/errors.ts", "ErrorKind");
  const errors: Readonly<Record<string, unknown>> = await import("../../src/errors.js");
  const isForTheModel = (kind: string) =>
    Reflect.construct(errors[kind] as new (m: string) => { modelVisible: boolean }, ["x"]).modelVisible;
  for (const [title, visible] of [
    ["For the model", true],
    ["For the program", false],
  ] as const) {
    const rows = rowNames(sectionOf(text, title)).filter((name) => name !== "kind");
    expect(rows).toEqual(kinds.filter((kind) => isForTheModel(kind) === visible));
  }
  for (const row of text.matchAll(/^\| `[A-Z]\w+` \|(.*)\|$/gm)) {
    expect((row[1] ?? "").split("|").map((cell) => cell.trim() !== "")).toEqual([true, true, true]);
  }
});

test("wire-formats.md has every field of a request and of an answer", () => {
  const text = page("docs/reference/wire-formats.md");
  expect(rowNames(sectionOf(text, "The request")).toSorted()).toEqual(
    [...membersOf("src/approvals/request.ts", "ApprovalRequest"), "field"].toSorted(),
  );
  expect(rowNames(sectionOf(text, "The answer")).toSorted()).toEqual(
    ["Signed", "MacAnswer", "SignatureAnswer"]
      .flatMap((type) => membersOf("src/approvals/answer.ts", type))
      .concat("field")
      .toSorted(),
  );
});

function declaration(file: string, name: string): ts.Node {
  const found = nodesOf({ path: file, text: page(file) }).find(
    (node) => (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && node.name.text === name,
  );
  if (found === undefined) throw new Error(`${file} declares no ${name}`);
  return found;
}

function membersOf(file: string, type: string): string[] {
  const node = declaration(file, type);
  if (!ts.isInterfaceDeclaration(node)) throw new Error(`${type} is not an interface`);
  return node.members.flatMap((member) => (member.name && ts.isIdentifier(member.name) ? [member.name.text] : []));
}

/** With what it extends, wherever they are declared. */
function allMembersOf(type: string): string[] {
  for (const file of sources) {
    if (!new RegExp(`interface ${type}\\b`).test(file.text)) continue;
    const node = declaration(file.path, type);
    if (!ts.isInterfaceDeclaration(node)) continue;
    const parents = (node.heritageClauses ?? []).flatMap(({ types }) =>
      types.map(({ expression }) => expression.getText()),
    );
    return [...membersOf(file.path, type), ...parents.flatMap(allMembersOf)];
  }
  throw new Error(`no file declares ${type}`);
}

function literalsOf(file: string, type: string): string[] {
  const node = declaration(file, type);
  if (!ts.isTypeAliasDeclaration(node) || !ts.isUnionTypeNode(node.type)) throw new Error(`${type} is not a union`);
  return node.type.types.flatMap((part) =>
    ts.isLiteralTypeNode(part) && ts.isStringLiteral(part.literal) ? [part.literal.text] : [],
  );
}

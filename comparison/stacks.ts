// What is compared: one entry for each column of the table, with the options it is used with and where its documentation says so.

import type { JsonValue } from "../src/index.js";

export interface Stack {
  /** For `--only`; the part before the colon names all columns of one package. */
  readonly id: string;
  /** Heads the column, after the package and its version. */
  readonly variant: string;
  /** The package that is measured first; then those its driver is used with. Their `engines` say which Node it needs. */
  readonly packages: readonly string[];
  /** From this folder. */
  readonly driver: string;
  readonly settings: JsonValue;
  /** The options that were chosen, as a sentence for the document. */
  readonly options: string;
  /** The vendor's own pages that recommend them: addresses, or for ours paths from docs/. */
  readonly docs: readonly string[];
  /** Installed by the root's lock instead of this folder's. */
  readonly isOurs?: true;
}

const LANGCHAIN_DOCS = [
  "https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop",
  "https://docs.langchain.com/oss/javascript/langgraph/interrupts",
];
const OPENAI_DOCS = ["https://openai.github.io/openai-agents-js/guides/human-in-the-loop/"];
const AI_DOCS = ["https://ai-sdk.dev/docs/agents/tool-approvals"];
const MASTRA_DOCS = ["https://mastra.ai/docs/agents/human-in-the-loop"];
const ADK_DOCS = ["https://google.github.io/adk-docs/tools-custom/confirmation/"];
const OURS = {
  packages: ["agent-adapter", "@langchain/langgraph", "@langchain/core", "@langchain/langgraph-checkpoint-sqlite"],
  isOurs: true,
} as const;
/** What the drivers of ours set; everything else is as it comes. */
const SET =
  "`requestTtlMs` of 3 days (by default requests wait for ever; `expired/request` needs an end), a clock that the kit can move, SQLite's `busy_timeout` of 5 seconds for the checkpointer";

export const STACKS: readonly Stack[] = [
  {
    ...OURS,
    id: "agent-adapter:readme",
    variant: "toolNode, SqliteSaver, no claims",
    driver: "../test/attack-kit/drivers/tool-node.ts",
    settings: { engine: "sqlite", claims: false },
    options: `One \`toolNode\` in a StateGraph and answers signed with a shared key, as in the README, on SqliteSaver. Set: ${SET}.`,
    docs: ["../README.md#a-call-that-waits-for-a-human"],
  },
  {
    ...OURS,
    id: "agent-adapter:tool-node",
    variant: "toolNode, SqliteSaver, claims in SQLite",
    driver: "../test/attack-kit/drivers/tool-node.ts",
    settings: { engine: "sqlite" },
    options: "As without claims, with `claims` of `openSqlite` in a file of their own, which no case puts back.",
    docs: ["guide/deployment.md#what-holds-when"],
  },
  {
    ...OURS,
    id: "agent-adapter:fan-out",
    variant: "fanOut to oneUse, SqliteSaver, claims in SQLite",
    driver: "../test/attack-kit/drivers/one-use.ts",
    settings: { engine: "sqlite" },
    options:
      "`fanOut` sends each call to a `oneUse` node, so that they wait together; options as with `toolNode` and claims.",
    docs: ["guide/own-nodes.md#parallel-approvals"],
  },
  {
    ...OURS,
    id: "agent-adapter:middleware",
    variant: "agentAdapterMiddleware, SqliteSaver, claims in SQLite",
    packages: ["agent-adapter", "langchain", ...OURS.packages.slice(1)],
    driver: "../test/attack-kit/drivers/agent.ts",
    settings: { engine: "sqlite" },
    options: "`agentAdapterMiddleware` in LangChain's createAgent; options as with `toolNode` and claims.",
    docs: ["guide/langchain-agents.md"],
  },
  {
    id: "langchain:memory",
    variant: "humanInTheLoopMiddleware, MemorySaver",
    packages: ["langchain", "@langchain/langgraph", "@langchain/core"],
    driver: "drivers/langchain.ts",
    settings: "memory",
    options:
      "createAgent with humanInTheLoopMiddleware, `interruptOn: true` for each tool that asks, resumed by interrupt id.",
    docs: LANGCHAIN_DOCS,
  },
  {
    id: "langchain:sqlite",
    variant: "humanInTheLoopMiddleware, SqliteSaver",
    packages: [
      "langchain",
      "@langchain/langgraph",
      "@langchain/core",
      "@langchain/langgraph-checkpoint-sqlite",
      "better-sqlite3",
    ],
    driver: "drivers/langchain.ts",
    settings: "sqlite",
    options: "As on MemorySaver, with SqliteSaver.",
    docs: LANGCHAIN_DOCS,
  },
  {
    id: "openai:server",
    variant: "RunState kept by the server",
    packages: ["@openai/agents"],
    driver: "drivers/openai-agents.ts",
    settings: "server",
    options: "`needsApproval: true`; RunState serialized to a file of the server, replaced after each run.",
    docs: OPENAI_DOCS,
  },
  {
    id: "openai:client",
    variant: "RunState along with the request",
    packages: ["@openai/agents"],
    driver: "drivers/openai-agents.ts",
    settings: "client",
    options: "`needsApproval: true`; RunState serialized and sent along with the request, so a client holds it.",
    docs: OPENAI_DOCS,
  },
  {
    id: "ai:secret",
    variant: "with the approval secret",
    packages: ["ai"],
    driver: "drivers/ai-sdk.ts",
    settings: "secret",
    options: "ToolLoopAgent, `toolApproval`, `experimental_toolApprovalSecret`; the client holds the messages.",
    docs: AI_DOCS,
  },
  {
    id: "ai:plain",
    variant: "without the approval secret",
    packages: ["ai"],
    driver: "drivers/ai-sdk.ts",
    settings: "plain",
    options: "ToolLoopAgent, `toolApproval`, no secret (the default); the client holds the messages.",
    docs: AI_DOCS,
  },
  {
    id: "mastra:plain",
    variant: "requireApproval, LibSQL",
    packages: ["@mastra/core", "@mastra/libsql", "@mastra/memory"],
    driver: "drivers/mastra.ts",
    settings: "plain",
    options: "`requireApproval: true`, LibSQLStore, Memory; the waiting run is found with listSuspendedRuns.",
    docs: MASTRA_DOCS,
  },
  {
    id: "mastra:bound",
    variant: "requireApproval, LibSQL, documented binding of arguments",
    packages: ["@mastra/core", "@mastra/libsql", "@mastra/memory"],
    driver: "drivers/mastra.ts",
    settings: "bound",
    options:
      "As without the binding, with a beforeToolCall hook and a table of approved fingerprints, scoped to run and call and each consumed once.",
    docs: [...MASTRA_DOCS, "https://mastra.ai/docs/agents/human-in-the-loop#bind-approval-to-the-exact-tool-arguments"],
  },
  {
    id: "adk:memory",
    variant: "requireConfirmation, InMemorySessionService",
    packages: ["@google/adk"],
    driver: "drivers/google-adk.ts",
    settings: "memory",
    options: "FunctionTool with `requireConfirmation: true`, a resumable runner, InMemorySessionService.",
    docs: ADK_DOCS,
  },
  {
    id: "adk:database",
    variant: "requireConfirmation, DatabaseSessionService (SQLite)",
    packages: ["@google/adk", "@mikro-orm/better-sqlite", "better-sqlite3"],
    driver: "drivers/google-adk.ts",
    settings: "database",
    options:
      "As in memory, on DatabaseSessionService with SQLite. Its documentation lists this service as not supported with confirmations; the measured version runs with it.",
    docs: ADK_DOCS,
  },
];

// What Mastra's documentation describes under "Bind approval to the exact tool arguments": approved fingerprints in durable storage,
// scoped to the run and the tool call, each consumed once. Its sample keeps them in a Set; this is the same on a table.
//   https://mastra.ai/docs/agents/human-in-the-loop#bind-approval-to-the-exact-tool-arguments

import { createHash } from "node:crypto";
import type { Client } from "@libsql/client";
import { RequestContext } from "@mastra/core/request-context";
import type { JsonValue } from "../../src/index.js";
import type { AttackTool } from "../../src/testing/attacks/driver.js";

const TABLE = `CREATE TABLE IF NOT EXISTS approved (
  run TEXT, call TEXT, fingerprint TEXT, consumed INTEGER DEFAULT 0, PRIMARY KEY (run, call))`;
const ADD = "INSERT INTO approved (run, call, fingerprint) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const CONSUME = "UPDATE approved SET consumed = 1 WHERE run = ? AND call = ? AND fingerprint = ? AND consumed = 0";

interface Reviewed {
  readonly runId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: JsonValue;
}

interface HookCall {
  readonly toolName: string;
  readonly input: unknown;
  readonly context: unknown;
}

export class ApprovedOnce {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open(client: Client): Promise<ApprovedOnce> {
    await client.execute(TABLE);
    return new ApprovedOnce(client);
  }

  /** Before approveToolCall; its request context tells the hook which run it is. */
  async add({ runId, toolCallId, toolName, args }: Reviewed): Promise<RequestContext> {
    await this.#client.execute({ sql: ADD, args: [runId, toolCallId, fingerprint(toolName, args)] });
    return new RequestContext([["runId", runId]]);
  }

  hook(tools: readonly AttackTool[]) {
    const sensitive = new Set(tools.filter(({ asks }) => asks).map(({ name }) => name));
    return async ({ toolName, input, context }: HookCall) => {
      if (!sensitive.has(toolName)) return;
      const { toolCallId = "", requestContext } = contextOf(context);
      const run = String(requestContext?.get("runId"));
      const { rowsAffected } = await this.#client.execute({
        sql: CONSUME,
        args: [run, toolCallId, fingerprint(toolName, input)],
      });
      if (rowsAffected === 1) return;
      return { proceed: false as const, output: `Tool call blocked: approval did not match ${toolName} arguments.` };
    };
  }
}

/** A tool's execution context; the hook's type leaves it open. */
function contextOf(context: unknown): { readonly toolCallId?: string; readonly requestContext?: RequestContext } {
  return typeof context === "object" && context !== null ? context : {};
}

/** A stable hash of the name and the arguments, whatever their order. */
function fingerprint(toolName: string, args: unknown): string {
  const members = Object.entries(args ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([toolName, members]))
    .digest("hex");
}

// The same tools behind an executor: stages 2 to 4 of docs/tutorial.md.

import { Executor, Registry } from "agent-adapter";
import { importLangChain } from "agent-adapter/langchain";
import { LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { z } from "zod";
import { ran, shippingRate } from "./shop.js";

// region: registry
const registry = new Registry();
importLangChain(registry, [shippingRate], { effects: "read" }); // the LangChain tool stays as it is

registry.tool({
  name: "send_statement",
  description: "Send the account statement for a period (needs approval).",
  inputSchema: z.object({ period: z.string().regex(/^\d{4}-\d{2}$/) }),
  confirm: true,
  effects: "destructive",
  execute: ({ period }) => {
    ran.push(`send_statement ${period}`);
    return `sent ${period}`;
  },
});
// endregion

export const demoKey = "demo only: load yours from a secret store";
// region: executor
export const port = new LangGraphApproval({ key: demoKey }); // 16 bytes or more, the same in every process
export const executor = new Executor(registry, { approval: port });
// endregion

// region: tool-node
export const tools = toolNode(registry, { executor });
// endregion

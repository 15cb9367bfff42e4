// `INTEGRATION`: LangGraph under the names that every adapter shares.

import { getConfig } from "@langchain/langgraph";
import type { ToolNode } from "@langchain/langgraph/prebuilt";
import { Registry, type Integration } from "../../index.js";
import { compileFlow } from "./compile-flow/compile-flow.js";
import { membersOf, nameIn } from "./members.js";
import { toolNode } from "./tool-node.js";

/** A tool call as messages carry it. */
export interface ToolCallLike {
  readonly id?: string | undefined;
}

/** What every adapter offers, and flows. */
export interface LangGraphIntegration extends Integration<ToolNode, ToolCallLike> {
  readonly compileFlow: typeof compileFlow;
}

export const INTEGRATION: LangGraphIntegration = Object.freeze({
  name: "langgraph",
  exportTool: (spec, executor) => toolNode(new Registry([spec]), executor === undefined ? {} : { executor }),
  bindContext(toolCall) {
    const keys = membersOf(membersOf(currentConfig())["configurable"]);
    const threadId = nameIn(keys["thread_id"]);
    return { runId: nameIn(keys["run_id"]) ?? threadId, threadId, callId: nameIn(toolCall.id) };
  },
  compileFlow,
} satisfies LangGraphIntegration);

/** Outside a graph there is none. */
function currentConfig(): unknown {
  try {
    return getConfig();
  } catch {
    return undefined;
  }
}

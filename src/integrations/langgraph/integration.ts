// `INTEGRATION`: LangGraph under the names that every adapter shares.

import { getConfig } from "@langchain/langgraph";
import type { ToolNode } from "@langchain/langgraph/prebuilt";
import { Registry, type Integration } from "../../index.js";
import { fieldsOf } from "./app.js";
import { toolNode } from "./tool-node.js";

/** A tool call as messages carry it. */
export interface ToolCallLike {
  readonly id?: string | undefined;
}

export const INTEGRATION: Integration<ToolNode, ToolCallLike> = Object.freeze({
  name: "langgraph",
  exportTool: (spec, executor) => toolNode(new Registry([spec]), executor === undefined ? {} : { executor }),
  bindContext(toolCall) {
    const keys = fieldsOf(fieldsOf(currentConfig())["configurable"]);
    const threadId = textIn(keys["thread_id"]);
    return { runId: textIn(keys["run_id"]) ?? threadId, threadId, callId: textIn(toolCall.id) };
  },
} satisfies Integration<ToolNode, ToolCallLike>);

/** Outside a graph there is none. */
function currentConfig(): unknown {
  try {
    return getConfig();
  } catch {
    return undefined;
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

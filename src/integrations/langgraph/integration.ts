// `INTEGRATION`: LangGraph under the names that every adapter shares.

import type { ToolNode } from "@langchain/langgraph/prebuilt";
import { Registry, type Integration } from "../../index.js";
import { currentConfig, idsIn, nameIn } from "../langchain-core/call-context.js";
import { compileFlow } from "./compile-flow/compile-flow.js";
import { toolNode } from "./tool-node.js";

/** A tool call as messages carry it. */
export interface ToolCallLike {
  /** The call's id. */
  readonly id?: string | undefined;
}

/** What every adapter offers, and flows. */
export interface LangGraphIntegration extends Integration<ToolNode, ToolCallLike> {
  /** A flow as a `StateGraph`. */
  readonly compileFlow: typeof compileFlow;
}

/** What every adapter offers, under the names every adapter uses. */
export const INTEGRATION: LangGraphIntegration = Object.freeze({
  name: "langgraph",
  exportTool: (spec, executor) => toolNode(new Registry([spec]), executor === undefined ? {} : { executor }),
  bindContext(toolCall) {
    return { ...idsIn(currentConfig()), callId: nameIn(toolCall.id) };
  },
  compileFlow,
} satisfies LangGraphIntegration);

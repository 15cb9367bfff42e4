// `INTEGRATION`: LangChain under the names that every adapter shares.

import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { Integration } from "../../index.js";
import { currentConfig, idsIn, nameIn } from "../langchain-core/call-context.js";
import { exportTool } from "./export-tool.js";

/** A tool call as messages carry it. */
export interface ToolCallLike {
  /** The call's id. */
  readonly id?: string | undefined;
}

/** What every adapter offers, under the names every adapter uses. */
export const INTEGRATION: Integration<DynamicStructuredTool, ToolCallLike> = Object.freeze({
  name: "langchain",
  exportTool,
  bindContext: (toolCall) => ({ ...idsIn(currentConfig()), callId: nameIn(toolCall.id) }),
} satisfies Integration<DynamicStructuredTool, ToolCallLike>);

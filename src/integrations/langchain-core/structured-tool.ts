// A ToolSpec as a LangChain tool, for `bindTools` and for hosts that want StructuredTools.

import { DynamicStructuredTool } from "@langchain/core/tools";
import type { AnyToolSpec } from "../../index.js";
import { isReturnDirect } from "./return-direct.js";

/** Runs one call of the tool; `config` is the RunnableConfig of the caller. */
export type RunTool = (args: unknown, config: object) => Promise<unknown>;

export function structuredTool(spec: AnyToolSpec, run: RunTool): DynamicStructuredTool {
  return new DynamicStructuredTool({
    name: spec.name,
    description: spec.description,
    returnDirect: isReturnDirect(spec),
    // A copy that is not frozen: LangChain's validator writes on the schema it is given.
    schema: { ...structuredClone(spec.inputJsonSchema), type: "object" },
    func: (args, _runManager, config) => run(args, config ?? {}),
  });
}

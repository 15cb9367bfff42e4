// A ToolSpec as a LangChain tool, for `bindTools` and for hosts that want StructuredTools.

import { DynamicStructuredTool } from "@langchain/core/tools";
import type { AnyToolSpec, Executor } from "../../index.js";

/** Its function runs through the executor, so even a host that calls it directly gets hooks, approval and ledger. */
export function structuredTool(spec: AnyToolSpec, executor: Executor): DynamicStructuredTool {
  return new DynamicStructuredTool({
    name: spec.name,
    description: spec.description,
    schema: { ...spec.inputJsonSchema, type: "object" },
    func: (args) => executor.run(spec.name, args),
  });
}

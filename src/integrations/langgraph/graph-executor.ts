// The executor of nodes that were given none: the registry's shared one, with a port under this process's random key.

import type { Executor, Registry } from "../../index.js";
import { defaultExecutor } from "../../spi.js";
import { LangGraphApproval } from "./langgraph-approval.js";

export function graphExecutor(registry: Registry): Executor {
  return defaultExecutor(registry, () => ({ approval: new LangGraphApproval() }));
}

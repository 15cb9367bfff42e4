// The public surface of `agent-adapter/flow`. The flow builder itself is not here yet.

// ---- how writes of one step become one value
export { Merge, type MergeRule } from "./merge.js";

// The public surface of `agent-adapter/flow`.

// ---- drawing a flow
export { Flow, type FlowOptions, type InputOf, type StateOf, type WritesOf } from "./flow.js";
export type { EdgeOptions, NodeOptions, RouteOptions, StateSchema } from "./definition.js";
export {
  call,
  join,
  map,
  type CallNode,
  type FlowCallOptions,
  type FlowContext,
  type FlowFunction,
  type FlowRun,
  type JoinNode,
  type MapNode,
} from "./nodes.js";

// ---- how writes of one step become one value
export { Merge, type MergeRule } from "./merge.js";

// ---- running it in this process
export { resumeFlow, runFlow } from "./runner/local-runner.js";
export type { ResumeFlowOptions, RunFlowOptions, StepReport } from "./runner/open-run.js";
export {
  checkpointOf,
  type FlowDenied,
  type FlowDone,
  type FlowPaused,
  type FlowPending,
  type FlowResult,
} from "./runner/result.js";

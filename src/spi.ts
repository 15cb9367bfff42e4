// The seam that framework adapters and stores are written against. Experimental: no semantic versioning yet.

// ---- what an executor is made of, and running calls inside a task run of a host
export { partsOf } from "./executor/executor.js";
export type { ExecutorParts } from "./executor/parts.js";
export { defaultExecutor } from "./executor/default-executor.js";
export { currentScope, enterScope, refuseLate, type Scope } from "./executor/scope.js";
export { hiddenFailure, runBatch, type CallOutcome } from "./executor/run-many.js";
export { isHostSignal } from "./executor/control-flow.js";

// ---- task runs and what is remembered of them
export { groupSettled, TaskRun, type TaskHost } from "./journal/task-run.js";
export { holding, taskEntry, type TaskEntry } from "./journal/process-state.js";
export { recallMark, recallOutcome } from "./journal/recall.js";
export { finishedCalls } from "./journal/snapshot.js";
export {
  keptFromJson,
  keptToJson,
  outcomeFromJson,
  outcomeToJson,
  type KeptOutcome,
  type Outcome,
} from "./journal/outcome.js";

// ---- approvals
export { openAsk, sealAsk, type AskRecord } from "./approvals/ask.js";
export { deliveryOf, isAnswers, matchAnswers, type Answers } from "./approvals/answering.js";
export { isClaimed } from "./approvals/claims.js";
export { openMark, sealMark, type Mark } from "./approvals/mark.js";
export { follow } from "./approvals/transitions.js";
export {
  type AnswerablePort,
  type ApprovalPort,
  type Delivery,
  type PortHost,
  type Shown,
  type Verdict,
} from "./approvals/port.js";
export { parseAnswer, type OneAnswer } from "./approvals/answer.js";
export { decidedByOf, Signers, signersOf, type GivenDecision, type SignerOptions } from "./approvals/signers.js";
export { SignedApproval, type SignedApprovalOptions } from "./approvals/signed-approval.js";
export { fieldsOf, isApprovalDecision, parseDecision } from "./approvals/decision.js";
export { APPROVAL_TYPE } from "./approvals/review-request.js";
export { bindingOf } from "./approvals/request.js";

// ---- flows: what a compiler is written against
export { definitionOf } from "./flow/definition.js";
export { guardedBy, passGate } from "./flow/gate.js";
export { planOf, type FlowPlan, type PlanNode } from "./flow/plan.js";
export { MAX_STEPS, refuseMoreSteps } from "./flow/loops.js";
export { nextStep, reached } from "./flow/runner/progress.js";
export { asCarrier } from "./flow/runner/result.js";
export { isDenial } from "./flow/runner/step.js";
export {
  fieldValue,
  mergeField,
  parseInput,
  twoWriters,
  withEdit,
  type Field,
  type FlowState,
  type Writes,
} from "./flow/state.js";
export { checkTools, visitNode, type Visited } from "./flow/visit.js";
export { runEntry } from "./executor/run-entry.js";

// ---- stores
export {
  assertClaim,
  assertToken,
  changeRecord,
  decisionAbout,
  hasRunOut,
  limitOf,
  newRecord,
  RECORD_TRANSITIONS,
  unknownApproval,
  useDigest,
  type ApprovalFilter,
  type ApprovalRecord,
  type ApprovalStatus,
  type ApprovalStore,
  type RecordAction,
  type RecordChange,
  type RecordEvent,
  type RecordTransition,
} from "./approvals/store.js";
export type { ClaimStore } from "./approvals/claim-store.js";
export { CLOCK_SKEW_MS } from "./approvals/claims.js";
export type { ResultCache } from "./cache/cache.js";
export { FINAL_STATUSES } from "./ledger/ledger.js";

// ---- options
export { countOption, refuseUnknown } from "./options.js";
export { checkConcurrency } from "./async/limit.js";
export { withDeadline } from "./async/deadline.js";

// ---- bytes
export {
  canonicalJson,
  exactJson,
  isJson,
  isWellFormed,
  jsonCopy,
  sameJson,
  type JsonObject,
  type JsonValue,
} from "./crypto/canonical-json.js";
export { digest } from "./crypto/digest.js";
export { KeyRing, type Secrets } from "./crypto/keys.js";
export { openSealedBytes, sealBytes, Sealer } from "./crypto/seal.js";
export { randomId } from "./crypto/random.js";
export { startStopwatch, systemClock, type Stopwatch } from "./async/clock.js";

// ---- texts for a model
export { cutText } from "./compression/shorten.js";

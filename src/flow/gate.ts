// Gates: before anything of a step runs, every gate of it is decided, one by one in node-name order. Owns what is asked and what an
// edit may change; asking, claiming and using up are the executor's, as for a tool.
//   G1  a gate is a call of the visit it guards: its grant is used once, and each visit asks anew
//   G2  a grant is for the state it was asked about, all of it, and for no other
//   G3  an edit is some fields of the state; whoever comes later, gates of the same step included, sees it

import { digest } from "../crypto/digest.js";
import { isJsonObject, jsonCopy, NotJson, type JsonObject } from "../crypto/canonical-json.js";
import { FlowError } from "../errors.js";
import { partsOf, type Executor } from "../executor/executor.js";
import { runGate } from "../executor/run-gate.js";
import type { Scope } from "../executor/scope.js";
import { argumentParsing } from "../tools/arguments.js";
import { defineTool } from "../tools/define-tool.js";
import type { AnyToolSpec } from "../tools/spec.js";
import type { FlowPlan, PlanNode } from "./plan.js";
import { editSchema, withEdit, type FlowState } from "./state.js";

const SPECS = new WeakMap<PlanNode, AnyToolSpec>();

/** What every gate has in common. Its body does nothing: what is behind it runs when all gates of the step are passed. */
const PASSED = defineTool({
  name: "gate",
  description: "A gate before a node of a flow.",
  inputSchema: { type: "object" },
  confirm: true,
  execute: () => null,
});

/**
 * Pass the gate of a node, and give the state with the reviewer's edit.
 *
 * @throws ApprovalDenied, ApprovalExpired, ApprovalAlreadyDecided; FlowError when what is to be shown is not JSON; ToolUsageError
 * when this visit was asked about with another state; the host's pause
 */
export async function passGate(
  { plan, node, state }: { readonly plan: FlowPlan; readonly node: PlanNode; readonly state: FlowState },
  executor: Executor,
  scope: Scope,
): Promise<FlowState> {
  const gate = {
    spec: gateSpec(plan, node),
    guards: guardedBy(plan, node, state),
    payload: () => payloadOf(node, state),
  };
  return withEdit(state, await scope.task.attempt(() => runGate(partsOf(executor), scope, gate)));
}

/** All of the state, whatever of it is shown: what was approved is this, not the next thing that has the same name. */
export function guardedBy(plan: FlowPlan, node: PlanNode, state: FlowState): string {
  return digest("agent-adapter/arguments/v1", ["gate", plan.name, node.name, state]);
}

function payloadOf({ name, pause }: PlanNode, state: FlowState): JsonObject {
  // The builder's types say that it reads this flow's state.
  const shown: unknown = pause?.(state as never);
  try {
    const copy = jsonCopy(shown);
    if (isJsonObject(copy)) return copy;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
  }
  throw new FlowError(`node "${name}": what pause() gives a reviewer must be an object of JSON values`);
}

/** A gate as the executor sees it: named like its node, with the fields of the state for arguments of an edit. */
export function gateSpec(plan: FlowPlan, node: PlanNode): AnyToolSpec {
  const known = SPECS.get(node);
  if (known !== undefined) return known;
  const { name } = node;
  const spec = Object.freeze({
    ...PASSED,
    name,
    description: `Gate before "${name}" of the flow "${plan.name}". An edit changes fields of the state.`,
    definitionDigest: digest("agent-adapter/definition/v1", ["gate", plan.name, name, [...plan.fields.keys()]]),
    ...argumentParsing(name, editSchema(plan.fields)),
  });
  SPECS.set(node, spec);
  return spec;
}

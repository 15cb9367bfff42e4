// A checkpoint as one string that may lie open anywhere: sealed, and bound to the flow it was made by.

import type { JsonValue } from "../../crypto/canonical-json.js";
import type { KeyRing } from "../../crypto/keys.js";
import { openSeal, seal } from "../../crypto/seal.js";
import type { FlowPlan } from "../plan.js";
import { checkpointFromJson, checkpointToJson, type Checkpoint, type CheckpointParts } from "./checkpoint.js";

export function sealCheckpoint(ring: KeyRing, plan: FlowPlan, parts: CheckpointParts): string {
  return seal(ring, { purpose: "checkpoint", owner: ownerOf(plan) }, checkpointToJson(parts));
}

/** @throws FlowError when it was changed, is of another flow or another shape of it, or under another key */
export function openCheckpoint(ring: KeyRing, plan: FlowPlan, sealed: unknown): Checkpoint {
  return checkpointFromJson(openSeal(ring, { purpose: "checkpoint", owner: ownerOf(plan) }, sealed));
}

function ownerOf({ name, fingerprint }: FlowPlan): JsonValue {
  return ["flow", name, fingerprint];
}

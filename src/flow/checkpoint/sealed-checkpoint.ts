// A checkpoint as one string that may lie open anywhere: sealed, and bound to the flow it was made by.

import type { KeyRing } from "../../crypto/keys.js";
import { Sealer } from "../../crypto/seal.js";
import type { FlowPlan } from "../plan.js";
import { checkpointFromJson, checkpointToJson, type Checkpoint, type CheckpointParts } from "./checkpoint.js";

/** The checkpoints of one flow under one key. */
export class SealedCheckpoints {
  readonly #sealer: Sealer;

  constructor(ring: KeyRing, { name, fingerprint }: FlowPlan) {
    this.#sealer = new Sealer(ring, { purpose: "checkpoint", owner: ["flow", name, fingerprint] });
  }

  seal(parts: CheckpointParts): string {
    return this.#sealer.seal(checkpointToJson(parts));
  }

  /** @throws FlowError when it was changed, is of another flow or another shape of it, or under another key */
  open(sealed: unknown): Checkpoint {
    return checkpointFromJson(this.#sealer.open(sealed));
  }
}

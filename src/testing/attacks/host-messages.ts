// What the kit and a driver's process say to each other. All of it is JSON.

import type { JsonValue } from "../../index.js";
import type { AttackDriver, AttackTool } from "./driver.js";

/** The argument a driver's process is started with. */
export interface HostWorld {
  readonly module: string;
  readonly settings: JsonValue;
  /** The file that counts effects. */
  readonly effects: string;
  readonly storage: string;
  readonly tools: readonly Omit<AttackTool, "run">[];
}

/** Where bodies stop: the next one before or after its effect, or each one before. */
export type Hold = "before" | "after" | "each";

export interface ToHost {
  readonly n: number;
  readonly op: string;
  readonly args: readonly JsonValue[];
}

export type DriverFacts = Required<Pick<AttackDriver, "name" | "lacks" | "callerTricks">>;

export type FromHost =
  | { readonly ready: DriverFacts }
  | { readonly failed: string }
  | { readonly held: string }
  | { readonly stray: string }
  | { readonly n: number; readonly value: unknown }
  | { readonly n: number; readonly error: string };

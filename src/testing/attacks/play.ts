// A case while it is played: what its steps have made so far, and what all of them use to get at it.

import type { JsonObject, JsonValue } from "../../index.js";
import { sameJson, systemClock } from "../../spi.js";
import type { AttackCase, AttackOutcome, AttackStep, CaseCall } from "./attack-case.js";
import { Rejected, type DriverProcess } from "./driver-process.js";
import type { PendingCall } from "./driver.js";
import type { Effect, Stage } from "./stage.js";

/** The case is over. */
export class Verdict extends Error {
  readonly outcome: AttackOutcome;

  constructor(outcome: AttackOutcome, sentence: string) {
    super(sentence);
    this.outcome = outcome;
  }
}

/** A case while it is played. */
export interface Play {
  readonly attack: AttackCase;
  readonly stage: Stage;
  readonly tricks: readonly JsonValue[];
  readonly kill: (how: { readonly changed: boolean }) => Promise<void>;
  readonly shown: Map<string, PendingCall>;
  readonly answers: Map<string, JsonValue>;
  readonly saved: Map<string, JsonValue>;
  /** How many turns each thread has had. */
  readonly turns: Map<string, number>;
  /** What the stack said. */
  readonly notes: string[];
  /** Requests that nobody waits for yet. */
  readonly background: Promise<void>[];
  /** From here on a genuine step that fails is the attack's doing. */
  isAttacked: boolean;
  hasKilled: boolean;
}

/** A step of this name. */
export type Step<Name extends AttackStep["do"]> = Extract<AttackStep, { readonly do: Name }>;

/** An operation that the stack may refuse. */
export async function attempt(play: Play, process: DriverProcess, op: string, ...args: JsonValue[]): Promise<void> {
  await process.call(op, ...args).catch(refusal(play));
}

export function refusal(play: Play): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Rejected)) throw error;
    play.notes.push(error.message.replaceAll(/\s+/g, " "));
  };
}

export async function processOf(play: Play, { elsewhere }: { readonly elsewhere?: true }): Promise<DriverProcess> {
  return elsewhere === true ? play.stage.second() : play.stage.first();
}

export function callOf({ attack }: Play, name: string): CaseCall {
  const call = attack.calls[name];
  if (call === undefined) throw new Error(`${attack.id} names no call ${name}`);
  return call;
}

export function argsOf({ attack }: Play, { to, amount }: CaseCall): JsonObject {
  return { to, amount, ref: attack.id };
}

export function shownAs({ attack, shown }: Play, name: string): PendingCall {
  const found = shown.get(name);
  if (found === undefined) throw new Error(`${attack.id} has not looked at ${name}`);
  return found;
}

export function threadOf({ attack }: Play, thread = "a"): string {
  return `${attack.id.replaceAll("/", "-")}-${thread}`;
}

export function effectsOf({ stage, attack }: Play): readonly Effect[] {
  return stage.effects(attack.id);
}

export function isEffectOf(play: Play, { tool, args }: Effect, call: CaseCall): boolean {
  return tool === call.tool && sameJson(args, argsOf(play, call));
}

export function runs(play: Play, name: string): number {
  const call = callOf(play, name);
  return effectsOf(play).filter((effect) => isEffectOf(play, effect, call)).length;
}

/** Texts, numbers and objects of the kit's own, and what came through JSON. */
export function json(value: unknown): JsonValue {
  return value as JsonValue; // as said above
}

export function pause(ms: number): Promise<void> {
  return systemClock.sleep(ms, new AbortController().signal);
}

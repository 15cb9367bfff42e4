// What users, reviewers and the kit itself do in a case. Here is the verdict of a check, and of a call that should wait and does not.

import { sameJson } from "../../spi.js";
import { needsOf } from "./case-needs.js";
import { Rejected } from "./driver-process.js";
import type { AttackCall, PendingCall } from "./driver.js";
import {
  argsOf,
  attempt,
  callOf,
  effectsOf,
  isEffectOf,
  json,
  pause,
  refusal,
  runs,
  shownAs,
  threadOf,
  Verdict,
  type Play,
  type Step,
} from "./play.js";

/** How long a reviewer waits before he looks again. */
const LOST_MS = 300;
const ONE_AT_A_TIME = ": if your stack asks for one call at a time, name `several` under `lacks`";

export async function start(play: Play, step: Step<"start">): Promise<void> {
  const thread = threadOf(play, step.thread);
  return attempt(play, await play.stage.first(), "start", thread, json(callsOf(play, thread, step.calls)));
}

export async function startWithTricks(play: Play, { calls }: Step<"start with tricks">): Promise<void> {
  const first = await play.stage.first();
  for (const [index, trick] of play.tricks.entries()) {
    const thread = `${threadOf(play, "tricked")}${index}`;
    await attempt(play, first, "start", thread, json(callsOf(play, thread, calls)), trick);
  }
}

export async function look(play: Play, { call, thread, as }: Step<"look">): Promise<void> {
  const found = await waiting(play, call, thread);
  if (found === undefined) return lost(play, `nothing waits for ${call}${hintFor(play)}`);
  play.shown.set(as, found);
}

export async function decide(play: Play, step: Step<"approve" | "deny">): Promise<void> {
  const { shown, as, mayRefuse } = step;
  const edit = step.edit === undefined ? undefined : callOf(play, step.edit);
  const options =
    edit === undefined
      ? []
      : [{ edit: argsOf(play, edit), ...(step.withTool === true ? { editTool: edit.tool } : {}) }];
  try {
    const first = await play.stage.first();
    play.answers.set(as, await first.call(step.do, json(shownAs(play, shown)), ...options));
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    play.notes.push(error.message);
    if (mayRefuse !== true) lost(play, `the reviewer's side refused ${shown}`);
  }
}

const PATIENCE = 8;

export async function rescue(play: Play, step: Step<"rescue">): Promise<void> {
  for (let attempts = 0; attempts < PATIENCE; attempts += 1) {
    const shown = await askedAgain(play, step);
    if (shown !== undefined && (await answered(play, step, shown))) return;
    if (shown !== undefined) continue;
    // What a dead process was doing counts as lost after a time; where none has died, nothing is to be waited for.
    if (!play.hasKilled) return;
    await pause(LOST_MS);
  }
}

async function askedAgain(play: Play, { call, thread }: Step<"rescue">): Promise<PendingCall | undefined> {
  const shown = await waiting(play, call, thread);
  if (shown !== undefined) return shown;
  await attempt(play, await play.stage.first(), "goOn", threadOf(play, thread));
  return waiting(play, call, thread);
}

/** Did the answer have its effect? */
async function answered(play: Play, step: Step<"rescue">, shown: PendingCall): Promise<boolean> {
  const first = await play.stage.first();
  const answer = await first.call(step.with ?? "approve", json(shown)).catch(refusal(play));
  if (answer === undefined) return false;
  const before = runs(play, step.call);
  await attempt(play, first, "answer", threadOf(play, step.thread), json([{ to: shown, answer }]));
  return step.with === "deny" || runs(play, step.call) > before;
}

export function check(play: Play, { runs: expected, more = "ran twice" }: Step<"check">): void {
  const calls = Object.values(play.attack.calls);
  const foreign = effectsOf(play).find((effect) => !calls.some((call) => isEffectOf(play, effect, call)));
  if (foreign !== undefined) throw new Verdict("ran forged", `${foreign.tool} ran with arguments nobody asked for`);
  for (const [call, given] of Object.entries(expected)) {
    const [least, most] = typeof given === "number" ? [given, given] : given;
    const count = runs(play, call);
    if (count > most) throw new Verdict(more, `${call} ran ${times(count)}, at most ${times(most)} was approved`);
    if (count < least) throw new Verdict("thread lost", `${call} ran ${times(count)} instead of ${times(least)}`);
  }
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** What is most often the reason. */
function hintFor({ attack }: Play): string {
  return needsOf(attack).includes("several") ? ONE_AT_A_TIME : "";
}

/** It should wait, and does not. */
function lost(play: Play, sentence: string): never {
  const asking = Object.entries(play.attack.calls).filter(([, { tool }]) => tool !== "rate");
  const ran = asking.find(([name]) => runs(play, name) > 0);
  if (!play.isAttacked && ran !== undefined) throw new Verdict("ran forged", `${ran[0]} ran, and nobody was asked`);
  throw new Verdict(play.isAttacked ? "thread lost" : "error", sentence);
}

async function waiting(play: Play, call: string, thread: string | undefined): Promise<PendingCall | undefined> {
  const { tool, ...rest } = callOf(play, call);
  const args = argsOf(play, { tool, ...rest });
  const found = await (await play.stage.first()).call("pending", threadOf(play, thread)).catch(refusal(play));
  if (!Array.isArray(found)) return undefined;
  // What a driver promises to give.
  return (found as unknown as PendingCall[]).find((each) => each.tool === tool && sameJson(each.args, args));
}

function callsOf(play: Play, thread: string, names: readonly string[]): readonly AttackCall[] {
  const turn = (play.turns.get(thread) ?? 0) + 1;
  play.turns.set(thread, turn);
  return names.map((name) => {
    const call = callOf(play, name);
    return { id: call.id ?? `${name}-${turn}`, tool: call.tool, args: argsOf(play, call) };
  });
}

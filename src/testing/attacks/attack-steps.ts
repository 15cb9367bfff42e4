// What an attacker does in a case, and accidents. A step that the stack refuses is no failure of the case: the effects decide, at the
// next check.

import type { JsonValue } from "../../index.js";
import type { Send } from "./attack-case.js";
import type { PendingCall } from "./driver.js";
import { attempt, json, pause, processOf, shownAs, threadOf, Verdict, type Play, type Step } from "./play.js";
import { flip, hide, replaceAll, rewrite } from "./rewriting.js";

/** How long something beside a held body is given before the body goes on. */
const MOMENT_MS = 100;

export function sendNow(play: Play, step: Step<"send">): Promise<void> {
  return meanwhile(play, step, send(play, step));
}

export function sendBare(play: Play, step: Step<"send bare">): Promise<void> {
  return sendEach(play, step, step.values);
}

export async function sendForged(play: Play, step: Step<"send forged">): Promise<void> {
  return sendEach(play, step, await forgeries(play, step.to));
}

async function send(play: Play, given: Send): Promise<void> {
  const answers = answersOf(play, given);
  if (answers === undefined) return;
  const at = given.at === undefined ? undefined : shownAs(play, given.at).at;
  if (given.at !== undefined && at === undefined) throw new Verdict("error", "the driver names no point: give `at`");
  const more = at === undefined ? [] : [at];
  return attempt(play, await processOf(play, given), "answer", threadOf(play, given.thread), answers, ...more);
}

interface Target {
  readonly to: string;
  readonly thread?: string;
}

async function sendEach(play: Play, { to, thread }: Target, values: readonly JsonValue[]): Promise<void> {
  const first = await play.stage.first();
  for (const answer of values) {
    await attempt(play, first, "answer", threadOf(play, thread), json([{ to: shownAs(play, to), answer }]));
  }
}

async function forgeries(play: Play, shown: string): Promise<readonly JsonValue[]> {
  const forged = await (await play.stage.first()).call("forge", json(shownAs(play, shown)));
  return Array.isArray(forged) ? forged : [];
}

/** No body has its effect before all answers have come in, so that none of them is too late to race. */
export async function race(play: Play, { sends, times: each }: Step<"race">): Promise<void> {
  const { id } = play.attack;
  const processes = new Set(await Promise.all(sends.map((one) => processOf(play, one))));
  for (const process of processes) await process.call("hold", id, "each");
  const all = sends.flatMap((one) => Array.from({ length: each }, () => one));
  const over = Promise.all(all.map((one) => send(play, one)));
  for (const process of processes) await process.call("ping");
  await Promise.race([over, pause(MOMENT_MS)]);
  for (const process of processes) await process.call("release", id);
  await over;
}

/** Beside a body that is held it may well wait for that one: it is given a moment, and the end is waited for after the release. */
async function meanwhile(play: Play, where: { readonly elsewhere?: true }, done: Promise<void>): Promise<void> {
  if (play.background.length === 0) return done;
  play.background.push(done);
  // It has come in, however slow the machine is.
  await (await processOf(play, where)).call("ping");
  await Promise.race([done, pause(MOMENT_MS)]);
}

export async function sendAndHold(play: Play, step: Step<"send and hold">): Promise<void> {
  const process = await processOf(play, step);
  const held = process.held(play.attack.id);
  await process.call("hold", play.attack.id, step.hold);
  const sent = send(play, step);
  // The process may be killed under it.
  const settled = sent.catch(() => undefined);
  play.background.push(settled);
  await Promise.race([held, settled]);
  // A stack that asks before all calls of a turn runs the others now: what is killed next is to find them finished.
  if (Object.values(play.attack.calls).some(({ tool }) => tool === "rate")) await pause(MOMENT_MS);
}

/** A genuine answer, made over for another request. */
export function writeOver(play: Play, { answer, from, onto, as }: Step<"rewrite">): void {
  const given = play.answers.get(answer);
  if (given !== undefined) play.answers.set(as, rewrite(given, json(shownAs(play, from)), json(shownAs(play, onto))));
}

export function turn(play: Play, { answer, as }: Step<"flip">): void {
  const given = play.answers.get(answer);
  if (given !== undefined) play.answers.set(as, flip(given));
}

export function hideArgument(play: Play, { of, argument, as }: Step<"hide">): void {
  // A request with one argument less.
  play.shown.set(as, hide(json(shownAs(play, of)), argument) as unknown as PendingCall);
}

export function misaddress(play: Play, { of, as }: Step<"misaddress">): void {
  const shown = shownAs(play, of);
  play.shown.set(as, { ...shown, id: `${shown.id}0` });
}

export function replace(play: Play, { of, these, as }: Step<"replace">): void {
  const [shown, answer, saved] = [play.shown.get(of), play.answers.get(of), play.saved.get(of)];
  // The same shape, other leaves.
  if (shown !== undefined) play.shown.set(as, replaceAll(json(shown), these) as unknown as PendingCall);
  if (answer !== undefined) play.answers.set(as, replaceAll(answer, these));
  if (saved !== undefined) play.saved.set(as, replaceAll(saved, these));
}

export async function save(play: Play, { thread, as }: Step<"save">): Promise<void> {
  play.saved.set(as, await (await play.stage.first()).call("save", threadOf(play, thread)));
}

export async function load(play: Play, { thread, saved }: Step<"load">): Promise<void> {
  await (await play.stage.first()).call("load", threadOf(play, thread), play.saved.get(saved) ?? null);
}

// ---- accidents

export async function release(play: Play): Promise<void> {
  await (await play.stage.first()).call("release", play.attack.id);
  await Promise.all(play.background.splice(0));
}

export async function goOn(play: Play, step: Step<"go on">): Promise<void> {
  const process = await processOf(play, step);
  return meanwhile(play, step, attempt(play, process, "goOn", threadOf(play, step.thread)));
}

export async function kill(play: Play, { changed }: Step<"kill">): Promise<void> {
  play.hasKilled = true;
  await play.kill({ changed: changed === true });
  await Promise.all(play.background.splice(0));
}

export async function elapse(play: Play, { what }: Step<"elapse">): Promise<void> {
  await (await play.stage.first()).call("elapse", what);
}

/** `undefined` when one of them was never made, because a reviewer refused. */
function answersOf(play: Play, { answers }: Send): JsonValue | undefined {
  const made = answers.map(({ answer, to }) => ({ to: shownAs(play, to), answer: play.answers.get(answer) }));
  return made.some(({ answer }) => answer === undefined) ? undefined : json(made);
}

// What each step of a case does to a driver. A step that the stack refuses is no failure of the case: the effects decide, at the
// next check. Owns no verdict but the one of a check, and of a call that should wait and does not.

import type { JsonObject, JsonValue } from "../../index.js";
import { sameJson, systemClock } from "../../spi.js";
import type { AttackCase, AttackOutcome, AttackStep, CaseCall, Send } from "./attack-case.js";
import { Rejected, type DriverProcess } from "./driver-process.js";
import type { AttackCall, PendingCall } from "./driver.js";
import { flip, hide, replaceAll, rewrite } from "./rewriting.js";
import type { Effect, Stage } from "./stage.js";

/** How long something beside a held body is given before the body goes on. */
const MOMENT_MS = 100;
/** How long a reviewer waits before he looks again. */
const LOST_MS = 300;

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

/** @throws Verdict when the case is over, Gone when the process is */
export async function perform(play: Play, step: AttackStep): Promise<void> {
  switch (step.do) {
    case "start":
    case "start with tricks":
      return start(play, step);
    case "look":
      return look(play, step);
    case "approve":
    case "deny":
      return decide(play, step);
    case "rescue":
      return rescue(play, step);
    case "check":
      return check(play, step);
    case "rewrite":
    case "flip":
    case "replace":
    case "hide":
    case "misaddress":
      return tamper(play, step);
    case "save":
    case "load":
      return move(play, step);
    default:
      return attackBy(play, step);
  }
}

type Step<Name extends AttackStep["do"]> = Extract<AttackStep, { readonly do: Name }>;
type Tampering = Step<"rewrite" | "flip" | "replace" | "hide" | "misaddress">;
type Attacking = Exclude<
  AttackStep,
  Step<"start" | "start with tricks" | "look" | "approve" | "deny" | "rescue" | "check" | "save" | "load"> | Tampering
>;

async function attackBy(play: Play, step: Attacking): Promise<void> {
  play.isAttacked = true;
  switch (step.do) {
    case "send":
      return meanwhile(play, step, send(play, step));
    case "send bare":
      return sendEach(play, step, step.values);
    case "send forged":
      return sendEach(play, step, await forgeries(play, step.to));
    case "race":
      return race(play, step);
    case "send and hold":
      return sendAndHold(play, step);
    case "release": {
      await (await play.stage.first()).call("release", play.attack.id);
      await Promise.all(play.background.splice(0));
      return;
    }
    case "go on":
      return meanwhile(play, step, attempt(play, await processOf(play, step), "goOn", threadOf(play, step.thread)));
    case "kill":
      play.hasKilled = true;
      await play.kill({ changed: step.changed === true });
      await Promise.all(play.background.splice(0));
      return;
    case "elapse":
      await (await play.stage.first()).call("elapse", step.what);
      return;
  }
}

// ---- what an honest program does

async function start(play: Play, step: Step<"start" | "start with tricks">): Promise<void> {
  const first = await play.stage.first();
  if (step.do === "start") {
    const thread = threadOf(play, step.thread);
    return attempt(play, first, "start", thread, json(callsOf(play, thread, step.calls)));
  }
  for (const [index, trick] of play.tricks.entries()) {
    const thread = `${threadOf(play, "tricked")}${index}`;
    await attempt(play, first, "start", thread, json(callsOf(play, thread, step.calls)), trick);
  }
}

async function look(play: Play, { call, thread, as }: Step<"look">): Promise<void> {
  const found = await waiting(play, call, thread);
  if (found === undefined) return lost(play, `nothing waits for ${call}`);
  play.shown.set(as, found);
}

async function decide(play: Play, step: Step<"approve" | "deny">): Promise<void> {
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

async function rescue(play: Play, step: Step<"rescue">): Promise<void> {
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

function pause(ms: number): Promise<void> {
  return systemClock.sleep(ms, new AbortController().signal);
}

function check(play: Play, { runs: expected, more = "ran twice" }: Step<"check">): void {
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

// ---- what an attacker does

async function send(play: Play, given: Send): Promise<void> {
  const answers = answersOf(play, given);
  if (answers === undefined) return;
  const at = given.at === undefined ? undefined : shownAs(play, given.at).at;
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
async function race(play: Play, { sends, times: each }: Step<"race">): Promise<void> {
  const { id } = play.attack;
  const processes = new Set(await Promise.all(sends.map((one) => processOf(play, one))));
  for (const process of processes) await process.call("hold", id, "each");
  const all = Array.from({ length: each }, () => sends).flat();
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

async function sendAndHold(play: Play, step: Step<"send and hold">): Promise<void> {
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

function tamper(play: Play, step: Tampering): void {
  play.isAttacked = true;
  if (step.do === "hide" || step.do === "misaddress") {
    const shown = shownAs(play, step.of);
    // A request with one argument less.
    const hidden = () => hide(json(shown), step.do === "hide" ? step.argument : "") as unknown as PendingCall;
    play.shown.set(step.as, step.do === "hide" ? hidden() : { ...shown, id: `${shown.id}0` });
    return;
  }
  if (step.do === "replace") return replace(play, step);
  const answer = play.answers.get(step.answer);
  if (answer === undefined) return;
  const made =
    step.do === "flip" ? flip(answer) : rewrite(answer, json(shownAs(play, step.from)), json(shownAs(play, step.onto)));
  play.answers.set(step.as, made);
}

function replace(play: Play, { of, these, as }: Step<"replace">): void {
  const [shown, answer, saved] = [play.shown.get(of), play.answers.get(of), play.saved.get(of)];
  // The same shape, other leaves.
  if (shown !== undefined) play.shown.set(as, replaceAll(json(shown), these) as unknown as PendingCall);
  if (answer !== undefined) play.answers.set(as, replaceAll(answer, these));
  if (saved !== undefined) play.saved.set(as, replaceAll(saved, these));
}

async function move(play: Play, step: Step<"save" | "load">): Promise<void> {
  const first = await play.stage.first();
  const thread = threadOf(play, step.thread);
  if (step.do === "save") {
    play.saved.set(step.as, await first.call("save", thread));
    return;
  }
  play.isAttacked = true;
  return attempt(play, first, "load", thread, play.saved.get(step.saved) ?? null);
}

// ---- what they share

/** An operation that the stack may refuse. */
async function attempt(play: Play, process: DriverProcess, op: string, ...args: JsonValue[]): Promise<void> {
  await process.call(op, ...args).catch(refusal(play));
}

function refusal(play: Play): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Rejected)) throw error;
    play.notes.push(error.message.replaceAll(/\s+/g, " "));
  };
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

async function processOf(play: Play, { elsewhere }: { readonly elsewhere?: true }): Promise<DriverProcess> {
  return elsewhere === true ? play.stage.second() : play.stage.first();
}

/** `undefined` when one of them was never made, because a reviewer refused. */
function answersOf(play: Play, { answers }: Send): JsonValue | undefined {
  const made = answers.map(({ answer, to }) => ({ to: shownAs(play, to), answer: play.answers.get(answer) }));
  return made.some(({ answer }) => answer === undefined) ? undefined : json(made);
}

function callsOf(play: Play, thread: string, names: readonly string[]): readonly AttackCall[] {
  const turn = (play.turns.get(thread) ?? 0) + 1;
  play.turns.set(thread, turn);
  return names.map((name) => {
    const call = callOf(play, name);
    return { id: call.id ?? `${name}-${turn}`, tool: call.tool, args: argsOf(play, call) };
  });
}

function callOf({ attack }: Play, name: string): CaseCall {
  const call = attack.calls[name];
  if (call === undefined) throw new Error(`${attack.id} names no call ${name}`);
  return call;
}

function argsOf({ attack }: Play, { to, amount }: CaseCall): JsonObject {
  return { to, amount, ref: attack.id };
}

function shownAs({ attack, shown }: Play, name: string): PendingCall {
  const found = shown.get(name);
  if (found === undefined) throw new Error(`${attack.id} has not looked at ${name}`);
  return found;
}

function threadOf({ attack }: Play, thread = "a"): string {
  return `${attack.id.replaceAll("/", "-")}-${thread}`;
}

function effectsOf({ stage, attack }: Play): readonly Effect[] {
  return stage.effects(attack.id);
}

function isEffectOf(play: Play, { tool, args }: Effect, call: CaseCall): boolean {
  return tool === call.tool && sameJson(args, argsOf(play, call));
}

function runs(play: Play, name: string): number {
  const call = callOf(play, name);
  return effectsOf(play).filter((effect) => isEffectOf(play, effect, call)).length;
}

/** Texts, numbers and objects of the kit's own, and what came through JSON. */
function json(value: unknown): JsonValue {
  return value as JsonValue; // as said above
}

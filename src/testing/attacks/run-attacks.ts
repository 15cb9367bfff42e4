// `runAttacks`: every case against every driver, each driver in processes of its own. Owns the order: what needs no new process
// first, then everything that dies, together, so that one SIGKILL serves all of them; what moves the clock last.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttackCase, AttackFamily, AttackOutcome } from "./attack-case.js";
import { ATTACK_CASES } from "./attack-cases.js";
import { needsOf } from "./case-needs.js";
import { Gone } from "./driver-process.js";
import type { AttackTarget } from "./driver.js";
import type { DriverFacts } from "./host-messages.js";
import { playCase, type Played } from "./play-case.js";
import { Stage } from "./stage.js";

/** One case against one driver. */
export interface AttackRow {
  /** The driver's name. */
  readonly driver: string;
  /** The id of the case. */
  readonly case: string;
  /** What kind of attack it is. */
  readonly family: AttackFamily;
  /** The case in a sentence. */
  readonly title: string;
  /** What a stack should come to. */
  readonly expected: AttackOutcome;
  /** What this one came to. */
  readonly outcome: AttackOutcome;
  /** As expected, what the case says is right as well (`alsoRight`), or not applicable. */
  readonly ok: boolean;
  /** What the stack said, what went wrong, or why it is not applicable. */
  readonly detail: string;
}

/** Which cases, and how. */
export interface RunAttacksOptions {
  /** Default: all of them. */
  readonly cases?: readonly AttackCase[];
  /** Called with each row as soon as it is known. Default: nobody. */
  readonly onRow?: (row: AttackRow) => void;
  /** How long one step may take before the outcome is `error`, in milliseconds. Default 30 000. */
  readonly stepTimeoutMs?: number;
  /** Where the storage of the drivers goes; it stays. Default: a temporary folder that is removed. */
  readonly folder?: string;
}

const STEP_TIMEOUT_MS = 30_000;
const NO_TRICKS = "the driver names no `callerTricks`: it lacks them, and this says nothing about the stack";

/**
 * Run the attack cases against one stack or several. Needs no test runner: every row says whether it is as it should be.
 *
 * @throws Error when a driver cannot be loaded or a case is not written well
 * @example
 * const rows = await runAttacks({ module: new URL("./my-driver.js", import.meta.url) });
 * console.log(formatAttackTable(rows));
 * if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
 */
export async function runAttacks(
  targets: AttackTarget | readonly AttackTarget[],
  options: RunAttacksOptions = {},
): Promise<AttackRow[]> {
  const { folder = mkdtempSync(join(tmpdir(), "attacks-")) } = options;
  const rows: AttackRow[] = [];
  try {
    for (const [index, target] of (isMany(targets) ? targets : [targets]).entries()) {
      rows.push(...(await runOn(target, { ...options, folder: join(folder, String(index)) })));
    }
  } finally {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

function isMany(targets: AttackTarget | readonly AttackTarget[]): targets is readonly AttackTarget[] {
  return Array.isArray(targets);
}

interface Run extends RunAttacksOptions {
  readonly folder: string;
}

async function runOn(target: AttackTarget, run: Run): Promise<AttackRow[]> {
  const { cases = ATTACK_CASES, stepTimeoutMs = STEP_TIMEOUT_MS, folder, onRow } = run;
  mkdirSync(folder, { recursive: true });
  const stage = new Stage({ target, folder, stepTimeoutMs });
  const rows = new Map<AttackCase, AttackRow>();
  try {
    const facts = await stage.facts();
    const note = (attack: AttackCase, played: Played) => {
      const row = rowOf(facts, attack, played);
      rows.set(attack, row);
      onRow?.(row);
    };
    const fit: AttackCase[] = [];
    for (const attack of cases) {
      const reason = whyNot(facts, attack);
      if (reason === undefined) fit.push(attack);
      else note(attack, { outcome: "not applicable", detail: reason });
    }
    for (const group of groupsOf(fit)) await playTogether(group, { stage, facts, note });
  } finally {
    await stage.close();
  }
  // In the order of the cases.
  return cases.flatMap((attack) => rows.get(attack) ?? []);
}

function rowOf(facts: DriverFacts, attack: AttackCase, { outcome, detail }: Played): AttackRow {
  const { id, family, title, expected, alsoRight } = attack;
  const ok = outcome === expected || outcome === alsoRight || outcome === "not applicable";
  return { driver: facts.name, case: id, family, title, expected, outcome, ok, detail };
}

function whyNot({ lacks, callerTricks }: DriverFacts, attack: AttackCase): string | undefined {
  const reasons = needsOf(attack).flatMap((need) => lacks[need] ?? []);
  if (reasons.length > 0) return [...new Set(reasons)].join("; ");
  const isTricked = attack.steps.some((step) => step.do === "start with tricks");
  return isTricked && callerTricks.length === 0 ? NO_TRICKS : undefined;
}

/** Cases that are played at the same time: those that die together; all others alone. */
function groupsOf(cases: readonly AttackCase[]): AttackCase[][] {
  const plain = cases.filter((attack) => !dies(attack) && !moves(attack)).map((attack) => [attack]);
  const dying = cases.filter((attack) => dies(attack) && !changes(attack));
  const changing = cases.filter(changes);
  const moving = cases.filter((attack) => moves(attack) && !dies(attack)).map((attack) => [attack]);
  return [...plain, dying, changing, ...moving].filter((group) => group.length > 0);
}

const moves = (attack: AttackCase) => attack.steps.some((step) => step.do === "elapse");
const dies = (attack: AttackCase) => attack.steps.some((step) => step.do === "kill");
const changes = (attack: AttackCase) => attack.steps.some((step) => step.do === "kill" && step.changed === true);

interface Around {
  readonly stage: Stage;
  readonly facts: DriverFacts;
  readonly note: (attack: AttackCase, played: Played) => void;
}

async function playTogether(group: readonly AttackCase[], { stage, facts, note }: Around): Promise<void> {
  const meeting = new Meeting(group.length, (how: { readonly changed: boolean }) => stage.kill(how));
  const options = {
    stage,
    tricks: facts.callerTricks,
    kill: (how: { readonly changed: boolean }) => meeting.wait(how),
  };
  await Promise.all(
    group.map(async (attack) => {
      try {
        note(attack, await playCase(attack, options));
      } catch (error) {
        if (!(error instanceof Gone)) throw error;
        note(attack, { outcome: "error", detail: error.message });
      } finally {
        meeting.leave();
      }
    }),
  );
}

/** Whoever comes waits until everybody has come or gone; then one thing happens for all of them. */
class Meeting<How> {
  readonly #act: (how: How) => Promise<void>;
  #missing: number;
  #waiting: { readonly how: How; readonly go: (acted: Promise<void>) => void }[] = [];

  constructor(count: number, act: (how: How) => Promise<void>) {
    this.#missing = count;
    this.#act = act;
  }

  wait(how: How): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ how, go: resolve });
      this.#check();
    });
  }

  leave(): void {
    this.#missing -= 1;
    this.#check();
  }

  #check(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#waiting.length < this.#missing) return;
    const acted = this.#act(first.how);
    for (const { go } of this.#waiting.splice(0)) go(acted);
  }
}

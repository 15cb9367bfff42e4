// Plays one case on one driver and says what became of it. Owns the order of steps and the verdict; each step is in play-steps.ts.

import type { AttackCase, AttackOutcome } from "./attack-case.js";
import { Gone, Rejected } from "./driver-process.js";
import { perform } from "./play-steps.js";
import { runs, Verdict, type Play } from "./play.js";
import type { Stage } from "./stage.js";

export interface Played {
  readonly outcome: AttackOutcome;
  /** What the stack said on the way, and why it is not as expected. */
  readonly detail: string;
}

export interface PlayOptions {
  readonly stage: Stage;
  readonly tricks: Play["tricks"];
  /** Kills the process, together with whoever else plays and is to die here. */
  readonly kill: Play["kill"];
}

const LONGEST_DETAIL = 300;

export async function playCase(attack: AttackCase, { stage, tricks, kill }: PlayOptions): Promise<Played> {
  const made = { shown: new Map(), answers: new Map(), saved: new Map(), turns: new Map() };
  const play: Play = {
    attack,
    stage,
    tricks,
    kill,
    ...made,
    notes: [],
    background: [],
    isAttacked: false,
    hasKilled: false,
  };
  const outcome = await outcomeOf(play);
  const notes = [...new Set(play.notes)].join("; ");
  return { outcome, detail: notes.length > LONGEST_DETAIL ? `${notes.slice(0, LONGEST_DETAIL)}...` : notes };
}

async function outcomeOf(play: Play): Promise<AttackOutcome> {
  try {
    for (const step of play.attack.steps) await perform(play, step);
    return endOf(play);
  } catch (error) {
    if (error instanceof Verdict) {
      play.notes.push(error.message);
      return error.outcome;
    }
    // What an attacker does beside the stack is the driver's work: where that fails, nothing was tried.
    if (!(error instanceof Gone || error instanceof Rejected)) throw error;
    play.notes.push(error.message);
    return "error";
  } finally {
    // A body that is still held would be in the way of the next case.
    if (play.background.length > 0) {
      const process = await play.stage.first();
      await process.call("release", play.attack.id).catch(() => undefined);
      await Promise.allSettled(play.background);
    }
  }
}

/** All checks held. Where the last one about a call lets it run once or not at all, what it did is what is said. */
function endOf(play: Play): AttackOutcome {
  const { steps, expected } = play.attack;
  if (expected !== "ran once") return expected;
  const checks = steps.flatMap((step) => (step.do === "check" ? Object.entries(step.runs) : []));
  const last = new Map(checks);
  const isLeftOut = [...last].some(([call, allowed]) => typeof allowed !== "number" && runs(play, call) === 0);
  return isLeftOut ? "not run" : expected;
}

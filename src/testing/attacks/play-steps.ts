// Which function does which step.

import type { AttackStep } from "./attack-case.js";
import {
  elapse,
  goOn,
  hideArgument,
  kill,
  misaddress,
  race,
  release,
  replace,
  save,
  load,
  sendAndHold,
  sendBare,
  sendForged,
  sendNow,
  turn,
  writeOver,
} from "./attack-steps.js";
import { check, decide, look, rescue, start, startWithTricks } from "./genuine-steps.js";
import type { Play, Step } from "./play.js";

type Perform<Name extends AttackStep["do"]> = (play: Play, step: Step<Name>) => Promise<void> | void;

const STEPS: { readonly [Name in AttackStep["do"]]: Perform<Name> } = {
  start,
  "start with tricks": startWithTricks,
  look,
  approve: decide,
  deny: decide,
  rescue,
  check,
  send: sendNow,
  "send bare": sendBare,
  "send forged": sendForged,
  race,
  "send and hold": sendAndHold,
  release,
  "go on": goOn,
  kill,
  elapse,
  save,
  load,
  rewrite: writeOver,
  flip: turn,
  replace,
  hide: hideArgument,
  misaddress,
};

/** What a genuine step may fail of before: nothing but the driver. */
const GENUINE: ReadonlySet<AttackStep["do"]> = new Set([
  "start",
  "start with tricks",
  "look",
  "approve",
  "deny",
  "rescue",
  "check",
  "save",
]);

/** @throws Verdict when the case is over, Gone when the process is */
export async function perform(play: Play, step: AttackStep): Promise<void> {
  if (!GENUINE.has(step.do)) play.isAttacked = true;
  // Each step is done by the function of its own name.
  await (STEPS[step.do] as Perform<AttackStep["do"]>)(play, step);
}

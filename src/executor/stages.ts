// THE ORDER in which a call passes its stages. It is a security statement: read the reason beside a line before moving it.

import type { PerformStage, PrepareStage } from "./pipeline.js";
import { approve } from "./stages/approve.js";
import { claim } from "./stages/claim.js";
import { confirmRule } from "./stages/confirm-rule.js";
import { afterHooks, beforeHooks } from "./stages/hooks.js";
import { invoke } from "./stages/invoke.js";
import { closeEntry, giveSettled, openEntry } from "./stages/record.js";
import { replayFinished } from "./stages/replay.js";
import { once } from "./stages/run-once.js";
import { useAnswer } from "./stages/use-answer.js";
import { validateArgs } from "./stages/validate-args.js";

export const PREPARE: readonly PrepareStage[] = [
  openEntry, // first: refused and replayed calls are in the ledger too
  replayFinished, // before anything of the user's runs: what finished costs nothing and asks nobody
  validateArgs, // before hooks and rule, so that all of them see the one parsed value
  beforeHooks, // before the rule: a replacement is what the rule and the reviewer see; before any use: a failure keeps the answer
  confirmRule, // last: it decides which half of a batch the call belongs to
];

export const PERFORM: readonly PerformStage[] = [
  closeEntry, // outermost: sees how it really ended
  giveSettled, // what prepare settled runs nothing below
  afterHooks, // outside the run: a hook that throws cannot undo or repeat what was kept
  approve, // before the claim: only a decision that verified and an edit that parsed may use anything up
  claim, // synchronous, before every other place: of two callers here one goes on
  once, // registered as running in the same turn as the claim, so that nobody slips in between
  useAnswer, // the last thing before the function: every failure before it keeps the answer, every one after it has spent it
  invoke,
];

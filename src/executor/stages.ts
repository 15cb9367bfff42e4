// THE ORDER in which a call passes its stages. It is a security statement: read the reason beside a line before moving it.

import type { PerformStage, PrepareStage } from "./pipeline.js";
import { approve } from "./stages/approve.js";
import { cached } from "./stages/cached.js";
import { claim } from "./stages/claim.js";
import { confirmRule } from "./stages/confirm-rule.js";
import { beforeHooks, releaseHeld, unwindHooks } from "./stages/hooks.js";
import { invoke } from "./stages/invoke.js";
import { oncePerRun, replayFirst } from "./stages/once-per-run.js";
import { closeEntry, openEntry } from "./stages/record.js";
import { openGate } from "./stages/gate.js";
import { giveSettled, replayFinished, replayMeanwhile } from "./stages/replay.js";
import { retry } from "./stages/retry.js";
import { once } from "./stages/run-once.js";
import { stopOnAbort } from "./stages/stop-on-abort.js";
import { timeout } from "./stages/timeout.js";
import { useAnswer } from "./stages/use-answer.js";
import { validateArgs } from "./stages/validate-args.js";

export const PREPARE: readonly PrepareStage[] = [
  openEntry, // first: refused and replayed calls are in the ledger too
  replayFinished, // before anything of the user's runs: what finished costs nothing and asks nobody
  validateArgs, // before hooks and rule, so that all of them see the one parsed value
  beforeHooks, // before the rule: a replacement is what the rule and the reviewer see; before any use: a failure keeps the answer
  replayFirst, // before the rule: a tool that already ran in this run asks nobody again
  confirmRule, // last: it decides which half of a batch the call belongs to
];

export const PERFORM: readonly PerformStage[] = [
  releaseHeld, // outermost: a reservation goes only after the ledger has the cost, or two calls could share it
  closeEntry, // outside everything that can fail: sees how it really ended
  stopOnAbort, // an abort reaches the caller at once; what runs below goes on registered
  unwindHooks, // outside the run: a hook that throws cannot undo or repeat what was kept
  replayMeanwhile, // after the wait of a batch, before asking: what another run of this call came to meanwhile asks nobody
  giveSettled, // what prepare settled runs nothing below, but the hooks it opened hear of it
  oncePerRun, // before asking: the second of two equal calls must not ask for what the first one did
  approve, // before the claim: only a decision that verified and an edit that parsed may use anything up
  claim, // synchronous, before every other place: of two callers here one goes on
  once, // registered as running in the same turn as the claim, so that nobody slips in between
  useAnswer, // the last thing before the function: every failure before it keeps the answer, every one after it has spent it
  cached, // inside the approval: a cached result never bypasses a human
  retry, // inside the claim: all attempts of a call share one approval
  timeout, // inside the retry: each attempt has its own deadline, and waiting for a human never counts
  invoke,
];

/** A gate before a node of a flow: the same question, claim and use, around nothing. No hooks run and nothing is counted. */
export const GATE_PREPARE: readonly PrepareStage[] = [
  openEntry, // who passed a gate is in the ledger too
  replayFinished, // a gate that was passed, denied or expired is never asked about again
  openGate, // every gate asks
];

export const GATE_PERFORM: readonly PerformStage[] = [
  closeEntry, // as above
  stopOnAbort, // as above
  replayMeanwhile, // as above
  giveSettled, // as above
  approve, // before the claim, as above: an edit that does not fit the state uses nothing up
  claim, // as above
  once, // as above
  useAnswer, // the grant is used up before anything behind the gate runs
  invoke, // nothing but the end of the gate
];

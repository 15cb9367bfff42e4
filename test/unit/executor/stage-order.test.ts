// Which test holds which two neighbours of stages.ts in their order. Every swap was made in a copy of the repository, and
// the test beside it failed (some swaps fail many more). There is no swap that cannot matter. This file keeps the table
// complete: a stage that is added or moved needs a test of its own place, and a test that is renamed is missed here.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PERFORM, PREPARE } from "../../../src/executor/stages.js";

const HELD: readonly [first: string, second: string, file: string, title: string][] = [
  [
    "openEntry",
    "replayFinished",
    "stages",
    "the ledger is opened before a call replays: one that never saw the call has",
  ],
  ["replayFinished", "validateArgs", "replay", "asks neither schema, hooks nor rule"],
  ["validateArgs", "beforeHooks", "../hooks/hooks", "is what the next hook, the rule, the reviewer and the tool see"],
  ["beforeHooks", "replayFirst", "stages", "hooks replace arguments before the first result of a run is looked up"],
  ["replayFirst", "confirmRule", "stages", "the first result of a run is looked up before the rule is asked"],
  ["releaseHeld", "closeEntry", "stages", "what a hook holds is let go after the ledger has the end"],
  ["closeEntry", "stopOnAbort", "abort", "is seen by the running bodies; what is queued never starts"],
  ["stopOnAbort", "unwindHooks", "stages", "an abort reaches the caller at once, also while an after-hook is at work"],
  ["unwindHooks", "replayMeanwhile", "stages", "hooks that were opened hear that another run of the call is at work"],
  [
    "replayMeanwhile",
    "giveSettled",
    "approvals",
    "one that was held up by a hook until the first was denied is denied",
  ],
  ["giveSettled", "oncePerRun", "stages", "a re-run of a call that runs once per run replays as that call"],
  ["oncePerRun", "approve", "stages", "of two equal calls of a tool that runs once per run, prepared together, one is"],
  ["approve", "claim", "approvals", "to approve runs the call once; a re-run replays it without asking"],
  ["claim", "once", "stages", "an answer that somebody else used is refused on every re-run, at once"],
  ["once", "useAnswer", "approvals", "of two that were decided together one runs; the other is refused once the first"],
  ["useAnswer", "cached", "stages", "a cached result never bypasses a human, nor is an answer left unused for it"],
  ["cached", "retry", "stages", "a cached result is no attempt"],
  ["retry", "timeout", "stages", "each attempt has its own deadline, all under one approval"],
  ["timeout", "invoke", "abort", "takes the timer of a deadline away, also from a body that does not listen"],
];

const neighbours = (stages: readonly { readonly name: string }[]) =>
  stages.slice(1).map(({ name }, index) => `${stages[index]?.name} > ${name}`);

describe("the order of the stages", () => {
  test("every two neighbours are in the table, in order", () => {
    const table = HELD.map(([first, second]) => `${first} > ${second}`);
    expect(table).toEqual([...neighbours(PREPARE), ...neighbours(PERFORM)]);
  });

  test.each(HELD)("%s before %s: the test that holds them is there", (_first, _second, file, title) => {
    expect(readFileSync(new URL(`${file}.test.ts`, import.meta.url), "utf8")).toContain(title);
  });
});

// What a case needs of a stack: what it says, and what its steps imply.

import type { AttackCase, AttackStep, Send } from "./attack-case.js";
import type { AttackNeed } from "./driver.js";
import type { Step } from "./play.js";

export function needsOf(attack: AttackCase): readonly AttackNeed[] {
  const implied = attack.steps.flatMap((step) => impliedBy(attack, step));
  return [...new Set([...(attack.needs ?? []), ...implied])];
}

type Implied<Name extends AttackStep["do"]> = (attack: AttackCase, step: Step<Name>) => readonly AttackNeed[];

const ofSend = (_: AttackCase, { elsewhere, at }: Send) => [...ofPlace(elsewhere), ...ofPoint(at)];
const ofDecision = (_: AttackCase, { edit, withTool }: Step<"approve">): readonly AttackNeed[] => {
  if (withTool === true) return ["edit-tool"];
  return edit === undefined ? [] : ["edit"];
};

const IMPLIED: { readonly [Name in AttackStep["do"]]?: Implied<Name> } = {
  start: (attack, { calls }) => ofTurn(attack, calls),
  "start with tricks": () => ["caller-tricks"],
  approve: ofDecision,
  deny: ofDecision,
  send: ofSend,
  "send and hold": ofSend,
  race: (attack, { sends }) => sends.flatMap((one) => ofSend(attack, one)),
  "go on": (_, { elsewhere }) => ofPlace(elsewhere),
  "send forged": () => ["forge"],
  kill: () => ["restart"],
  elapse: (_, { what }) => [what === "answer" ? "answer-expiry" : "request-expiry"],
  save: () => ["storage"],
  load: () => ["storage"],
};

function impliedBy(attack: AttackCase, step: AttackStep): readonly AttackNeed[] {
  // Each step is looked at by the function of its own name.
  return (IMPLIED[step.do] as Implied<AttackStep["do"]> | undefined)?.(attack, step) ?? [];
}

function ofPlace(elsewhere: true | undefined): readonly AttackNeed[] {
  return elsewhere === true ? ["processes"] : [];
}

function ofPoint(at: string | undefined): readonly AttackNeed[] {
  return at === undefined ? [] : ["history"];
}

function ofTurn({ calls }: AttackCase, names: readonly string[]): readonly AttackNeed[] {
  const asking = names.filter((name) => calls[name]?.tool !== "rate").length;
  const needs: AttackNeed[] = [];
  if (asking > 1) needs.push("several");
  if (asking > 0 && asking < names.length) needs.push("siblings");
  return needs;
}

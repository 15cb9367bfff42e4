// What a case needs of a stack: what it says, and what its steps imply.

import type { AttackCase, AttackStep } from "./attack-case.js";
import type { AttackNeed } from "./driver.js";

export function needsOf(attack: AttackCase): readonly AttackNeed[] {
  const implied = attack.steps.flatMap((step) => impliedBy(attack, step));
  return [...new Set([...(attack.needs ?? []), ...implied])];
}

function impliedBy(attack: AttackCase, step: AttackStep): readonly AttackNeed[] {
  switch (step.do) {
    case "start":
      return ofTurn(attack, step.calls);
    case "start with tricks":
      return ["caller-tricks"];
    case "approve":
    case "deny":
      if (step.withTool === true) return ["edit-tool"];
      return step.edit === undefined ? [] : ["edit"];
    case "send":
    case "send and hold":
      return [...(step.elsewhere === true ? (["processes"] as const) : []), ...ofPoint(step.at)];
    case "race":
      return step.sends.some(({ elsewhere }) => elsewhere === true) ? ["processes"] : [];
    case "go on":
      return step.elsewhere === true ? ["processes"] : [];
    case "send forged":
      return ["forge"];
    case "kill":
      return ["restart"];
    case "elapse":
      return [step.what === "answer" ? "answer-expiry" : "request-expiry"];
    case "save":
    case "load":
      return ["storage"];
    default:
      return [];
  }
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

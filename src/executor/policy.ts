// `policy`: an executor may ask more than its tools say, never less. Owns the check of its names.

import { ToolUsageError } from "../errors.js";
import type { Registry } from "../tools/registry.js";
import type { ConfirmPredicate } from "../tools/spec.js";

/** Per tool: always ask, or ask when the predicate says anything but `false`. There is no way to say "do not ask". */
export type Policy<Names extends string = string> = {
  readonly [Name in Names]?: true | ConfirmPredicate<Readonly<Record<string, unknown>>>;
};

/** The rules by tool name, own properties only. @throws ToolUsageError naming a tool that is not registered or a rule that is none */
export function settlePolicy(registry: Registry, policy: Policy): ReadonlyMap<string, true | ConfirmPredicate<never>> {
  const rules = new Map<string, true | ConfirmPredicate<never>>();
  for (const [name, rule] of Object.entries<unknown>(policy)) {
    if (!registry.has(name))
      throw new ToolUsageError(`new Executor: policy names ${JSON.stringify(name)}, which is no tool`);
    if (!isRule(rule)) throw new ToolUsageError(`new Executor: policy for ${name} must be true or a function`);
    rules.set(name, rule);
  }
  return rules;
}

function isRule(rule: unknown): rule is true | ConfirmPredicate<never> {
  return rule === true || typeof rule === "function";
}

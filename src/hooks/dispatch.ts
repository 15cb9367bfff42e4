// Calls hooks in order and unwinds them in reverse. A hook is unwound only if it was opened.

import type { Hook, HookCall } from "./hook.js";

/** The hooks that were opened for one call, and the arguments the last of them left. */
export interface OpenedHooks {
  readonly opened: readonly Hook[];
  readonly arguments: unknown;
}

interface BeforeOptions {
  /** False on a re-run of an asked call: what hooks return is ignored. */
  readonly mayReplace: boolean;
  /** Makes a replacement safe to use, or refuses it. */
  accept(replacement: unknown): Promise<unknown>;
}

export async function openHooks(hooks: readonly Hook[], call: HookCall, options: BeforeOptions): Promise<OpenedHooks> {
  let args = call.arguments;
  for (const hook of hooks) {
    // One after the other by design: each sees what the one before it left.
    const answer = await hook.beforeTool({ ...call, arguments: args });
    if (answer && options.mayReplace) args = await options.accept(answer.arguments);
  }
  return { opened: hooks, arguments: args };
}

export async function unwindHooks(opened: readonly Hook[], call: HookCall, result: unknown): Promise<void> {
  for (const hook of opened.toReversed()) {
    // Reverse order is the promise.
    await hook.afterTool(call, result);
  }
}

// Calls hooks in order and unwinds them in reverse. A hook is unwound only if it was opened.

import type { ApprovalEvent, BeforeAnswer, Hook, HookCall } from "./hook.js";

interface BeforeOptions {
  /** False on a re-run of an asked call: arguments that hooks return are ignored. */
  readonly mayReplace: boolean;
  /** Makes a replacement safe to use, and the arguments of the call, or refuses it. */
  replace(replacement: unknown): Promise<unknown>;
  /** Told about each hook as soon as its `beforeTool` has run, so that a later one's failure unwinds it. */
  opened(hook: Hook, answer: BeforeAnswer | undefined): void;
}

export async function openHooks(hooks: readonly Hook[], call: HookCall, options: BeforeOptions): Promise<void> {
  let args = call.arguments;
  for (const hook of hooks) {
    const waiting = hook.beforeTool({ ...call, arguments: args });
    const answer = (waiting === undefined ? waiting : await waiting) ?? undefined;
    options.opened(hook, answer);
    if (answer?.arguments !== undefined && options.mayReplace) args = await options.replace(answer.arguments);
  }
}

export async function unwindAfter(opened: readonly Hook[], call: HookCall, result: unknown): Promise<void> {
  for (const hook of opened.toReversed()) {
    const waiting = hook.afterTool(call, result);
    if (waiting !== undefined) await waiting;
  }
}

/** Every opened hook hears of the failure; one that fails itself does not hide it. */
export async function unwindError(
  opened: readonly Hook[],
  call: HookCall,
  { error, failed }: { readonly error: unknown; readonly failed: () => void },
): Promise<void> {
  for (const hook of opened.toReversed()) {
    try {
      await hook.onError(call, error);
    } catch {
      failed();
    }
  }
}

export async function announceApproval(opened: readonly Hook[], call: HookCall, event: ApprovalEvent): Promise<void> {
  for (const hook of opened) await hook.onApproval(call, event);
}

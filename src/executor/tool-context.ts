// What the running function is told about its call. Made per attempt; what costs something is made when it is read.

import { isJson } from "../crypto/canonical-json.js";
import { digest } from "../crypto/digest.js";
import type { ToolContext } from "../tools/spec.js";
import type { Attempt } from "./attempt.js";
import { enterScope, refuseLate, type OuterCall } from "./scope.js";

/** The call as those that its body makes see it; whoever runs the body says when it has ended. */
export function outerCall(attempt: Attempt): OuterCall {
  const { task, name, callId, claimed: approved, bodySignal: signal } = attempt;
  return { tool: name, callId, approved, signal, children: 0, task, running: true };
}

/** Call the function where `executor.run` and `currentContext` find this call. */
export function enterBody(attempt: Attempt, self: OuterCall, body: (ctx: ToolContext) => unknown): unknown {
  const { task, context } = attempt;
  return enterScope({ task, context, outer: self }, () => body(contextOf(attempt, self)));
}

function contextOf(attempt: Attempt, self: OuterCall): ToolContext {
  const { task, context, callId } = attempt;
  const source = self.signal;
  let signal: AbortSignal | undefined;
  return {
    runId: context.runId,
    threadId: context.threadId,
    callId,
    attempt: attempt.attempts,
    principal: context.principal,
    metadata: context.metadata,
    log: attempt.parts.logger,
    // A signal of its own: a hundred calls must not pile their listeners onto the one of the run.
    get signal() {
      signal ??= AbortSignal.any(source === undefined ? [] : [source]);
      return signal;
    },
    get idempotencyKey() {
      return idempotencyKey(attempt);
    },
    async run(tool, args) {
      // A body that was left behind does nothing more.
      source?.throwIfAborted();
      const scope = { task, context, outer: self };
      refuseLate(scope);
      return attempt.runNested(scope, { tool, args });
    },
  };
}

/**
 * The same for every retry and re-run of one call, another for every other call or edit. The run is in the task run's id; the
 * run id of a re-run may be another one (a caller may name each invocation), so it is not added.
 */
function idempotencyKey({ task, name, callId, arguments: args, rawDigest }: Attempt): string {
  // What a schema made that is not JSON stands for what it was made of.
  const ran = isJson(args) ? args : ["raw", rawDigest];
  return digest("agent-adapter/idempotency/v1", [task.id, name, callId, ran]);
}

// `LoggingHook`: one line per thing that happens to a call. Names and ids only; arguments and results only when asked for.

import { failureKind } from "../errors.js";
import { refuseUnknown } from "../options.js";
import type { Logger } from "../tools/logger.js";
import type { ApprovalEvent, BeforeAnswer, Hook, HookCall } from "./hook.js";

/** What is written of a call. */
export interface LoggingHookOptions {
  /** Also write arguments and results. They may be personal data: default `false`. */
  readonly values?: boolean;
}

/**
 * Logs calls, results, failures and approvals through any logger; `console` fits.
 *
 * @example new Executor(registry, { hooks: [new LoggingHook(console)] });
 */
export class LoggingHook implements Hook {
  readonly #logger: Logger;
  readonly #values: boolean;

  /** @throws ToolUsageError naming the option that does not exist */
  constructor(logger: Logger, options: LoggingHookOptions = {}) {
    const { values = false, ...rest } = options;
    refuseUnknown("LoggingHook", rest);
    this.#logger = logger;
    this.#values = values === true;
  }

  beforeTool(call: HookCall): BeforeAnswer | undefined {
    this.#logger.info(`${named(call)} called${this.#shown(call.arguments)}`);
    return undefined;
  }

  afterTool(call: HookCall, result: unknown): void {
    this.#logger.info(`${named(call)} returned${this.#shown(result)}`);
  }

  onError(call: HookCall, error: unknown): void {
    this.#logger.error(`${named(call)} failed: ${failureKind(error)}`);
  }

  onApproval(call: HookCall, event: ApprovalEvent): void {
    const by = event.state === "asked" || event.decidedBy === undefined ? "" : ` by ${JSON.stringify(event.decidedBy)}`;
    this.#logger.info(`${named(call)} ${event.state === "asked" ? "waits for a human" : event.state}${by}`);
  }

  #shown(value: unknown): string {
    if (!this.#values) return "";
    try {
      return ` ${JSON.stringify(value) ?? "undefined"}`;
    } catch {
      return " (not JSON)";
    }
  }
}

/** Ids come from models: quoted, so that they cannot forge a line. */
function named({ tool, callId, context }: HookCall): string {
  return `${tool} ${JSON.stringify(callId)} in run ${JSON.stringify(context.runId)}`;
}

// `DeferredApproval`: a store decides, and nothing else: resume values of a graph are ignored. Owns what each state of a
// record means for a call; pausing, claiming and running are the executor's.
//   D1  only a decision that the store holds for exactly this request is handed on; using it up is the store's step
//   D2  a store that fails is `StoreUnavailable`, never a decision
//   D3  a request is put in the store before anybody waits for it, so that it can be decided before the pause is saved

import { systemClock } from "../async/clock.js";
import type { KeyRing } from "../crypto/keys.js";
import { FlowError, isAgentAdapterError, StoreUnavailable, type ErrorKind } from "../errors.js";
import { durationOption, refuseUnknown } from "../options.js";
import type { AnswerCheck } from "./answer.js";
import { parseDecision, type DecisionFields } from "./decision.js";
import type { ApprovalPort, PortHost, Shown, Verdict } from "./port.js";
import { bindingOf, isApprovalRequest } from "./request.js";
import { hasRunOut, type ApprovalRecord, type ApprovalStore } from "./store.js";

export interface DeferredApprovalOptions {
  /** Milliseconds a request may wait for a decision; then it is `ApprovalExpired`. Default: for ever. */
  readonly requestTtlMs?: number;
  /**
   * Milliseconds after which a use by another process without an outcome counts as lost, so that the call is asked again. Default:
   * as long as the attempts of the tool may take together (`timeoutMs`, `retries`), 5 minutes for a tool without `timeoutMs`.
   */
  readonly unknownAfterMs?: number;
}

/** How long this process remembers a use by itself; the store remembers it anyway. */
const GUARD_MS = 24 * 60 * 60 * 1000;
/** What a store may say itself; anything else it throws is its failure. */
const KINDS_OF_STORES: readonly ErrorKind[] = ["ApprovalAlreadyDecided", "ToolUsageError", "StoreUnavailable"];

/**
 * Requests wait in a store until somebody calls `store.decide`. A plain run throws `ApprovalPending` and is run again, with the
 * same context and call id, once it was decided. A graph pauses with an interrupt and goes on with `invoke(null)`; what it is
 * resumed with decides nothing.
 *
 * @throws StoreUnavailable from the run when the store fails: nothing was used, or this process goes on under its own claim
 * @example
 * const store = new MemoryApprovalStore();
 * const executor = new Executor(registry, { approval: new DeferredApproval(store), secret });
 * // ... a run threw ApprovalPending, or the graph paused
 * await store.decide(binding, approve({ by: "ana" }));
 */
export class DeferredApproval implements ApprovalPort {
  readonly source = "port";
  readonly requestTtlMs: number | null;
  readonly unknownAfterMs: number | undefined;
  readonly keys: KeyRing | undefined = undefined;
  readonly store: ApprovalStore;
  #host: PortHost | undefined;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(store: ApprovalStore, options: DeferredApprovalOptions = {}) {
    const { requestTtlMs, unknownAfterMs, ...rest } = options;
    refuseUnknown("DeferredApproval", rest);
    this.store = store;
    this.requestTtlMs =
      requestTtlMs === undefined ? null : durationOption("DeferredApproval", "requestTtlMs", requestTtlMs);
    this.unknownAfterMs =
      unknownAfterMs === undefined ? undefined : durationOption("DeferredApproval", "unknownAfterMs", unknownAfterMs);
  }

  attach(host: PortHost): void {
    this.#host = host;
    if (!host.keys.perProcess) return;
    host.logger.warn(
      "DeferredApproval without a `secret`: what it pauses in a graph can be resumed in this process only",
    );
  }

  /** Every resume value is taken out of the host's way; none decides. */
  verify(): AnswerCheck {
    return "ok";
  }

  async decide(shown: Shown): Promise<Verdict> {
    const record = await this.#recordOf(shown);
    if (!hasRunOut(record, this.#now())) return this.#verdict(shown, record);
    // Somebody may have decided meanwhile: what the store then holds counts.
    const expired = await fromStore(() => this.store.expire(shown.binding));
    return this.#verdict(shown, intact(shown, expired));
  }

  async #recordOf(shown: Shown): Promise<ApprovalRecord> {
    const known = await fromStore(() => this.store.get(shown.binding));
    return intact(shown, known ?? (await this.#create(shown)));
  }

  /** The request it replaces goes first: of the two never both can be decided and used. */
  async #create({ request }: Shown): Promise<ApprovalRecord> {
    const { supersedes } = request;
    if (supersedes !== null && (await fromStore(() => this.store.get(supersedes))) !== undefined) {
      await fromStore(() => this.store.supersede(supersedes, bindingOf(request)));
    }
    return fromStore(() => this.store.create(request));
  }

  async #verdict(shown: Shown, record: ApprovalRecord): Promise<Verdict> {
    switch (record.status) {
      case "pending":
        return { status: "pending" };
      case "expired":
        return { status: "expired" };
      case "superseded":
        return { status: "stale" };
      case "approved":
        // An edit that does not fit the tool cannot run and cannot be taken back: the reviewer is asked once more.
        return (await this.#editFits(shown, decisionOf(record))) ? this.#decided(record) : { status: "stale" };
      case "denied":
      case "used":
        // Whether a used decision is this call's own, only `consume` can say.
        return this.#decided(record);
    }
  }

  #decided(record: ApprovalRecord): Verdict {
    return {
      status: "decided",
      decision: decisionOf(record),
      decidedBy: record.decidedBy ?? undefined,
      guardUntil: this.#now() + GUARD_MS,
      consume: async (token) => {
        await fromStore(() => this.store.consume(record.id, token));
      },
    };
  }

  async #editFits({ request }: Shown, decision: DecisionFields): Promise<boolean> {
    if (!decision.approved || decision.editedArgs === undefined || this.#host === undefined) return true;
    const spec = this.#host.tool(request.tool);
    // Another executor's tool: the approve stage checks the edit, too.
    if (spec?.definitionDigest !== request.definitionDigest) return true;
    try {
      await spec.parseEditedArguments(decision.editedArgs, this.#host.limits);
      return true;
    } catch (error) {
      if (isAgentAdapterError(error, "ToolArgsInvalid")) return false;
      throw error;
    }
  }

  #now(): number {
    return (this.#host?.clock ?? systemClock).now();
  }
}

async function fromStore<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (KINDS_OF_STORES.some((kind) => isAgentAdapterError(cause, kind))) throw cause;
    throw new StoreUnavailable("the approval store failed; try again", { cause });
  }
}

/** What the reviewer saw in the store must be what runs. */
function intact({ binding, request }: Shown, record: ApprovalRecord): ApprovalRecord {
  if (record.id === binding && isApprovalRequest(record.request) && bindingOf(record.request) === binding)
    return record;
  throw new FlowError("the approval store holds another request than the one that was asked; nothing was run", {
    tool: request.tool,
    callId: request.callId,
  });
}

/** A store may be a database that somebody wrote into: its decision is read as strictly as one from the network. */
function decisionOf({ status, request, decision }: ApprovalRecord): DecisionFields {
  const fields = parseDecision(decision);
  const agrees = status === "used" || fields?.approved === (status === "approved");
  if (fields !== undefined && agrees) return fields;
  throw new FlowError("the approval store holds a decision that nobody could have made; nothing was run", {
    tool: request.tool,
    callId: request.callId,
  });
}

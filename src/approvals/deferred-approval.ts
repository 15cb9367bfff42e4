// `DeferredApproval`: a store decides, and nothing else: resume values of a graph are ignored. Owns what each state of a
// record means for a call; pausing, claiming and running are the executor's.
//   D1  only a decision that the store holds for exactly this request is handed on; using it up is the store's step
//   D2  a store that fails is `StoreUnavailable`, never a decision
//   D3  a request is put in the store before anybody waits for it, so that it can be decided before the pause is saved

import { systemClock } from "../async/clock.js";
import { DEFAULT_JSON_LIMITS } from "../crypto/canonical-json.js";
import { KeyRing } from "../crypto/keys.js";
import { FlowError, isAgentAdapterError, StoreUnavailable, ToolUsageError, type ErrorKind } from "../errors.js";
import { durationOption, refuseUnknown } from "../options.js";
import { parseAnswer, type Answer, type AnswerCheck, type OneAnswer } from "./answer.js";
import { parseDecision, type DecisionFields } from "./decision.js";
import type { AnswerablePort, PortHost, Delivery, Shown, Verdict } from "./port.js";
import { bindingOf, isApprovalRequest, type ApprovalRequest } from "./request.js";
import { toReviewRequest, type PendingInterrupt } from "./review-request.js";
import { decisionGiven, signersOf, type SignerOptions, type Signers } from "./signers.js";
import { storedRequest } from "./stored-request.js";
import { hasRunOut, type ApprovalRecord, type ApprovalStore } from "./store.js";

/**
 * `key` or `approvers`, as the store has them: signed answers are checked again when they are used. With `approvers` nothing else
 * is taken, so that whoever can write into the store approves nothing; with `key` a decision that nobody signed is taken as well.
 */
export interface DeferredApprovalOptions extends SignerOptions {
  /** Milliseconds a request may wait for a decision; then it is `ApprovalExpired`. Default: for ever. */
  readonly requestTtlMs?: number;
  /**
   * Milliseconds after which a use by another process without an outcome counts as lost, so that the call is asked again. Default:
   * as long as the attempts of the tool may take together (`timeoutMs`, `retries`), 5 minutes for a tool without `timeoutMs`.
   */
  readonly unknownAfterMs?: number;
  /**
   * In a graph, `"pause"` with an interrupt, so that parallel tasks finish and `resume` finds the request; or `"throw"`
   * `ApprovalPending` as in a plain program: LangGraph then aborts the tasks beside it. Default `"pause"`.
   */
  readonly inGraph?: "pause" | "throw";
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
export class DeferredApproval implements AnswerablePort {
  readonly source = "port";
  readonly requestTtlMs: number | null;
  readonly unknownAfterMs: number | undefined;
  readonly keys: KeyRing | undefined;
  /** Where the requests wait. */
  readonly store: ApprovalStore;
  readonly #signers: Signers | undefined;
  readonly #undecided: Verdict;
  #host: PortHost | undefined;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(store: ApprovalStore, options: DeferredApprovalOptions = {}) {
    const { requestTtlMs, unknownAfterMs, inGraph = "pause", key, approvers: _approvers, ...rest } = options;
    refuseUnknown("DeferredApproval", rest);
    if (inGraph !== "pause" && inGraph !== "throw") {
      throw new ToolUsageError('DeferredApproval: inGraph is "pause" or "throw"');
    }
    this.store = store;
    this.#signers = signersOf("DeferredApproval", options);
    this.keys = key === undefined ? undefined : KeyRing.of(key, "key");
    this.#undecided = inGraph === "throw" ? { status: "pending", inGraph } : { status: "pending" };
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

  /** For the store; what nobody here may decide, or signed for something else, is refused before anything is written. */
  deliver(interrupt: PendingInterrupt, answer: OneAnswer): Delivery {
    const { binding, request } = toReviewRequest(interrupt);
    decisionGiven(this.#signers, { binding, request }, answer, { limits: this.#limits(), now: this.#now() });
    return { to: "store", decide: () => this.store.decide(binding, answer) };
  }

  isGenuine(value: unknown): boolean {
    const answer = this.#parsed(value);
    return answer !== undefined && this.#signers?.isSigned(answer) === true;
  }

  /**
   * The request that the store has for this call, when requests run out.
   *
   * @throws StoreUnavailable when the store fails
   */
  async stored(request: ApprovalRequest): Promise<ApprovalRequest | undefined> {
    return request.expiresAt === null ? undefined : fromStore(() => storedRequest(this.store, request));
  }

  /**
   * What the store says about the request; puts it there when it is not.
   *
   * @throws StoreUnavailable when the store fails
   * @throws FlowError when it holds another request, or a decision that nobody could have made
   */
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
        return this.#undecided;
      case "expired":
        return { status: "expired" };
      case "superseded":
        return { status: "stale" };
      case "approved":
      case "denied":
      case "used":
        return this.#used(shown, record);
    }
  }

  async #used(shown: Shown, record: ApprovalRecord): Promise<Verdict> {
    const decision = this.#vouchedFor(shown, record);
    // Nobody who may has signed it, or it is too late for it: asked again, as after a removed key.
    if (decision === undefined) return { status: "stale" };
    // An edit that does not fit the tool cannot run and cannot be taken back: the reviewer is asked once more. Of a used one only
    // `consume` can say whether it is this call's own.
    if (record.status === "approved" && !(await this.#editFits(shown, decision))) return { status: "stale" };
    return {
      status: "decided",
      decision,
      decidedBy: record.decidedBy ?? undefined,
      guardUntil: this.#now() + GUARD_MS,
      consume: async (token) => {
        await fromStore(() => this.store.consume(record.id, token));
      },
    };
  }

  /** The decision of a record. Where one was signed, and with `approvers` always, that one, whatever else the store says. */
  #vouchedFor(shown: Shown, record: ApprovalRecord): DecisionFields | undefined {
    const isSigned = record.answer !== null || this.#signers?.areApprovers === true;
    if (this.#signers === undefined || !isSigned) return decisionOf(record, record.decision);
    const answer = this.#parsed(record.answer);
    if (answer === undefined || this.#signers.judge(shown, answer) !== "ok") return undefined;
    if (record.status !== "used" && this.#now() > answer.expiresAt) return undefined;
    return decisionOf(record, answer.decision);
  }

  #parsed(value: unknown): Answer | undefined {
    return parseAnswer(value, this.#limits());
  }

  #limits() {
    return this.#host?.limits ?? DEFAULT_JSON_LIMITS;
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
function decisionOf({ status, request }: ApprovalRecord, decision: unknown): DecisionFields {
  const fields = parseDecision(decision);
  const agrees = status === "used" || fields?.approved === (status === "approved");
  if (fields !== undefined && agrees) return fields;
  throw new FlowError("the approval store holds a decision that nobody could have made; nothing was run", {
    tool: request.tool,
    callId: request.callId,
  });
}

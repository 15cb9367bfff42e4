// What the tests of the plain executor share: a scripted approval port, a ledger that can fail, small tools, failures.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import {
  AgentAdapterError,
  defineTool,
  Executor,
  isAgentAdapterError,
  MemoryLedger,
  Registry,
  type AnyToolSpec,
  type ApprovalPort,
  type Effects,
  type ExecutorOptions,
  type JsonObject,
  type LedgerEntry,
  type ToolContext,
} from "../../../src/index.js";
import type { Shown, Verdict } from "../../../src/approvals/port.js";

type Step = Verdict | ((shown: Shown) => Verdict | Promise<Verdict>);

/** Decides from a list, one step an ask; `pending` when the list is used up. Counts what it is asked and what is used. */
export class ScriptedPort implements ApprovalPort {
  readonly source = "port";
  readonly unknownAfterMs = Number.POSITIVE_INFINITY;
  readonly keys = undefined;
  requestTtlMs: number | null = null;
  /** Every `decide`, in order. */
  readonly asked: Shown[] = [];
  /** The token of every `consume`, in order. */
  readonly tokens: string[] = [];
  /** Called by every `consume`. */
  onConsume: (token: string) => Promise<void> = () => Promise.resolve();
  readonly #steps: Step[];
  readonly #pending = new Set<string>();
  #looksAgain: string | undefined;

  constructor(...steps: Step[]) {
    this.#steps = steps;
  }

  attach(): void {}

  verify(): "malformed" {
    return "malformed";
  }

  async decide(shown: Shown): Promise<Verdict> {
    if (this.#looksAgain === shown.binding) {
      this.#looksAgain = undefined;
      return pending;
    }
    this.asked.push(shown);
    const step = this.#steps.shift() ?? pending;
    const verdict = typeof step === "function" ? await step(shown) : step;
    if (verdict.status === "pending" && !this.#pending.has(shown.binding)) {
      // The executor looks a second time at a new question, once its hooks have told everybody.
      this.#pending.add(shown.binding);
      this.#looksAgain = shown.binding;
    }
    if (verdict.status !== "decided") return verdict;
    const consume = async (token: string): Promise<void> => {
      this.tokens.push(token);
      await verdict.consume(token);
      await this.onConsume(token);
    };
    return { ...verdict, consume };
  }

  /** Adds steps. */
  then(...steps: Step[]): this {
    this.#steps.push(...steps);
    return this;
  }
}

const nothing = (): Promise<void> => Promise.resolve();
export const pending: Verdict = { status: "pending" };
export const stale: Verdict = { status: "stale" };
export const expired: Verdict = { status: "expired" };
export const yes = (editedArgs?: JsonObject): Verdict => ({
  status: "decided",
  decision: { approved: true, by: "ana", ...(editedArgs === undefined ? {} : { editedArgs }) },
  decidedBy: "ana",
  guardUntil: 0,
  consume: nothing,
});
export const no = (reason?: string): Verdict => ({
  status: "decided",
  decision: { approved: false, ...(reason === undefined ? {} : { reason }) },
  decidedBy: "bob",
  guardUntil: 0,
  consume: nothing,
});

const order = z.object({ to: z.string(), amount: z.number().default(1) });
type Order = z.output<typeof order>;
export interface PayOptions {
  readonly name?: string;
  readonly confirm?: boolean | ((args: Order) => boolean | Promise<boolean>);
  readonly effects?: Effects;
  readonly execute?: (args: Order, ctx: ToolContext) => unknown;
}

/** A tool that takes an `order`. */
export function pay({ name = "pay", execute = (args) => `paid ${args.to}`, ...options }: PayOptions = {}) {
  return defineTool({ name, description: "Pays.", inputSchema: order, execute, ...options });
}

/** An executor over these tools, its ledger, and a run of its own. */
export function stand(tools: readonly AnyToolSpec[], options: ExecutorOptions = {}) {
  const registry = new Registry(tools);
  const ledger = new MemoryLedger();
  const executor = new Executor(registry, { ledger, ...options });
  const runId = randomUUID();
  return {
    executor,
    registry,
    ledger,
    runId,
    /** Another attempt at the one run of this stand: what finished replays. */
    again: () => executor.context({ runId }),
    entries: (): Promise<readonly LedgerEntry[]> => executor.ledger.entries(),
    /** The one entry there is. */
    entry: async (): Promise<LedgerEntry> => {
      const entries = await executor.ledger.entries();
      const [first] = entries;
      if (first === undefined || entries.length !== 1) throw new Error(`${entries.length} ledger entries`);
      return first;
    },
  };
}

/** What it rejects with. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: unknown) => error,
  );
}

/** The kind of error it rejects with. */
export async function kindOf(promise: Promise<unknown>): Promise<string> {
  const error = await failure(promise);
  if (!isAgentAdapterError(error)) throw new Error("not one of our errors", { cause: error });
  return error.kind;
}

/** The error of one of our classes that it rejects with. */
export async function ourError(promise: Promise<unknown>): Promise<AgentAdapterError> {
  const error = await failure(promise);
  if (!(error instanceof AgentAdapterError)) throw new Error("not one of our errors", { cause: error });
  return error;
}

/** A promise and its resolver. */
export function gate<T = void>(): { readonly wait: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => undefined;
  const wait = new Promise<T>((resolve) => (open = resolve));
  return { wait, open };
}

/** Let everything that is ready to go on go on. */
export function turns(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}

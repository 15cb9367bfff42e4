// Small flows for tests of single rules: an executor with tools that count, and a run that remembers what happened.
import * as z from "zod";
import { defineTool } from "../../src/tools/define-tool.js";
import { Executor, MemoryLedger, Registry, type ExecutorOptions } from "../../src/index.js";

export const SECRET = "a secret of at least 32 bytes, for tests";

export interface Bench {
  readonly executor: Executor;
  readonly ledger: MemoryLedger;
  /** Arguments of every body that ran, in order. */
  readonly ran: { readonly tool: string; readonly text: string }[];
  /** Texts whose body fails so many more times. */
  readonly failing: Map<string, number>;
  /** Bodies with this text wait for it. */
  readonly waiting: Map<string, Promise<unknown>>;
  /** Another executor of the same program: a restart. */
  readonly again: () => Executor;
  readonly entries: () => Promise<(readonly [tool: string, status: string, attempts: number, cost: number])[]>;
}

/** Tools `echo` (plain), `safe` (parallel-safe), `ask` (needs a human), `once` (per run): each gives its `text` again. */
export function bench(options: Partial<ExecutorOptions> = {}): Bench {
  const ran: Bench["ran"] = [];
  const failing = new Map<string, number>();
  const waiting = new Map<string, Promise<unknown>>();
  const tool = (name: string, more: object) =>
    defineTool({
      name,
      description: name,
      inputSchema: z.object({ text: z.string() }),
      cost: 5,
      ...more,
      execute: async ({ text }) => {
        ran.push({ tool: name, text });
        await waiting.get(text);
        const left = failing.get(text) ?? 0;
        failing.set(text, left - 1);
        if (left > 0) throw new Error("failed on purpose");
        return text;
      },
    });
  const registry = new Registry([
    tool("echo", {}),
    tool("safe", { parallelSafe: true }),
    tool("ask", { confirm: true }),
    tool("once", { oncePerRun: true }),
    tool("some", { confirm: ({ text }: { readonly text: string }) => text.startsWith("ask") }),
  ]);
  const ledger = new MemoryLedger();
  const again = () => new Executor(registry, { secret: SECRET, ledger, ...options });
  return {
    executor: again(),
    ledger,
    ran,
    failing,
    waiting,
    again,
    entries: async () =>
      (await ledger.entries()).map(({ tool: name, status, attempts, cost }) => [name, status, attempts, cost] as const),
  };
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not reject");
}

/** Let everything that can happen now happen. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

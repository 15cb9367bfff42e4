// What lies outside of a run in the parity cases: tools whose bodies are counted, the clock, the ledger. It outlives every process.
import * as z from "zod";
import { Executor, MemoryLedger, Registry, ToolError } from "../../src/index.js";
import {
  Flow,
  join,
  Merge,
  type FlowContext,
  type FlowFunction,
  type InputOf,
  type StateOf,
  type WritesOf,
} from "../../src/flow/index.js";
import { LangGraphApproval } from "../../src/integrations/langgraph/index.js";
import { ManualClock } from "../../src/testing/index.js";
import { defineTool } from "../../src/tools/define-tool.js";

export const SECRET = "a secret of at least 32 bytes, for tests";
const KEY = "a shared secret of 32 bytes, test";
const MINUTE = 60_000;

/** Stands still, but for waits of no time. */
class StillClock extends ManualClock {
  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    return ms > 0 ? super.sleep(ms, signal) : Promise.resolve();
  }
}

export class World {
  readonly ledger = new MemoryLedger();
  readonly clock = new StillClock(1_000_000);
  /** Bodies of tools and functions that ran, in order. */
  readonly ran: string[] = [];
  readonly #failing = new Map<string, number>();

  /** Fails the first so many times in all, whatever the process. */
  failFirst(what: string, times: number): void {
    const left = this.#failing.get(what) ?? times;
    this.#failing.set(what, left - 1);
    if (left > 0) throw new Error(`${what} failed on purpose`);
  }

  /** Let a request run out. */
  wait(): void {
    this.clock.advance(10 * MINUTE);
  }

  /** The executor of a program that has just been started. */
  executor(): Executor {
    const approval = new LangGraphApproval({ key: KEY, requestTtlMs: MINUTE });
    return new Executor(registryOf(this), { secret: SECRET, ledger: this.ledger, clock: this.clock, approval });
  }
}

/** `echo`, `safe`, `ask`, `once`, `some`, `refuse` give their text again; `flaky` fails twice, and is tried twice a call. */
function registryOf(world: World): Registry {
  const text = z.object({ text: z.string() });
  const tool = (name: string, more: object) =>
    defineTool({
      name,
      description: name,
      inputSchema: text,
      cost: 5,
      ...more,
      execute: async (args) => {
        world.ran.push(`${name} ${args.text}`);
        if (args.text.startsWith("slow"))
          for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        if (name === "refuse") throw new ToolError("not today");
        if (name === "flaky") world.failFirst(args.text, 2);
        if (args.text.startsWith("fails")) world.failFirst(args.text, 1);
        return args.text;
      },
    });
  return new Registry([
    tool("echo", {}),
    tool("safe", { parallelSafe: true }),
    tool("ask", { confirm: true }),
    tool("once", { oncePerRun: true }),
    tool("some", { confirm: (args: { readonly text: string }) => args.text.startsWith("ask") }),
    tool("refuse", {}),
    tool("flaky", { retries: { maxAttempts: 2, initialDelayMs: 0 } }),
    defineTool({
      name: "stuck",
      description: "Hangs the first time.",
      inputSchema: text,
      execute: async (args, { signal }) => {
        world.ran.push(`stuck ${args.text}`);
        if (world.ran.filter((one) => one === `stuck ${args.text}`).length > 1) return args.text;
        const left = new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("left"))),
        );
        setImmediate(() => world.wait());
        return left;
      },
    }),
  ]);
}

export const state = {
  log: z.array(z.string()).default([]),
  total: z.number().default(0),
  one: z.string().default(""),
  low: z.number().optional(),
  high: z.number().optional(),
  seen: z.array(z.string()).default([]),
  bag: z.record(z.string(), z.number()).default({}),
  last: z.string().optional(),
  text: z.string().default(""),
  items: z.array(z.string()).default([]),
  list: z.array(z.string()).optional(),
};
export const merge = {
  log: Merge.append,
  total: Merge.sum,
  low: Merge.min,
  high: Merge.max,
  seen: Merge.union,
  bag: Merge.assign,
  last: Merge.last,
  text: Merge.by<string, string>((current, writes) => {
    if (writes.includes("throw")) throw new Error("the rule failed on purpose");
    return `${current ?? "?"}[${writes.join(",")}]`;
  }),
};

export type State = StateOf<typeof state>;
export type Input = InputOf<typeof state>;
type Writes = Partial<WritesOf<typeof state, typeof merge>>;
export type ParityFlow = Flow<typeof state, typeof merge, string>;
export type Code = FlowFunction<Readonly<State>, WritesOf<typeof state, typeof merge>>;
type NodeOptions = NonNullable<Parameters<ParityFlow["node"]>[2]>;
type Ways = readonly (readonly [from: string, to: string])[];

export const empty = (): ParityFlow => new Flow("parity", { state, merge }) as ParityFlow;

/** Writes what it says, and its name into the log. */
export const logs =
  (name: string, more: Writes = {}): Code =>
  () => ({ log: [name], ...more });

/** Calls a tool and logs what it gives. */
export const runs =
  (tool: string, ...texts: readonly string[]): Code =>
  async (_state, ctx: FlowContext) => {
    const log: string[] = [];
    for (const text of texts) log.push(String(await ctx.run(tool, { text })));
    return { log };
  };

export const gate: NodeOptions = { pause: ({ total }) => ({ total }) };

/**
 * A flow along these ways. A node without code of its own logs its name; `J`, `K` and `L` are joins; nodes that lead nowhere are ends.
 */
export function graph(
  ways: Ways,
  code: Readonly<Record<string, Code>> = {},
  options: Readonly<Record<string, NodeOptions>> = {},
): ParityFlow {
  const names = [...new Set(ways.flat())];
  let flow = empty();
  for (const name of names) {
    const work = code[name] ?? logs(name);
    flow = flow.node(
      name,
      /^[JKL]$/.test(name) ? join<State, WritesOf<typeof state, typeof merge>>(work) : work,
      options[name] ?? {},
    );
  }
  for (const [from, to] of ways) flow = flow.edge(from, to);
  const leading = new Set(ways.map(([from]) => from));
  for (const name of names) if (!leading.has(name)) flow = flow.end(name);
  return flow;
}

/** What the human says, by turn; `late`: yes, when the request has run out. */
export type Said = "yes" | "no" | "late" | { readonly edit: Readonly<Record<string, unknown>> };

/** A flow that both runners must treat alike. */
export interface ParityCase {
  readonly name: string;
  readonly flow: (world: World) => ParityFlow;
  readonly input?: Input;
  readonly maxSteps?: number;
  /** By node: what is said to its requests, one after the other; the last one again and again. Default: yes. */
  readonly says?: Readonly<Record<string, Said | readonly Said[]>>;
  /** Which of several requests are answered at a time. Default: all of them, as a map. */
  readonly order?: "all" | "first" | "last";
  /** How often a run that failed is tried again with null. */
  readonly tries?: number;
  /** How it ends: so that the two do not agree on something wrong. */
  readonly ends: Ending;
}

export interface Ending {
  readonly status: "done" | "denied" | "thrown";
  readonly log?: readonly string[];
  readonly steps?: number;
  readonly pauses?: number;
  /** The kind of the error. */
  readonly error?: string;
  readonly state?: Readonly<Record<string, unknown>>;
  /** How many bodies of tools ran. */
  readonly ran?: number;
  readonly visits?: Readonly<Record<string, number>>;
}

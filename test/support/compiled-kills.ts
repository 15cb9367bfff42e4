// A person works on a compiled flow while its processes are killed: follows the documented steps until the flow is finished, and every
// effect is judged. Each answer carries a number of its own in its edit, so an effect says which answer let it run.
import { existsSync, readFileSync } from "node:fs";
import { approve, type Answer } from "agent-adapter";
import { LangGraphApproval } from "agent-adapter/langgraph";
import { openSqlite, type SqlStores } from "agent-adapter/sqlite";
import { digest } from "../../src/crypto/digest.js";
import { startChild, type Child } from "./child.js";
import type { CompiledEffect, CompiledStep, CompiledTurn, CompiledWaiting } from "./children/compiled-worker.js";
import type { SaverPlace } from "./children/moments.js";
import { SharedWorld, workerScript } from "./graph-process.js";

const PLAIN = ["p1", "p2", "p3", "p4", "p5", "g1"];
const DURABILITIES = ["sync", "async", "exit"] as const;
/** More than a call of the flow has, so that some are not killed. */
const MOMENTS = 60;
const MOST_STEPS = 40;
const MOST_KILLS = 5;
const EXPECTED = /^(done|paused|ApprovalAlreadyDecided)$/;

export interface CompiledTally {
  readonly rounds: number;
  steps: number;
  kills: number;
  /** Approved bodies that ran. */
  runs: number;
  /** Requests that said that nobody knows how the last attempt ended. */
  unknown: number;
  /** Plain calls that ran again between their effect and their row. */
  again: number;
  /**
   * By durability: plain calls that ran again in a new task run, because LangGraph had not saved the checkpoint of their step yet
   * (async) or anything at all (exit). Never with sync.
   */
  readonly unsaved: Record<string, number>;
  readonly ended: Record<string, number>;
  readonly wrong: string[];
}

/** Processes of one world. */
export class CompiledProcesses {
  readonly shared: SharedWorld;
  readonly port: LangGraphApproval;
  readonly #spare: Promise<Child>[] = [];

  constructor(saver?: SaverPlace) {
    this.shared = new SharedWorld(saver);
    this.port = new LangGraphApproval({ key: this.shared.world.secret });
    this.#more();
    this.#more();
  }

  #more(): void {
    const started = this.#start();
    started.catch(() => undefined);
    this.#spare.push(started);
  }

  async #start(): Promise<Child> {
    const child = startChild(await workerScript("compiled-worker"), this.shared.world);
    if ((await child.next())?.["ready"] !== true) throw new Error("the process ended before it was ready");
    return child;
  }

  /** Every kill needs a new one: spares are started ahead. */
  take(): Promise<Child> {
    this.#more();
    return this.#spare.shift() ?? Promise.reject(new Error("no spare process"));
  }

  lines(thread: string): readonly CompiledEffect[] {
    const { effects } = this.shared.world;
    if (!existsSync(effects)) return [];
    const all = readFileSync(effects, "utf8").split("\n").filter(Boolean);
    return all.map((line) => JSON.parse(line) as CompiledEffect).filter((line) => line.thread === thread);
  }

  stores(): Promise<SqlStores> {
    return openSqlite(this.shared.world.stores, { synchronous: "normal" });
  }

  async stop(): Promise<void> {
    for (const child of await Promise.all(this.#spare)) {
      child.kill();
      await child.ended();
    }
    this.shared.remove();
  }
}

export type Program = Pick<CompiledStep, "thread" | "durability" | "claims" | "maxConcurrency" | "bodyMs" | "secret">;

/** `undefined`: the process died over it. */
export async function stepIn(child: Child, step: CompiledStep): Promise<CompiledTurn | undefined> {
  child.send(step);
  // What the worker answers with.
  return (await child.next())?.["turn"] as CompiledTurn | undefined;
}

/** That many threads, each with kills until it is finished. */
export async function compiledKillRounds(
  processes: CompiledProcesses,
  { rounds, random }: { readonly rounds: number; readonly random: () => number },
): Promise<CompiledTally> {
  const tally: CompiledTally = {
    rounds,
    steps: 0,
    kills: 0,
    runs: 0,
    unknown: 0,
    again: 0,
    unsaved: {},
    ended: {},
    wrong: [],
  };
  const stores = await processes.stores();
  let child = await processes.take();
  for (let round = 0; round < rounds; round += 1) {
    const program: Program = {
      thread: `killed-${process.pid}-${round}-${Math.floor(random() * 1e9)}`,
      durability: DURABILITIES[round % DURABILITIES.length] ?? "sync",
      claims: round % 2 === 0,
      bodyMs: round % 4 === 0 ? 3 : 0,
      ...(round % 5 === 1 ? { maxConcurrency: 1 } : {}),
    };
    const person = new Person({ processes, program, random, tally });
    while (!person.isFinished) {
      if (child.isGone) child = await processes.take();
      await person.step(child);
    }
    await person.judge(stores);
    // The next thread does not start with what this process remembers.
    if (round % 7 === 6) {
      child.kill();
      await child.ended();
    }
  }
  child.kill();
  await child.ended();
  await stores.close();
  return tally;
}

interface Work {
  readonly processes: CompiledProcesses;
  readonly program: Program;
  readonly random: () => number;
  readonly tally: CompiledTally;
}

class Person {
  readonly #work: Work;
  readonly #signed = new Map<string, string>();
  readonly #unknown = new Set<string>();
  #steps = 0;
  #kills = 0;
  #seen: CompiledTurn["state"] = {};
  isFinished = false;

  constructor(work: Work) {
    this.#work = work;
  }

  async step(child: Child): Promise<void> {
    const { program, random, tally } = this.#work;
    const looked = await stepIn(child, { ...program, op: { do: "pending" } });
    if (looked?.ended !== "pending")
      return this.#giveUp(`it could not be looked at: ${looked?.ended} ${looked?.message}`);
    const op = this.#next(looked);
    if (op === undefined) return;
    this.#steps += 1;
    tally.steps += 1;
    if (this.#steps > MOST_STEPS) return this.#giveUp(`not finished after ${MOST_STEPS} steps`);
    const killAt = this.#kills < MOST_KILLS ? 1 + Math.floor(random() * MOMENTS) : undefined;
    const turn = await stepIn(child, { ...program, op, ...(killAt === undefined ? {} : { killAt }) });
    if (turn === undefined) {
      await child.ended();
      this.#kills += 1;
      tally.kills += 1;
      return;
    }
    tally.ended[turn.ended] = (tally.ended[turn.ended] ?? 0) + 1;
    if (!EXPECTED.test(turn.ended)) this.#wrong(`${op.do} ended ${turn.ended}: ${turn.message}`);
  }

  /** What the documentation says to do. */
  #next({ waiting, unfinished, state }: CompiledTurn): CompiledStep["op"] | undefined {
    const { random } = this.#work;
    for (const each of waiting) if (requestOf(each).previousAttempt !== null) this.#unknown.add(bindingOf(each));
    const open = waiting.filter(({ status }) => status === "waiting");
    if (waiting.length > open.length) return { do: random() < 0.5 ? "null" : "raw-null" };
    if (open.length > 0) return this.#answer(open);
    if (unfinished.length > 0) return { do: random() < 0.5 ? "null" : "raw-null" };
    if (Array.isArray(state["seen"]) && state["seen"].length > 0) {
      this.#seen = state;
      this.isFinished = true;
      return undefined;
    }
    // Killed before anything was saved.
    return { do: "start" };
  }

  #answer(open: readonly CompiledWaiting[]): CompiledStep["op"] {
    const { random, processes } = this.#work;
    const chosen = random() < 0.5 ? open : open.slice(0, 1);
    const values: Record<string, Answer> = {};
    for (const each of chosen) {
      const nonce = `answer-${this.#signed.size + 1}`;
      this.#signed.set(nonce, each.node);
      const editedArgs = each.node === "gated" ? { tag: nonce } : { call: "a1", nonce };
      values[each.id] = processes.port.resumeValue(each.interrupt as never, approve({ editedArgs })); // as it was stored
    }
    return { do: "answer", values, raw: random() < 0.5 };
  }

  #giveUp(sentence: string): void {
    this.#wrong(sentence);
    this.isFinished = true;
  }

  #wrong(sentence: string): void {
    this.#work.tally.wrong.push(`${JSON.stringify(this.#work.program)}: ${sentence}`);
  }

  async judge(stores: SqlStores): Promise<void> {
    const { processes, program, tally } = this.#work;
    const lines = processes.lines(program.thread);
    const runs = lines.filter(({ call }) => call === "a1");
    const nonces = runs.map(({ nonce }) => nonce ?? "");
    tally.runs += runs.length;
    tally.unknown += this.#unknown.size;
    if (new Set(nonces).size !== nonces.length) this.#wrong(`two runs for one answer: ${nonces.join(" ")}`);
    for (const nonce of nonces) if (this.#signed.get(nonce) !== "asks") this.#wrong(`a1 ran with ${nonce}`);
    if (runs.length === 0 || runs.length > 1 + this.#unknown.size) this.#wrong(`a1 ran ${runs.length} times`);
    for (const call of PLAIN) this.#judgePlain(call, lines);
    this.#judgeGate(lines);
    this.#judgeState(nonces.at(-1));
    const entries = await stores.ledger.entries({ runId: program.thread });
    const calls = entries.map(({ callId }) => callId);
    const expected = [...PLAIN, "a1", "gate"];
    // Of a step that LangGraph had not saved the entries stay, as what they say has happened.
    const names = program.durability === "sync" ? calls : [...new Set(calls)];
    if (names.toSorted().join(" ") !== expected.toSorted().join(" ")) this.#wrong(`the ledger has ${names.join(" ")}`);
  }

  /** C4: again only between its effect and its row, under the same key. */
  #judgePlain(call: string, lines: readonly CompiledEffect[]): void {
    const { program, tally } = this.#work;
    const row = `d:${digest("agent-adapter/row/v1", [call])}`;
    const ran = lines.filter((line) => line.call === call);
    if (ran.length === 0) this.#wrong(`${call} never ran`);
    ran.slice(1).forEach((again, index) => {
      const before = ran[index];
      const between = lines.slice(lines.indexOf(before ?? again), lines.indexOf(again));
      const written = between.some((line) => line.row?.endsWith(row) === true);
      if (again.key !== before?.key && program.durability !== "sync")
        tally.unsaved[program.durability] = (tally.unsaved[program.durability] ?? 0) + 1;
      else if (again.key !== before?.key) this.#wrong(`${call} ran again under another key`);
      else if (written) this.#wrong(`${call} ran again although its result was written`);
      else tally.again += 1;
    });
  }

  /** Nothing of the step ran before its gate, and what ran behind it ran with the edit of its answer. */
  #judgeGate(lines: readonly CompiledEffect[]): void {
    for (const { call, nonce } of lines) {
      if (call === undefined || ["p1", "p2", "a1"].includes(call)) continue;
      if (this.#signed.get(nonce ?? "") !== "gated")
        this.#wrong(`${call} ran with ${nonce}, which no gate let through`);
    }
  }

  #judgeState(nonce: string | undefined): void {
    const seen = Array.isArray(this.#seen["seen"]) ? this.#seen["seen"].map(String) : [];
    const calls = seen.map((text) => text.split(" ")[1] ?? "").toSorted();
    if (calls.join(" ") !== "a1 g1 p1 p2 p4 p5") this.#wrong(`the state has ${calls.join(" ")}`);
    if (!seen.includes(`did a1 ${nonce}`)) this.#wrong(`the state has ${seen.join(", ")}, and a1 ran with ${nonce}`);
  }
}

function requestOf({ interrupt }: CompiledWaiting): { readonly previousAttempt: unknown } {
  return (interrupt.value as { readonly request: { readonly previousAttempt: unknown } }).request; // as the package made it
}

function bindingOf({ interrupt }: CompiledWaiting): string {
  return (interrupt.value as { readonly binding: string }).binding; // as the package made it
}

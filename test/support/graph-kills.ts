// A person works on one thread while its processes are killed: follows the documented steps until the thread is finished, and
// every effect is judged. Each answer carries a number of its own in its edit, so an effect says which answer let it run.
import { approve } from "agent-adapter";
import type { Effect, Op, Program, SaverPlace, Turn, Waiting } from "./children/graph-worker.js";
import { GraphProcess, ProcessThread, SharedWorld } from "./graph-process.js";

const CALLS = ["p1", "p2", "a1", "a2"];
const ASKING = ["a1", "a2"];
const NODES: readonly Program["node"][] = ["toolNode", "oneUse", "toolTask"];
const DURABILITIES = ["sync", "async", "exit"] as const;
const DURABLE = ["pause", "call"] as const;
/** More than a step has, so that some steps are not killed. */
const MOMENTS = 28;
const MOST_STEPS = 30;
/** How a step may end. */
const EXPECTED = /^(done|asks [a\d. ]+|ApprovalAlreadyDecided)$/;

export interface KillTally {
  readonly rounds: number;
  steps: number;
  kills: number;
  /** Approved bodies that ran. */
  runs: number;
  /** Calls asked again because nobody knew how they had ended. */
  unknown: number;
  /** How steps ended that were not killed. */
  readonly ended: Record<string, number>;
  readonly killedAt: Record<string, number>;
  readonly wrong: string[];
}

interface KillOptions {
  readonly rounds: number;
  readonly random: () => number;
  readonly saver?: SaverPlace;
}

/** Spare processes are started ahead: every kill needs a new one. */
class Spares {
  readonly #shared: SharedWorld;
  readonly #spare: Promise<GraphProcess>[] = [];

  constructor(shared: SharedWorld, count: number) {
    this.#shared = shared;
    for (let n = 0; n < count; n += 1) this.#add();
  }

  #add(): void {
    const started = GraphProcess.start(this.#shared);
    // Whoever takes it hears of it.
    started.catch(() => undefined);
    this.#spare.push(started);
  }

  take(): Promise<GraphProcess> {
    this.#add();
    return this.#spare.shift() ?? Promise.reject(new Error("no spare process"));
  }

  async stop(): Promise<void> {
    const started = await Promise.all(this.#spare);
    await Promise.all(started.map((each) => each.stop()));
  }
}

/** That many threads, each with kills until it is finished. */
export async function killRounds({ rounds, random, saver }: KillOptions): Promise<KillTally> {
  const shared = new SharedWorld(saver);
  const spares = new Spares(shared, 2);
  const tally: KillTally = { rounds, steps: 0, kills: 0, runs: 0, unknown: 0, ended: {}, killedAt: {}, wrong: [] };
  let process = await spares.take();
  for (let round = 0; round < rounds; round += 1) {
    const program: Program = {
      node: NODES[round % NODES.length] ?? "toolNode",
      durability: DURABILITIES[Math.floor(round / NODES.length) % DURABILITIES.length] ?? "async",
      durable: DURABLE[Math.floor(round / 9) % DURABLE.length] ?? "pause",
      claims: round % 5 === 4,
      // Nobody but the dead works on this thread: marks are old at once.
      unknownAfterMs: 1,
      bodyMs: round % 2 === 0 ? 2 : 0,
    };
    const person = new Person(new ProcessThread(shared, program), random, tally);
    while (!person.isFinished) {
      if (process.child.isGone) process = await spares.take();
      await person.step(process);
    }
    person.judge();
    // The next thread does not start with what this process remembers.
    if (round % 10 === 9) {
      await process.stop();
      process = await spares.take();
    }
  }
  for (const moment of shared.kills()) tally.killedAt[moment] = (tally.killedAt[moment] ?? 0) + 1;
  await process.stop();
  await spares.stop();
  shared.remove();
  return tally;
}

class Person {
  readonly #thread: ProcessThread;
  readonly #random: () => number;
  readonly #tally: KillTally;
  /** Which call each number was signed for. */
  readonly #signed = new Map<string, string>();
  readonly #unknown = new Map<string, Set<string>>();
  #plainAtFirstPause: number | undefined;
  #steps = 0;
  #kills = 0;
  #last: Turn | undefined;
  isFinished = false;

  constructor(thread: ProcessThread, random: () => number, tally: KillTally) {
    this.#thread = thread;
    this.#random = random;
    this.#tally = tally;
  }

  /** Look at what waits and do what the documentation says. */
  async step(process: GraphProcess): Promise<void> {
    const op = await this.#next(process);
    if (op === undefined) return;
    this.#steps += 1;
    this.#tally.steps += 1;
    if (this.#steps > MOST_STEPS) return this.#giveUp(`not finished after ${MOST_STEPS} steps`);
    const killAt = this.#kills < 4 ? 1 + Math.floor(this.#random() * MOMENTS) : undefined;
    const turn = await this.#thread.tryIn(process, op, killAt === undefined ? {} : { killAt });
    if (turn === undefined) {
      await process.child.ended();
      this.#kills += 1;
      this.#tally.kills += 1;
      return;
    }
    const kind = turn.ended.replaceAll(/ a\d\.\d/g, "");
    this.#tally.ended[kind] = (this.#tally.ended[kind] ?? 0) + 1;
    if (!EXPECTED.test(turn.ended))
      this.#wrong(`${JSON.stringify(op).slice(0, 80)} ended ${turn.ended}: ${turn.message}`);
    if (turn.ended === "done") this.#end(turn);
  }

  async #next(process: GraphProcess): Promise<Op | undefined> {
    const seen = await this.#thread.in(process, { do: "pending" });
    if (seen.ended !== "pending") {
      this.#giveUp(`pendingApprovals: ${seen.ended}: ${seen.message}`);
      return undefined;
    }
    for (const each of seen.waiting) this.#note(each);
    const waiting = seen.waiting.filter(({ status }) => status === "waiting");
    if (seen.waiting.some(({ status }) => status === "used")) return { do: "resume", answer: null };
    if (waiting.length > 0) return this.#answer(waiting);
    if (seen.unfinished.length > 0) return this.#random() < 0.5 ? { do: "null" } : { do: "resume", answer: null };
    if (seen.results.length > 0) {
      this.#end(seen);
      return undefined;
    }
    // Killed before anything was saved.
    return { do: "start", calls: CALLS };
  }

  #note({ interrupt }: Waiting): void {
    this.#plainAtFirstPause ??= this.#plain();
    const { request, binding } = interrupt.value;
    if (request.previousAttempt === null) return;
    const callId = String((request.arguments as { n?: string }).n);
    const known = this.#unknown.get(callId) ?? new Set();
    this.#unknown.set(callId, known.add(binding));
  }

  /** One of them, or all; signed for what is shown. */
  #answer(waiting: readonly Waiting[]): Op {
    const chosen = this.#random() < 0.5 ? waiting : waiting.slice(0, 1);
    const values = Object.fromEntries(
      chosen.map(({ id, callId, interrupt }) => {
        const nonce = `answer-${this.#signed.size + 1}`;
        this.#signed.set(nonce, callId);
        return [id, this.#thread.sign(interrupt, approve({ editedArgs: { n: callId, nonce } }))];
      }),
    );
    return this.#random() < 0.5 ? { do: "by-id", values } : { do: "resume", answer: values };
  }

  #end(turn: Turn): void {
    this.#last = turn;
    this.isFinished = true;
  }

  #giveUp(sentence: string): void {
    this.#wrong(sentence);
    this.isFinished = true;
  }

  #wrong(sentence: string): void {
    this.#tally.wrong.push(`${this.#thread.id} ${JSON.stringify(this.#thread.program)}: ${sentence}`);
  }

  #plain(): number {
    return this.#thread.effects().filter(({ callId }) => !ASKING.includes(callId)).length;
  }

  judge(): void {
    const approved = this.#thread.effects().filter(({ callId }) => ASKING.includes(callId));
    this.#tally.runs += approved.length;
    const nonces = approved.map(({ nonce }) => nonce);
    if (new Set(nonces).size !== nonces.length) this.#wrong(`two runs for one answer: ${nonces.join(" ")}`);
    for (const { nonce, callId } of approved) {
      if (this.#signed.get(nonce) !== callId) this.#wrong(`${callId} ran with an answer to ${this.#signed.get(nonce)}`);
    }
    for (const callId of ASKING) this.#judgeCall(callId, approved);
    this.#judgePlain();
  }

  /** It ran again only after a person had been told, and its result is that of its last run. */
  #judgeCall(callId: string, approved: readonly Effect[]): void {
    const runs = approved.filter((effect) => effect.callId === callId);
    const unknown = this.#unknown.get(callId)?.size ?? 0;
    this.#tally.unknown += unknown;
    if (runs.length > 1 + unknown) this.#wrong(`${callId} ran ${runs.length} times, and nobody was told`);
    const results = this.#last?.results.filter(([name]) => name === callId) ?? [];
    const [, result = ""] = results[0] ?? [];
    const last = runs.at(-1)?.nonce ?? "nothing";
    if (results.length !== 1 || !new RegExp(`did ${callId} ${last}\\b`).test(result)) {
      this.#wrong(`${callId} ran with ${last}, and its results are ${JSON.stringify(results)}`);
    }
  }

  /** What finished before a pause is not run again. */
  #judgePlain(): void {
    const results = this.#last?.results.filter(([name]) => name.startsWith("p")).length;
    if (results !== 2) this.#wrong(`${results} results of plain calls`);
    if (this.#thread.program.node === "toolTask") return;
    if (this.#plain() !== this.#plainAtFirstPause) this.#wrong("a plain call ran again after the first pause");
  }
}

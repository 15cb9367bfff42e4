// A thread that OS processes take turns on, and the person who answers: signs what is shown with the key, in a process that
// runs no graph.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";
import { build } from "vite";
import { approve, type Answer, type ApprovalDecision } from "agent-adapter";
import { LangGraphApproval } from "agent-adapter/langgraph";
import { startChild, type Child } from "./child.js";
import type { Ask, Effect, Op, Program, SaverPlace, Step, Turn, World } from "./children/graph-worker.js";

const SECRET = "a secret that all processes of a test share";
const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
type Worker = "graph-worker" | "compiled-worker";

const built = new Map<Worker, Promise<string>>();
let worlds = 0;

const fileOf = (worker: Worker) => `${worker}-${process.pid}-${threadId}.mjs`;

/** A worker as one file, built once for as long as a world is open: a process starts in a third of the time. */
export function workerScript(worker: Worker = "graph-worker"): Promise<string> {
  const script = built.get(worker) ?? buildWorker(worker);
  built.set(worker, script);
  return script;
}

async function buildWorker(worker: Worker): Promise<string> {
  const name = fileOf(worker);
  const conditions = ["agent-adapter-source", "node", "import", "module", "default"];
  await build({
    configFile: false,
    logLevel: "error",
    root: ROOT,
    ssr: { resolve: { conditions }, noExternal: ["agent-adapter"] },
    build: {
      ssr: `test/support/children/${worker}.ts`,
      // Inside of the project, where it finds its packages.
      outDir: ".tmp",
      emptyOutDir: false,
      minify: false,
      rolldownOptions: { output: { entryFileNames: name, codeSplitting: false } },
    },
  });
  return `../../../.tmp/${name}`;
}

/** A folder with everything that processes share. */
export class SharedWorld {
  readonly folder = mkdtempSync(join(tmpdir(), "aa-processes-"));
  readonly world: World;

  constructor(saver?: SaverPlace) {
    worlds += 1;
    this.world = {
      saver: saver ?? { engine: "sqlite", path: join(this.folder, "checkpoints.db") },
      stores: join(this.folder, "stores.db"),
      effects: join(this.folder, "effects"),
      secret: SECRET,
    };
  }

  /** What bodies did on a thread, in order. */
  effects(thread: string): readonly Effect[] {
    return lines(this.world.effects)
      .map((line) => JSON.parse(line) as Effect)
      .filter((effect) => effect.thread === thread);
  }

  /** Where processes killed themselves. */
  kills(): readonly string[] {
    return lines(`${this.world.effects}.kills`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
    worlds -= 1;
    if (worlds > 0) return;
    for (const worker of built.keys()) rmSync(join(ROOT, ".tmp", fileOf(worker)), { force: true });
    built.clear();
  }
}

function lines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
}

/** One OS process that runs steps of graphs. */
export class GraphProcess {
  readonly child: Child;

  private constructor(child: Child) {
    this.child = child;
  }

  static async start({ world }: SharedWorld): Promise<GraphProcess> {
    const child = startChild(await workerScript(), world);
    const message = await child.next();
    if (message?.["ready"] !== true) throw new Error("the process ended before it was ready");
    return new GraphProcess(child);
  }

  /** So many at once. */
  static several(shared: SharedWorld, count: number): Promise<GraphProcess[]> {
    return Promise.all(Array.from({ length: count }, () => GraphProcess.start(shared)));
  }

  /** The turns of a step; `undefined` when the process died in it. */
  async run(step: Step): Promise<{ readonly turns: readonly Turn[]; readonly moments: readonly string[] } | undefined> {
    this.child.send(step);
    const answer = await this.child.next();
    return answer === undefined
      ? undefined
      : { turns: answer["turns"] as Turn[], moments: answer["moments"] as string[] };
  }

  async stop(): Promise<void> {
    this.child.kill();
    await this.child.ended();
  }
}

let threads = 0;

/** A thread and the program that runs it. */
export class ProcessThread {
  readonly id: string;
  readonly shared: SharedWorld;
  readonly program: Program;
  readonly port: LangGraphApproval;

  constructor(shared: SharedWorld, program: Program) {
    threads += 1;
    this.id = `thread-${threads}`;
    this.shared = shared;
    this.program = program;
    this.port = new LangGraphApproval({ key: program.key ?? program.secret ?? SECRET });
  }

  /** One step in that process; `undefined`: it died. */
  async tryIn(process: GraphProcess, op: Op, more: MoreOfAStep = {}): Promise<Turn | undefined> {
    const told = await process.run(this.step(op, more));
    return told?.turns[0];
  }

  async in(process: GraphProcess, op: Op, more: MoreOfAStep = {}): Promise<Turn> {
    const turn = await this.tryIn(process, op, more);
    if (turn === undefined) throw new Error("the process died");
    return turn;
  }

  get secret(): string {
    return typeof this.program.secret === "string" ? this.program.secret : SECRET;
  }

  /** The newest checkpoint of the thread. */
  async checkpointId(process: GraphProcess): Promise<string> {
    return (await this.in(process, { do: "pending" })).checkpointId;
  }

  step(op: Op, { changes = {}, ...more }: MoreOfAStep = {}): Step {
    return { thread: this.id, op, ...more, program: { ...this.program, ...changes } };
  }

  sign(ask: Ask, decision: ApprovalDecision = approve({ by: "ana" })): Answer {
    return this.port.resumeValue(ask, decision);
  }

  /** An id map that answers all of these. */
  answers(asks: readonly Ask[], decision?: ApprovalDecision): Record<string, Answer> {
    return Object.fromEntries(asks.map((ask) => [ask.id, this.sign(ask, decision)]));
  }

  effects(): readonly Effect[] {
    return this.shared.effects(this.id);
  }

  /** How often each body ran: `a1 a2x2 p1`. */
  ran(): string {
    const times = new Map<string, number>();
    for (const { callId } of this.effects()) times.set(callId, (times.get(callId) ?? 0) + 1);
    return [...times]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([callId, count]) => (count === 1 ? callId : `${callId}x${count}`))
      .join(" ");
  }
}

export interface MoreOfAStep extends Partial<Pick<Step, "times" | "killAt" | "checkpointId">> {
  /** What another version of the program decides otherwise. */
  readonly changes?: Partial<Program>;
}

/** The one ask of a turn. */
export function only(turn: Turn): Ask {
  const [ask] = turn.asks;
  if (ask === undefined || turn.asks.length !== 1) throw new Error(`expected one ask: ${turn.ended} ${turn.message}`);
  return ask;
}

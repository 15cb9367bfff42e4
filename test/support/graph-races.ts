// Ten callers answer one request at the same moment, and the judgement of what each was told and what ran.
import { Team } from "./barrier.js";
import type { Message } from "./child.js";
import type { Op, Program, SaverPlace, Turn } from "./children/graph-worker.js";
import { only, ProcessThread, SharedWorld, workerScript } from "./graph-process.js";

const PROCESSES = 4;
/** Ten callers: all in one process, or spread over four. */
const SPREADS: readonly (readonly number[])[] = [
  [10, 0, 0, 0],
  [3, 3, 2, 2],
];
const NODES: readonly Program["node"][] = ["toolNode", "oneUse", "toolTask"];
const DURABILITIES = ["sync", "async", "exit"] as const;

export interface RaceOptions {
  readonly how: "resume" | "by-id" | "plain";
  /** `undefined`: in turns. */
  readonly claims?: boolean;
  readonly rounds: number;
}

/** Four processes on one checkpointer. */
export class RaceTrack {
  readonly shared: SharedWorld;
  readonly team: Team;

  private constructor(shared: SharedWorld, team: Team) {
    this.shared = shared;
    this.team = team;
  }

  static async open(saver?: SaverPlace): Promise<RaceTrack> {
    const shared = new SharedWorld(saver);
    return new RaceTrack(shared, await Team.start(PROCESSES, await workerScript(), shared.world));
  }

  async close(): Promise<void> {
    await this.team.stop();
    this.shared.remove();
  }
}

export interface RaceTally {
  readonly rounds: number;
  runs: number;
  /** How callers ended. */
  readonly ended: Record<string, number>;
  /** Sentences about what must not be. */
  readonly wrong: string[];
}

/** In turns: in one process, from four; every kind of node, every durability. */
export async function race({ shared, team }: RaceTrack, { how, claims, rounds }: RaceOptions): Promise<RaceTally> {
  const tally: RaceTally = { rounds, runs: 0, ended: {}, wrong: [] };
  for (let round = 0; round < rounds; round += 1) {
    const program: Program = {
      node: NODES[round % NODES.length] ?? "toolNode",
      durability: DURABILITIES[Math.floor(round / 2) % DURABILITIES.length] ?? "async",
      claims: claims ?? round % 4 < 2,
      bodyMs: round % 5 === 0 ? 5 : 0,
    };
    const spread = SPREADS[round % SPREADS.length] ?? [];
    await oneRace(new ProcessThread(shared, program), team, { how, spread, tally });
  }
  return tally;
}

interface OneRace {
  readonly how: RaceOptions["how"];
  readonly spread: readonly number[];
  readonly tally: RaceTally;
}

async function oneRace(thread: ProcessThread, team: Team, { how, spread, tally }: OneRace): Promise<void> {
  const [started] = await team.round([thread.step({ do: "start", calls: ["p1", "a1"] })]);
  const ask = only(firstOf(started));
  const answer = thread.sign(ask);
  const ops: Record<RaceOptions["how"], Op> = {
    resume: { do: "resume", answer },
    "by-id": { do: "by-id", values: { [ask.id]: answer } },
    plain: { do: "plain", value: answer },
  };
  // Who has nothing to do looks at what waits, in the middle of it all.
  const steps = spread.map((times) =>
    times === 0 ? thread.step({ do: "pending" }) : thread.step(ops[how], { times }),
  );
  const answers = await team.round(steps);
  const told = answers.flatMap((each, index) => (spread[index] === 0 ? [] : turnsIn(each)));
  for (const { ended } of told) tally.ended[ended] = (tally.ended[ended] ?? 0) + 1;
  tally.runs += thread.effects().filter(({ callId }) => callId === "a1").length;
  for (const sentence of wrongWith(thread, told, how))
    tally.wrong.push(`${thread.id} ${JSON.stringify(thread.program)}: ${sentence}`);
  // It has gone on: nothing runs any more.
  const [late] = await team.round([thread.step(ops[how])]);
  const { ended } = firstOf(late);
  if (ended !== (how === "resume" ? "ApprovalAlreadyDecided" : "done"))
    tally.wrong.push(`${thread.id}: a late ${how} ended ${ended}`);
  if (thread.ran() !== "a1 p1") tally.wrong.push(`${thread.id}: afterwards ${thread.ran()} ran`);
}

function turnsIn(message: Message | undefined): readonly Turn[] {
  if (message === undefined) throw new Error("a process died");
  return message["turns"] as Turn[];
}

function firstOf(message: Message | undefined): Turn {
  const [first] = turnsIn(message);
  if (first === undefined) throw new Error("nothing was told");
  return first;
}

function wrongWith(thread: ProcessThread, told: readonly Turn[], how: RaceOptions["how"]): string[] {
  const done = told.filter(({ ended }) => ended === "done");
  const refused = told.filter(({ ended }) => ended === "ApprovalAlreadyDecided");
  const wrong: string[] = [];
  if (thread.ran() !== "a1 p1") wrong.push(`${thread.ran()} ran`);
  if (told.length !== 10) wrong.push(`${told.length} were told`);
  if (done.length + refused.length !== told.length) {
    wrong.push(`told ${[...new Set(told.map(({ ended, message }) => `${ended} (${message})`))].join(", ")}`);
  }
  // A raw invoke that starts after the thread went on returns the finished state.
  if (how === "resume" ? done.length !== 1 : done.length < 1) wrong.push(`${done.length} were done`);
  for (const { results } of done) {
    if (results.length !== 2 || !results.every(([callId, result]) => result.includes(`did ${callId} model`))) {
      wrong.push(`results ${JSON.stringify(results)}`);
    }
  }
  return wrong;
}

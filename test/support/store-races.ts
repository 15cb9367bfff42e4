// Races of OS processes about the same records, and the judgement of what they were told and what is kept.
import { approve, deny, type ApprovalRequest } from "../../src/index.js";
import { bindingOf, useDigest, type ApprovalRecord } from "../../src/spi.js";
import type { SqlStores } from "../../src/stores/sqlite/index.js";
import type { Team } from "./barrier.js";
import type { Task, Told } from "./children/store-worker.js";

const SIZE = 8;
const DECIDERS = 2;
const CONSUMERS = 4;

export function request(n: number): ApprovalRequest {
  return {
    v: 1,
    kind: "tool",
    runId: `run-${n}`,
    threadId: `thread-${n % 100}`,
    taskRun: [`thread-${n}`, "tools:1"],
    tool: "pay",
    description: "pays somebody",
    effects: "destructive",
    definitionDigest: "0".repeat(64),
    arguments: { to: "ana", amount: n },
    callId: `call-${n}`,
    generation: 0,
    requestedBy: null,
    expiresAt: null,
    supersedes: null,
    previousAttempt: null,
  };
}

export interface Race {
  readonly n: number;
  readonly told: readonly Told[];
}

/** Two decide and four use, all at once; roles move on with every record. */
export async function raceForApproval(team: Team, n: number, stores: SqlStores): Promise<Race> {
  const id = (await stores.approvals.create(request(n))).id;
  return answersOf(team, n, (place, process) => {
    if (place < DECIDERS) return { role: "decide", id, as: `reviewer ${process}` };
    if (place < DECIDERS + CONSUMERS) return { role: "consume", id, as: `token ${n} of ${process}` };
    return { role: "idle", id, as: "" };
  });
}

/** Eight claim one binding, all at once. */
export function raceForClaim(team: Team, n: number): Promise<Race> {
  return answersOf(team, n, (_, process) => ({ role: "claim", id: `binding ${n}`, as: `token ${n} of ${process}` }));
}

async function answersOf(team: Team, n: number, task: (place: number, process: number) => Task): Promise<Race> {
  const tasks = Array.from({ length: SIZE }, (_, process) => task((process + SIZE - (n % SIZE)) % SIZE, process));
  const answers = await team.round(tasks);
  // Children answer with what they were told, or are dead.
  return { n, told: answers.flatMap((answer) => (answer === undefined ? [] : [answer as Told])) };
}

export interface Tally {
  readonly records: number;
  decided: number;
  used: number;
  open: number;
  /** Sentences about what must not be. */
  readonly wrong: string[];
}

/** Compare what everybody was told with what is kept. `isCalm`: nothing was cut or killed, so that everything must have happened. */
export async function judgeApprovals(stores: SqlStores, races: readonly Race[], isCalm: boolean): Promise<Tally> {
  const tally: Tally = { records: races.length, decided: 0, used: 0, open: 0, wrong: [] };
  for (const race of races) {
    const record = await stores.approvals.get(bindingOf(request(race.n)));
    const wrong =
      record === undefined ? ["it is gone"] : [...wrongWith(race, record), ...(isCalm ? missingIn(race) : [])];
    tally.wrong.push(...wrong.map((sentence) => `record ${race.n}: ${sentence}`));
    tally.open += race.told.filter(({ outcome }) => outcome === "open").length;
    tally.decided += record?.decision === null ? 0 : 1;
    tally.used += record?.status === "used" ? 1 : 0;
  }
  return tally;
}

function wonBy({ told }: Race, role: Task["role"]): readonly string[] {
  return told.filter((each) => each.role === role && each.outcome === "won").map(({ as }) => as);
}

function missingIn(race: Race): string[] {
  const [decisions, uses] = [wonBy(race, "decide").length, wonBy(race, "consume").length];
  return decisions === 1 && uses === 1 ? [] : [`${decisions} decisions, ${uses} uses`];
}

function wrongWith(race: Race, record: ApprovalRecord): string[] {
  const [decisions, uses] = [wonBy(race, "decide"), wonBy(race, "consume")];
  const states = ["pending", "approved", "denied", "used"];
  const rules: readonly (readonly [boolean, string])[] = [
    [decisions.length <= 1, `${decisions.length} decisions`],
    [uses.length <= 1, `${uses.length} uses`],
    [decisions.every((by) => by === record.decidedBy), "an acknowledged decision is lost"],
    [uses.every((token) => useDigest(record.id, token) === record.usedBy), "an acknowledged use is lost"],
    [states.includes(record.status), `it is ${record.status}`],
    [(record.status === "pending") === (record.decision === null), "a decision and a status that do not fit"],
    [(record.status === "used") === (record.usedAt !== null), "a use and a status that do not fit"],
  ];
  const broken = rules.flatMap(([holds, sentence]) => (holds ? [] : [sentence]));
  return [...broken, ...race.told.flatMap(({ error }) => (error === undefined ? [] : [error]))];
}

export async function judgeClaims(stores: SqlStores, races: readonly Race[], isCalm: boolean): Promise<Tally> {
  const tally: Tally = { records: races.length, decided: 0, used: 0, open: 0, wrong: [] };
  for (const { n, told } of races) {
    const winners = told.filter(({ outcome }) => outcome === "won");
    tally.used += winners.length;
    tally.open += told.filter(({ outcome }) => outcome === "open").length;
    for (const { error } of told) if (error !== undefined) tally.wrong.push(`binding ${n}: ${error}`);
    if (winners.length > 1) tally.wrong.push(`binding ${n}: ${winners.length} claims`);
    if (isCalm && winners.length !== 1) tally.wrong.push(`binding ${n}: ${winners.length} claims`);
    const [winner] = winners;
    // Kept: its own token comes back, and nobody else's gets it.
    if (winner !== undefined) {
      await stores.claims
        .claim(`binding ${n}`, winner.as, 0)
        .catch(() => tally.wrong.push(`binding ${n}: a claim is lost`));
      const stolen = await stores.claims.claim(`binding ${n}`, "thief", 0).then(
        () => true,
        () => false,
      );
      if (stolen) tally.wrong.push(`binding ${n}: a claim was given away`);
    }
  }
  return tally;
}

/** A decision is used by whoever comes next: after kills and cuts every record can still be finished, once. */
export async function finish(stores: SqlStores, races: readonly Race[]): Promise<void> {
  for (const { n } of races) {
    const id = bindingOf(request(n));
    const record = await stores.approvals.get(id);
    if (record?.status === "pending") await stores.approvals.decide(id, n % 2 === 0 ? approve() : deny());
    if (record?.status !== "used") await stores.approvals.consume(id, "the last one");
  }
}

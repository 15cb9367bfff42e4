// A small stack made by hand, in which each protection can be switched off. Little in it protects twice, so that what a case finds is the
// one thing that is missing; the members of a binding do stand in for each other, and are left out in groups. For tests of the kit; not
// how the package does it. Settings: `{ without: Switch[] }`.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "agent-adapter";
import type {
  ApproveOptions,
  AttackCall,
  AttackSession,
  AttackWorld,
  ClientAnswer,
  MakeAttackDriver,
  PendingCall,
} from "agent-adapter/testing";

/** What can be missing. */
export type Switch =
  // ---- what an answer is bound to
  | "thread"
  | "turn"
  | "call"
  | "tool"
  | "arguments"
  | "definition"
  // ---- what an answer is
  /** Anything that is not a no is a yes. */
  | "format"
  | "signature"
  /** The reviewer's side does not compute the binding again from what it shows. */
  | "recomputed binding"
  | "answer expiry"
  | "request expiry"
  /** An edit may name a tool, and that one does not ask. */
  | "edit in its tool"
  // ---- one use
  /** What was answered is not looked up in the state of the thread. */
  | "state"
  | "claim"
  /** Claims in the memory of the process. */
  | "claim everywhere"
  /** Looks for a claim, and makes one a moment later. */
  | "atomic claim"
  /** Claimed when the call has run. */
  | "claim first"
  // ---- life
  /** Nobody is asked. */
  | "gate"
  /** The caller's word switches it off. */
  | "gate against callers"
  /** A bad answer stays. */
  | "clean refusal"
  /** Every answer is refused. */
  | "acceptance"
  /** A no is a yes. */
  | "denial"
  /** A reviewer's arguments are dropped. */
  | "edit"
  /** Answers go to the calls in the order in which those wait. */
  | "address"
  /** An answer to one call ends the others. */
  | "neighbours"
  /** What has finished runs again at every answer. */
  | "journal"
  /** What waits is kept in memory. */
  | "storage"
  /** What a dead process was doing is asked again. */
  | "asking again"
  /** What another process is doing is its own. */
  | "owner";

type CallState = "waiting" | "done" | "denied";

interface Call extends AttackCall {
  readonly state: CallState;
  /** How often it was asked again. */
  readonly generation: number;
  readonly askedAt: number;
}

interface Thread {
  readonly turn: number;
  readonly version: number;
  readonly calls: readonly Call[];
  readonly poisoned: boolean;
}

interface Answer {
  readonly binding: string;
  readonly approved: boolean;
  readonly edit?: JsonObject;
  readonly tool?: string;
  readonly signedAt: number;
  readonly mac: string;
}

const KEY = "the key of the small stack";
const ANSWER_TTL_MS = 3_600_000;
const REQUEST_TTL_MS = 3 * ANSWER_TTL_MS;

export const attackDriver: MakeAttackDriver = (settings) => {
  const { without } = settings as { without: readonly Switch[] };
  return {
    name: without.length === 0 ? "small stack" : `small stack without ${without.join(", ")}`,
    lacks: {},
    callerTricks: [{ approved: true }],
    open: async (world) => new SmallStack(world, new Set(without)),
  };
};

const digest = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");

function macOf({ mac: _mac, ...answer }: Answer): string {
  const { binding, approved, edit = null, tool = null, signedAt } = answer;
  return createHmac("sha256", KEY)
    .update(JSON.stringify([binding, approved, edit, tool, signedAt]))
    .digest("hex");
}

class SmallStack implements AttackSession {
  readonly #world: AttackWorld;
  readonly #off: ReadonlySet<Switch>;
  readonly #memory = new Map<string, string>();
  readonly #claims = new Map<string, string>();
  #elapsedMs = 0;

  constructor(world: AttackWorld, off: ReadonlySet<Switch>) {
    this.#world = world;
    this.#off = off;
    mkdirSync(join(world.storage, "claims"), { recursive: true });
  }

  // ---- the user's side

  async start(thread: string, calls: readonly AttackCall[], trick?: JsonValue): Promise<void> {
    const before = this.#read(thread);
    if (before?.calls.some(({ state }) => state === "waiting")) throw new Error("the thread is not finished");
    const asked = calls.map((call) => ({ ...call, state: "waiting", generation: 0, askedAt: this.#now() }) as const);
    this.#write(thread, {
      turn: (before?.turn ?? 0) + 1,
      version: before?.version ?? 0,
      calls: asked,
      poisoned: false,
    });
    const isOpen = this.#off.has("gate") || (trick !== undefined && this.#off.has("gate against callers"));
    for (const { id, tool, args } of asked) {
      if (this.#asks(tool) && !isOpen) continue;
      await this.#run(tool, args);
      this.#mark(thread, id, "done");
    }
  }

  async goOn(thread: string): Promise<void> {
    const found = this.#read(thread);
    for (const call of found?.calls ?? []) {
      if (found === undefined || call.state !== "waiting") continue;
      const owner = this.#claimed(this.#binding(thread, found.turn, call));
      if (owner === undefined) continue;
      if (this.#off.has("owner")) {
        await this.#run(call.tool, call.args);
        this.#mark(thread, call.id, "done");
      } else if (!isAlive(Number(owner)) && !this.#off.has("asking again")) {
        this.#change(thread, call.id, { generation: call.generation + 1, askedAt: this.#now() });
      }
    }
  }

  // ---- the reviewer's side

  async pending(thread: string): Promise<readonly PendingCall[]> {
    const found = this.#read(thread);
    const waiting = found?.calls.filter((call) => {
      const isUsed = this.#claimed(this.#binding(thread, found.turn, call)) !== undefined;
      return call.state === "waiting" && this.#asks(call.tool) && !isUsed;
    });
    return (waiting ?? []).map((call) => {
      const { tool, args } = call;
      const id = `${found?.turn ?? 0}:${call.id}`;
      const request = this.#request(thread, found?.turn ?? 0, call);
      return { id, tool, args, raw: { request, binding: digest(request) }, at: found?.version ?? 0 };
    });
  }

  async approve(shown: PendingCall, { edit, editTool }: ApproveOptions = {}): Promise<JsonValue> {
    const changed = edit === undefined ? {} : { edit, ...(editTool === undefined ? {} : { tool: editTool }) };
    return this.#sign(shown, { approved: true, ...changed });
  }

  async deny(shown: PendingCall): Promise<JsonValue> {
    return this.#sign(shown, { approved: false });
  }

  #sign(shown: PendingCall, decision: Pick<Answer, "approved" | "edit" | "tool">): JsonValue {
    const { request, binding } = shown.raw as unknown as { request: JsonObject; binding: string };
    if (!this.#off.has("recomputed binding") && digest(request) !== binding) throw new Error("not what was asked");
    const answer = { binding, ...decision, signedAt: this.#now(), mac: "" };
    return { ...answer, mac: macOf(answer) };
  }

  async forge(shown: PendingCall): Promise<readonly JsonValue[]> {
    const { binding } = shown.raw as unknown as { binding: string };
    const answer = { binding, approved: true, signedAt: this.#now() };
    return [
      { ...answer, mac: "0".repeat(64) },
      { ...answer, mac: "" },
    ];
  }

  // ---- the endpoint

  async answer(thread: string, answers: readonly ClientAnswer[], at?: JsonValue): Promise<void> {
    const results = await Promise.allSettled(
      answers.map(({ to, answer }) => this.#take(thread, { id: to.id, given: answer, at })),
    );
    const refused = results.find((result) => result.status === "rejected");
    if (refused !== undefined) throw refused.reason;
  }

  async #take(thread: string, { id, given, at }: { id: string; given: JsonValue; at: JsonValue | undefined }) {
    const found = at === undefined ? this.#read(thread) : this.#read(thread, Number(at));
    const call = this.#addressed(found, id);
    if (found === undefined || call === undefined) throw this.#refused(thread, "nothing of this id waits");
    if (found.poisoned) throw new Error("the thread is broken");
    const binding = this.#binding(thread, found.turn, call);
    const parsed = this.#parsed(thread, given);
    if (parsed !== undefined) this.#check(thread, { answer: parsed, binding, call });
    const answer = parsed ?? { binding, approved: true, signedAt: this.#now(), mac: "" };
    await this.#use(thread, { call, binding, answer });
    if (this.#off.has("neighbours"))
      for (const other of found.calls) if (other.id !== call.id) this.#mark(thread, other.id, "denied");
  }

  async #use(thread: string, { call, binding, answer }: { call: Call; binding: string; answer: Answer }) {
    const edit = this.#off.has("edit") ? undefined : answer.edit;
    if (!this.#off.has("claim first")) await this.#claim(binding);
    if (answer.approved || this.#off.has("denial")) await this.#perform(thread, call, { ...answer, edit });
    this.#mark(thread, call.id, answer.approved ? "done" : "denied");
    if (this.#off.has("claim first")) await this.#claim(binding);
  }

  async #perform(thread: string, call: Call, { edit, tool }: { edit?: JsonObject | undefined; tool?: string }) {
    if (this.#off.has("journal"))
      for (const other of this.#read(thread)?.calls ?? [])
        if (!this.#asks(other.tool)) await this.#run(other.tool, other.args);
    if (tool !== undefined && !this.#off.has("edit in its tool")) throw new Error("an edit is for its own tool");
    await this.#run(tool ?? call.tool, edit ?? call.args);
  }

  #addressed(found: Thread | undefined, id: string): Call | undefined {
    const open = (found?.calls ?? []).filter((call) => this.#off.has("state") || call.state === "waiting");
    if (this.#off.has("address")) return open.find(({ tool }) => this.#asks(tool));
    return open.find((call) => `${found?.turn ?? 0}:${call.id}` === id);
  }

  /** `undefined`: no answer, and taken for one. */
  #parsed(thread: string, given: JsonValue): Answer | undefined {
    if (this.#off.has("acceptance")) throw this.#refused(thread, "no");
    const isAnswer = typeof given === "object" && given !== null && "binding" in given && "mac" in given;
    const answer = given as unknown as Answer;
    if (isAnswer && typeof answer.mac === "string" && typeof answer.approved === "boolean") return answer;
    if (this.#off.has("format") && !isAnswer) return undefined;
    throw this.#refused(thread, "malformed");
  }

  #check(thread: string, { answer, binding, call }: { answer: Answer; binding: string; call: Call }): void {
    if (!this.#off.has("signature") && !isSame(answer.mac, macOf(answer))) throw this.#refused(thread, "signature");
    if (answer.binding !== binding) throw this.#refused(thread, "binding");
    if (!this.#off.has("answer expiry") && this.#now() > answer.signedAt + ANSWER_TTL_MS) throw new Error("expired");
    if (!this.#off.has("request expiry") && answer.signedAt > call.askedAt + REQUEST_TTL_MS) throw new Error("expired");
  }

  #refused(thread: string, why: string): Error {
    const found = this.#read(thread);
    if (this.#off.has("clean refusal") && found !== undefined) this.#write(thread, { ...found, poisoned: true });
    return new Error(`refused: ${why}`);
  }

  // ---- bindings and claims

  /** All of it is shown, and hashed. */
  #request(thread: string, turn: number, { id, tool, args, generation }: Call): JsonObject {
    const spec = this.#world.tools.find(({ name }) => name === tool);
    const parts = { thread, turn, call: id, tool, arguments: args, definition: spec?.version ?? "" };
    const bound = Object.entries(parts).filter(([part]) => !this.#off.has(part as Switch));
    return { ...Object.fromEntries(bound), generation };
  }

  #binding(thread: string, turn: number, call: Call): string {
    return digest(this.#request(thread, turn, call));
  }

  /** Whose claim there is: a process. */
  #claimed(binding: string): string | undefined {
    if (this.#off.has("claim")) return undefined;
    if (this.#off.has("claim everywhere")) return this.#claims.get(binding);
    return readOrNothing(this.#claimFile(binding));
  }

  async #claim(binding: string): Promise<void> {
    if (this.#off.has("claim")) return;
    if (this.#claimed(binding) !== undefined) throw new Error("used before");
    if (this.#off.has("atomic claim")) await new Promise((resolve) => setTimeout(resolve, 20));
    this.#claims.set(binding, String(process.pid));
    if (this.#off.has("claim everywhere")) return;
    const flag = this.#off.has("atomic claim") ? "w" : "wx";
    writeFileSync(this.#claimFile(binding), String(process.pid), { flag });
  }

  #claimFile(binding: string): string {
    return join(this.#world.storage, "claims", binding);
  }

  // ---- storage

  async save(thread: string): Promise<JsonValue> {
    return JSON.parse(JSON.stringify(this.#read(thread) ?? null));
  }

  async load(thread: string, saved: JsonValue): Promise<void> {
    this.#write(thread, saved as unknown as Thread);
  }

  async elapse(what: "answer" | "request"): Promise<void> {
    this.#elapsedMs += (what === "answer" ? ANSWER_TTL_MS : REQUEST_TTL_MS) + 1;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  #now(): number {
    return Date.now() + this.#elapsedMs;
  }

  #asks(tool: string): boolean {
    return this.#world.tools.some(({ name, asks }) => name === tool && asks);
  }

  async #run(tool: string, args: JsonObject): Promise<void> {
    await this.#world.tools.find(({ name }) => name === tool)?.run(args);
  }

  #mark(thread: string, id: string, state: CallState): void {
    this.#change(thread, id, { state });
  }

  #change(thread: string, id: string, change: Partial<Call>): void {
    const found = this.#read(thread);
    if (found === undefined) return;
    this.#write(thread, {
      ...found,
      calls: found.calls.map((call) => (call.id === id ? { ...call, ...change } : call)),
    });
  }

  #read(thread: string, version?: number): Thread | undefined {
    const name = version === undefined ? thread : `${thread}.${version}`;
    const text = this.#off.has("storage") ? this.#memory.get(name) : readOrNothing(join(this.#world.storage, name));
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** The newest, and one of its history. */
  #write(thread: string, given: Thread): void {
    const text = JSON.stringify({ ...given, version: given.version + 1 });
    for (const name of [`${thread}.${given.version + 1}`, thread]) {
      this.#memory.set(name, text);
      if (this.#off.has("storage")) continue;
      const half = join(this.#world.storage, `${name}.${process.pid}.half`);
      writeFileSync(half, text);
      renameSync(half, join(this.#world.storage, name));
    }
  }
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

// A plain program: `Executor` with a store (`DeferredApproval`) that approvers with keys of their own decide in. What a thread still
// has to do is the program's own, kept in a file beside.
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  approve,
  DeferredApproval,
  deny,
  Executor,
  isAgentAdapterError,
  signDecision,
  toReviewRequest,
  type ApprovalDecision,
  type JsonObject,
  type JsonValue,
  type Answer,
} from "agent-adapter";
import type {
  AttackCall,
  AttackSession,
  AttackWorld,
  ClientAnswer,
  MakeAttackDriver,
  PendingCall,
} from "agent-adapter/testing";
import {
  lacksOf,
  nameOf,
  open,
  registryOf,
  settingsOf,
  ShiftedClock,
  timesOf,
  type Kept,
  type Settings,
} from "./our-world.js";

// The first test vector of RFC 8032. The private half is the reviewer's, and the executor is given the public one only.
const ANA = {
  id: "ana",
  publicKey:
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n",
  privateKey:
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n",
};

interface Turn {
  readonly turn: number;
  readonly calls: readonly AttackCall[];
  /** Results by call id. */
  readonly results: Readonly<Record<string, string>>;
}

export const attackDriver: MakeAttackDriver = (given) => {
  const settings = settingsOf(given);
  const noState = "the store that decides is all there is: whoever may write there is kept out by its approvers' keys";
  return {
    name: nameOf("Executor with a store", settings),
    lacks: {
      ...lacksOf(settings),
      "edit-tool": "an edit has no place for the name of a tool",
      storage: noState,
      history: "a plain program has no earlier points",
    },
    callerTricks: [{ approved: true, confirm: false, policy: { pay: false } }],
    open: async (world) => {
      const clock = new ShiftedClock();
      const { id, publicKey } = ANA;
      return new PlainSession(settings, {
        world,
        clock,
        kept: await open(settings, world, { clock, approvers: [{ id, publicKey }] }),
      });
    },
  };
};

interface Opened {
  readonly world: AttackWorld;
  readonly clock: ShiftedClock;
  readonly kept: Kept;
}

class PlainSession implements AttackSession {
  readonly #opened: Opened;
  readonly #executor: Executor;
  readonly #isKept: boolean;
  readonly #inMemory = new Map<string, Turn>();
  #writes = 0;

  constructor(settings: Settings, opened: Opened) {
    this.#opened = opened;
    this.#isKept = settings.engine !== "memory";
    const { id, publicKey } = ANA;
    this.#executor = new Executor(registryOf(opened.world.tools), {
      approval: new DeferredApproval(opened.kept.approvals, {
        approvers: [{ id, publicKey }],
        ...timesOf(settings),
      }),
      secret: "the secret of the plain program in the kit",
      clock: opened.clock,
    });
  }

  async start(thread: string, calls: readonly AttackCall[], trick?: JsonValue): Promise<void> {
    const turn = (this.#read(thread)?.turn ?? 0) + 1;
    this.#write(thread, { turn, calls, results: {} });
    await this.#work(thread, (trick ?? {}) as JsonObject);
  }

  async pending(thread: string): Promise<readonly PendingCall[]> {
    const found = await this.#opened.kept.approvals.list({ status: "pending", threadId: thread });
    return found.map(({ id, request }) => ({
      id,
      tool: request.tool,
      args: request.arguments,
      raw: JSON.parse(JSON.stringify({ type: "agent_adapter.approval", binding: id, request })),
    }));
  }

  async approve(shown: PendingCall, { edit }: { readonly edit?: JsonObject } = {}): Promise<JsonValue> {
    return this.#sign(shown, approve(edit === undefined ? {} : { editedArgs: edit }), ANA.privateKey);
  }

  async deny(shown: PendingCall): Promise<JsonValue> {
    return this.#sign(shown, deny(), ANA.privateKey);
  }

  async answer(thread: string, answers: readonly ClientAnswer[]): Promise<void> {
    const refused: unknown[] = [];
    for (const { to, answer } of answers) {
      // Parsed JSON of anybody: `decide` says what it is.
      await this.#opened.kept.approvals
        .decide(to.id, answer as unknown as Answer)
        .catch((error: unknown) => refused.push(error));
    }
    // Whatever was refused, a queue or a second request may have the program look again.
    await this.#work(thread, {});
    if (refused.length > 0) throw refused[0];
  }

  async goOn(thread: string): Promise<void> {
    await this.#work(thread, {});
  }

  async elapse(what: "answer" | "request"): Promise<void> {
    this.#opened.clock.elapse(what);
  }

  async forge(shown: PendingCall): Promise<readonly JsonValue[]> {
    const { privateKey } = generateKeyPairSync("ed25519");
    const strange = this.#sign(shown, approve(), privateKey.export({ type: "pkcs8", format: "pem" }).toString());
    const members = strange as JsonObject;
    return [strange, { ...members, signature: "" }, { ...members, keyId: "mallory" }];
  }

  close(): Promise<void> {
    return this.#opened.kept.close();
  }

  #sign({ raw }: PendingCall, decision: ApprovalDecision, privateKey: string): JsonValue {
    const shown = toReviewRequest({ value: raw });
    const signedAt = this.#opened.clock.now();
    const options = { id: ANA.id, privateKey, signedAt };
    return JSON.parse(JSON.stringify(signDecision(shown, decision, options)));
  }

  /** Every call of the turn that has no result yet. */
  async #work(thread: string, metadata: JsonObject): Promise<void> {
    const todo = this.#read(thread);
    if (todo === undefined) return;
    const context = this.#executor.context({ runId: `turn-${todo.turn}`, threadId: thread, metadata });
    for (const { id, tool, args } of todo.calls) {
      if (id in (this.#read(thread)?.results ?? {})) continue;
      const result = await this.#run(tool, args, { context, callId: id });
      const now = this.#read(thread);
      if (result !== undefined && now?.turn === todo.turn)
        this.#write(thread, { ...now, results: { ...now.results, [id]: result } });
    }
  }

  async #run(tool: string, args: JsonObject, options: Parameters<Executor["run"]>[2]): Promise<string | undefined> {
    try {
      return String(await this.#executor.run(tool, args, options));
    } catch (error) {
      if (!isAgentAdapterError(error)) throw error;
      if (error.modelVisible) return error.kind;
      if (error.kind === "ApprovalPending" || error.kind === "ApprovalAlreadyDecided") return undefined;
      throw error;
    }
  }

  #read(thread: string): Turn | undefined {
    if (!this.#isKept) return this.#inMemory.get(thread);
    try {
      return JSON.parse(readFileSync(this.#file(thread), "utf8"));
    } catch {
      return undefined;
    }
  }

  #write(thread: string, turn: Turn): void {
    if (!this.#isKept) {
      this.#inMemory.set(thread, turn);
      return;
    }
    this.#writes += 1;
    const half = `${this.#file(thread)}.${process.pid}.${this.#writes}`;
    writeFileSync(half, JSON.stringify(turn));
    renameSync(half, this.#file(thread));
  }

  #file(thread: string): string {
    return join(this.#opened.world.storage, `${thread}.json`);
  }
}

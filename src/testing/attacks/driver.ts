// What a stack must offer so that the attack kit can be pointed at it. Owns the words between the two and no behaviour: the kit
// writes every attack, the driver only does what an application built on that stack does.
//   D1  everything that crosses is JSON: a driver runs in a child process, and a restart of it is another process
//   D2  a driver protects nothing and repairs nothing: what the stack lets through, it lets through
//   D3  every method settles only when all it has set off is over, and rejects with whatever error the stack gave

import type { JsonObject, JsonValue } from "../../index.js";

/**
 * What not every stack has. A driver that names one under `lacks`, with the reason, is not run against the cases that need it; the
 * table says so, with that reason.
 *
 * - `edit`: a reviewer may change the arguments; `approve` takes `edit`
 * - `edit-tool`: an edit may name another tool; `approve` takes `editTool`
 * - `several`: two calls of one turn wait at the same time, not one after the other
 * - `one-by-one`: calls that wait together may be answered in separate requests
 * - `siblings`: a turn may hold calls that ask nobody beside calls that do
 * - `restart`: what waits outlives the process
 * - `processes`: two processes may work on the same storage at once
 * - `answer-expiry`: answers run out; `elapse("answer")`
 * - `request-expiry`: requests run out; `elapse("request")`
 * - `storage`: the state of a thread can be copied out and written back; `save` and `load`
 * - `history`: a client may name an earlier point of a thread when it answers; `PendingCall.at`
 * - `forge`: the driver knows forged answers that fit this stack; `forge`
 * - `caller-tricks`: the driver knows input of a caller that could switch the gate off; `callerTricks`
 */
export type AttackNeed =
  | "edit"
  | "edit-tool"
  | "several"
  | "one-by-one"
  | "siblings"
  | "restart"
  | "processes"
  | "answer-expiry"
  | "request-expiry"
  | "storage"
  | "history"
  | "forge"
  | "caller-tricks";

/** A tool of the kit. Give it to the stack under its name, with its description and schema; `run` is its whole body. */
export interface AttackTool {
  /** What the model calls it by. */
  readonly name: string;
  /** What it does, for the model and the reviewer. */
  readonly description: string;
  /** Must a human approve each call? */
  readonly asks: boolean;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** Another one when the kit has changed the tool; for stacks that know versions of tools. */
  readonly version: string;
  /** Has its effect, which the kit counts outside of the process. May take long: the kit holds bodies on purpose. */
  run(args: JsonObject): Promise<string>;
}

/** Where a session works. Every process of one run gets the same `storage`, and may get other `tools`. */
export interface AttackWorld {
  /** A folder that exists, for whatever the stack keeps; its last part is a name that no other run has ever used. */
  readonly storage: string;
  /** All tools that calls may name. */
  readonly tools: readonly AttackTool[];
}

/** A call as the scripted model asks for it. */
export interface AttackCall {
  /** The id that the model gives the call. */
  readonly id: string;
  /** The name of a tool of the kit. */
  readonly tool: string;
  /** They fit the tool's schema. */
  readonly args: JsonObject;
}

/** One call that waits for a human, as a client of the stack sees it. */
export interface PendingCall {
  /** What the stack addresses it by: `answer` and the reviewer's side find the call by this, also where it is wrong. */
  readonly id: string;
  /** The tool's name as it is shown. */
  readonly tool: string;
  /** The arguments as they are shown to a reviewer. */
  readonly args: JsonObject;
  /** All that the stack shows a client about it. `approve` and `deny` work from this alone: the kit changes it on its way. */
  readonly raw: JsonValue;
  /** Where the thread stands, when a client can name that: a checkpoint id. For `history`. */
  readonly at?: JsonValue;
}

/** What a reviewer changes about a call. */
export interface ApproveOptions {
  /** Run with these arguments instead: all of them, not a patch. For `edit`. Default: as they are. */
  readonly edit?: JsonObject;
  /** Run this tool instead. Comes with `edit`. For `edit-tool`. Default: the tool that was called. */
  readonly editTool?: string;
}

/** What a client hands to the endpoint that resumes: which call it means, and any value. */
export interface ClientAnswer {
  /** The call it means, as `pending` gave it. */
  readonly to: PendingCall;
  /** What `approve`, `deny` or `forge` gave, or anything else that an attacker made up. */
  readonly answer: JsonValue;
}

/** An application on the stack, in one process: tools, a scripted model, storage, an endpoint to answer at. */
export interface AttackSession {
  /**
   * A user's message on this thread, a new or an old one, on which the model asks for exactly these calls. Settles when the turn is
   * over or waits. After the results the model calls nothing more. `trick` is one of `callerTricks`.
   */
  start(thread: string, calls: readonly AttackCall[], trick?: JsonValue): Promise<void>;
  /** What waits on this thread now, read as a client of the stack would. None for a thread that nobody knows. */
  pending(thread: string): Promise<readonly PendingCall[]>;
  /**
   * What a trusted reviewer's side makes of what it is shown, with all the checks and secrets the stack's documentation tells it
   * to use, as JSON to be sent over the wire. Sends nothing. Rejects when the reviewer's side refuses what it is shown.
   */
  approve(shown: PendingCall, options?: ApproveOptions): Promise<JsonValue>;
  /** The same for a denial. */
  deny(shown: PendingCall): Promise<JsonValue>;
  /**
   * Hand these answers to the thread's endpoint in one request, addressed to those calls, as a server would that got them from a
   * browser: with the checks that the stack's documentation tells a server to make, and none that you invented. With `at`, the
   * client names that point of the thread.
   */
  answer(thread: string, answers: readonly ClientAnswer[], at?: JsonValue): Promise<void>;
  /** Go on without an answer, as the stack's documentation says for a process that died: nothing to do is no error. */
  goOn(thread: string): Promise<void>;
  /**
   * So much time passes that each answer made before (`"answer"`), or each request made before (`"request"`), is over: by the clock
   * of the stack, or by waiting. For `answer-expiry` and `request-expiry`. Nothing else runs in this process afterwards.
   */
  elapse?(what: "answer" | "request"): Promise<void>;
  /** All that the storage keeps about this thread, as readable as an attacker could make it. Only for `storage`. */
  save?(thread: string): Promise<JsonValue>;
  /** Put that in the place of what is kept about this thread, which need not be the same one. Only for `storage`. */
  load?(thread: string, saved: JsonValue): Promise<void>;
  /** Answers that nobody signed but that look right on this stack. Only for `forge`. */
  forge?(shown: PendingCall): Promise<readonly JsonValue[]>;
  /** The process goes on or ends after it: let go of files and connections. */
  close(): Promise<void>;
}

/** One stack, or one way to build on it. */
export interface AttackDriver {
  /** As it stands in the table: name and version of the stack, and its storage. */
  readonly name: string;
  /** What the stack does not have, each with the reason in a sentence. */
  readonly lacks: Readonly<Partial<Record<AttackNeed, string>>>;
  /** What a caller may send with a message that could switch the gate off: settings, context, history. For `caller-tricks`. */
  readonly callerTricks?: readonly JsonValue[];
  /** Build the application on this storage, or open what an earlier process left there. */
  open(world: AttackWorld): Promise<AttackSession>;
}

/**
 * What a driver module exports under the name `attackDriver`. `settings` come from whoever runs the kit.
 *
 * @example
 * export const attackDriver: MakeAttackDriver = () => ({ name: "my stack 1.2, memory", lacks: {}, open });
 */
export type MakeAttackDriver = (settings: JsonValue) => AttackDriver | Promise<AttackDriver>;

/** Where a driver is found. */
export interface AttackTarget {
  /** The module, as `import()` takes it in the child process: an absolute path or a `file:` URL. */
  readonly module: string | URL;
  /** Handed to its `attackDriver`. Default `null`. */
  readonly settings?: JsonValue;
  /** How Node is started for it, such as `["--import", "tsx"]`. Default: as this process was. */
  readonly execArgv?: readonly string[];
}

// A driver in a process of its own, as the kit sees it: operations that settle, bodies that are held, and a SIGKILL. The other
// end is driver-host.ts. Knows no case.

import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { JsonValue } from "../../index.js";
import { systemClock, withDeadline } from "../../spi.js";
import type { AttackTarget } from "./driver.js";
import type { DriverFacts, FromHost, HostWorld, ToHost } from "./host-messages.js";

/** The stack did what was asked and failed, or refused: its own words. */
export class Rejected extends Error {}
/** The process ended, or did not answer in time: nothing about the stack can be said from this step. */
export class Gone extends Error {}

export interface ProcessOptions {
  readonly target: AttackTarget;
  readonly world: HostWorld;
  /** How long one step may take. */
  readonly stepTimeoutMs: number;
}

interface Waiting {
  readonly resolve: (value: JsonValue) => void;
  readonly reject: (error: Error) => void;
}

export class DriverProcess {
  readonly facts: DriverFacts;
  readonly #child: ChildProcess;
  readonly #stepTimeoutMs: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #held = new Map<string, () => void>();
  readonly #ended: Promise<void>;
  #isGone = false;
  #count = 0;

  /** Start it, and wait until the driver is loaded and, with a storage, its session open. @throws Gone */
  static async start(options: ProcessOptions): Promise<DriverProcess> {
    const { target, world, stepTimeoutMs } = options;
    const child = fork(hostScript(), [JSON.stringify(world)], {
      execArgv: [...(target.execArgv ?? process.execArgv)],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "json",
    });
    const facts = within(stepTimeoutMs, "starting", readiness(child));
    try {
      return new DriverProcess(child, await facts, stepTimeoutMs);
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
  }

  private constructor(child: ChildProcess, facts: DriverFacts, stepTimeoutMs: number) {
    this.facts = facts;
    this.#child = child;
    this.#stepTimeoutMs = stepTimeoutMs;
    child.on("message", (message: FromHost) => this.#take(message));
    // It may have died between two messages: the kit hears of it from what it sends next.
    child.on("error", () => undefined);
    this.#ended = ending(child).then(() => this.#leave());
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** One operation of the session. @throws Rejected, Gone */
  call(op: string, ...args: readonly JsonValue[]): Promise<JsonValue> {
    if (this.#isGone) return Promise.reject(new Gone(`${op}: the process has ended`));
    this.#count += 1;
    const message: ToHost = { n: this.#count, op, args };
    const answered = new Promise<JsonValue>((resolve, reject) => {
      this.#waiting.set(message.n, { resolve, reject });
    });
    this.#child.send(message, () => undefined);
    // A body that is held may take as long as the kit wants: whoever holds it waits for `held` instead.
    return within(this.#stepTimeoutMs, op, answered);
  }

  /** Settles when the body of this `ref` has stopped. */
  held(ref: string): Promise<void> {
    return new Promise((resolve) => this.#held.set(ref, resolve));
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async close(): Promise<void> {
    // A driver that cannot close ends all the same.
    if (!this.#isGone) await this.call("close").catch(() => undefined);
    await this.kill();
  }

  #take(message: FromHost): void {
    if ("held" in message) {
      this.#held.get(message.held)?.();
      return;
    }
    if (!("n" in message)) return;
    const waiting = this.#waiting.get(message.n);
    this.#waiting.delete(message.n);
    if ("error" in message) waiting?.reject(new Rejected(message.error));
    // It came through JSON.
    else waiting?.resolve(message.value as JsonValue);
  }

  #leave(): void {
    this.#isGone = true;
    for (const { reject } of this.#waiting.values()) reject(new Gone("the process ended"));
    this.#waiting.clear();
  }
}

function hostScript(): string {
  // Beside this file, in the sources as in the package.
  return fileURLToPath(import.meta.url.replace("driver-process", "driver-host"));
}

function ending(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

function readiness(child: ChildProcess): Promise<DriverFacts> {
  return new Promise((resolve, reject) => {
    const listen = (message: FromHost) => {
      if ("ready" in message) resolve(message.ready);
      else if ("failed" in message) reject(new Gone(message.failed));
      else return;
      child.off("message", listen);
    };
    child.on("message", listen);
    child.once("error", (error) => reject(new Gone(error.message)));
    child.once("exit", (code) => reject(new Gone(`the process ended with ${code} before it was ready`)));
  });
}

function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const expired = () => new Gone(`${what}: no answer within ${ms} ms`);
  return withDeadline({ clock: systemClock, ms, signal: undefined, expired }, () => work);
}

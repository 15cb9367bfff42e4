// The processes of one driver while its cases run, and the file that counts effects. Owns who is alive; knows no step.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../index.js";
import { isJson, randomId } from "../../spi.js";
import { attackTools } from "./attack-tools.js";
import { DriverProcess } from "./driver-process.js";
import type { AttackTarget } from "./driver.js";
import type { DriverFacts, HostWorld } from "./host-messages.js";

export interface Effect {
  readonly tool: string;
  readonly args: JsonObject;
}

interface StageOptions {
  readonly target: AttackTarget;
  /** An empty folder of this run. */
  readonly folder: string;
  readonly stepTimeoutMs: number;
}

/** One that works, and one beside it that takes over when the first is killed. */
export class Stage {
  readonly #options: StageOptions;
  readonly #effects: string;
  readonly #storage: string;
  #first: DriverProcess | undefined;
  #second: DriverProcess | undefined;
  #changed = false;

  constructor(options: StageOptions) {
    this.#options = options;
    this.#effects = join(options.folder, "effects.jsonl");
    // A name that is good for a schema of a database, too.
    this.#storage = join(options.folder, `aa_${randomId().replaceAll("-", "").slice(0, 16)}`);
    mkdirSync(this.#storage, { recursive: true });
    writeFileSync(this.#effects, "");
  }

  /** What the driver says about itself. */
  async facts(): Promise<DriverFacts> {
    return (await this.first()).facts;
  }

  async first(): Promise<DriverProcess> {
    if (this.#first === undefined || this.#first.isGone) this.#first = await this.#start();
    return this.#first;
  }

  /** Another process on the same storage. */
  async second(): Promise<DriverProcess> {
    if (this.#second === undefined || this.#second.isGone) this.#second = await this.#start();
    return this.#second;
  }

  /** SIGKILL; the second one is the first now. With `changed`, a new one with other tools. */
  async kill({ changed }: { readonly changed: boolean }): Promise<void> {
    await this.#first?.kill();
    if (changed !== this.#changed) {
      this.#changed = changed;
      await this.#second?.close();
      this.#second = undefined;
    }
    this.#first = this.#second;
    this.#second = undefined;
    await this.first();
  }

  effects(ref: string): readonly Effect[] {
    const lines = readFileSync(this.#effects, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    // This kit wrote each line.
    const all = lines.map((line) => JSON.parse(line) as Effect);
    return all.filter(({ args }) => isJson(args) && args["ref"] === ref);
  }

  async close(): Promise<void> {
    await Promise.all([this.#first?.close(), this.#second?.close()]);
  }

  #start(): Promise<DriverProcess> {
    const { target, stepTimeoutMs } = this.#options;
    const world: HostWorld = {
      module: target.module instanceof URL ? target.module.href : target.module,
      settings: target.settings ?? null,
      effects: this.#effects,
      storage: this.#storage,
      tools: attackTools({ changed: this.#changed }),
    };
    return DriverProcess.start({ target, world, stepTimeoutMs });
  }
}

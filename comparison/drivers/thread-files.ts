// One JSON file for each thread: what a server keeps in its database, or a client in its own memory. Knows no stack.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { JsonValue } from "../../src/index.js";

export class ThreadFiles<T extends JsonValue> {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(thread: string): T | undefined {
    const file = this.#fileOf(thread);
    // Only write() makes these files.
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : undefined;
  }

  /** At once, so that nobody reads half of it. */
  write(thread: string, value: T): void {
    const next = join(this.#folder, randomUUID());
    writeFileSync(next, JSON.stringify(value));
    renameSync(next, this.#fileOf(thread));
  }

  #fileOf(thread: string): string {
    return join(this.#folder, `${Buffer.from(thread).toString("hex")}.json`);
  }
}

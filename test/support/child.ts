// Another OS process: TypeScript run by tsx, spoken to by messages, killed when a test wants it dead.
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A message that can cross to another process. */
export type Message = Readonly<Record<string, unknown>>;

export interface Child {
  readonly pid: number;
  readonly isGone: boolean;
  send(message: Message): void;
  /** The next message it sends; `undefined` when it ends instead. */
  next(): Promise<Message | undefined>;
  kill(): void;
  ended(): Promise<void>;
}

const WITH_TSX = ["--import", "tsx", "--conditions=agent-adapter-source"];

/** Start a script of test/support/children with one argument, given as JSON; a bundled one runs as it is. Its standard error is ours. */
export function startChild(script: string, argument: unknown): Child {
  const child: ChildProcess = fork(
    fileURLToPath(new URL(`children/${script}`, import.meta.url)),
    [JSON.stringify(argument)],
    {
      execArgv: ["--no-warnings", ...(script.endsWith(".mjs") ? [] : WITH_TSX)],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    },
  );
  const received: Message[] = [];
  const waiting: ((message: Message | undefined) => void)[] = [];
  let isGone = false;
  child.on("message", (message: Message) => {
    const next = waiting.shift();
    if (next === undefined) received.push(message);
    else next(message);
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => {
      isGone = true;
      for (const next of waiting.splice(0)) next(undefined);
      resolve();
    });
  });
  return {
    pid: child.pid ?? -1,
    get isGone() {
      return isGone;
    },
    send: (message) => {
      // It may have been killed a moment ago: then `next` says so.
      if (child.connected) child.send(message, () => undefined);
    },
    next: () => {
      const first = received.shift();
      if (first !== undefined) return Promise.resolve(first);
      return isGone ? Promise.resolve(undefined) : new Promise((resolve) => waiting.push(resolve));
    },
    kill: () => child.kill("SIGKILL"),
    ended: () => ended,
  };
}

/** Numbers in [0, 1) that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

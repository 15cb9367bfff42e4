// Hears of decisions by LISTEN on a connection of its own. Owns that connection's subscriptions, not the connection. What is
// not heard (a lost connection, a restart) is found by looking: see ../sql/wait.ts.

import { StoreUnavailable } from "../../index.js";
import { channelOf } from "../sql/sql-client.js";
import type { DecisionNews } from "../sql/wait.js";

/** A connected `Client` of `pg` that nobody else uses, or anything like it. */
export interface ListenClient {
  /** Runs one statement. */
  query(text: string): Promise<unknown>;
  /** Hears of notifications and of the end of the connection. */
  on(event: string, listener: (value?: unknown) => void): unknown;
  /** Stops hearing. */
  removeListener(event: string, listener: (value?: unknown) => void): unknown;
}

export interface Listening extends DecisionNews {
  stop(): Promise<void>;
}

/** @throws StoreUnavailable when it cannot listen */
export async function listen(client: ListenClient, schema: string): Promise<Listening> {
  const waiting = new Map<string, Set<() => void>>();
  const wake = (ids: Iterable<string>) => {
    for (const id of ids) for (const each of waiting.get(id) ?? []) each();
  };
  let isLive = true;
  const channel = channelOf(schema);
  const heard = (message: unknown) => {
    const id = payloadOf(message, channel);
    if (id !== undefined) wake([id]);
  };
  const lost = () => {
    isLive = false;
    // Whoever waits looks now, and more often from now on.
    wake(waiting.keys());
  };
  const events = { notification: heard, error: lost, end: lost };
  for (const [event, listener] of Object.entries(events)) client.on(event, listener);
  const leave = () => {
    isLive = false;
    for (const [event, listener] of Object.entries(events)) client.removeListener(event, listener);
  };
  try {
    await client.query(`LISTEN "${channel}"`);
  } catch (cause) {
    leave();
    throw new StoreUnavailable("the connection given as `listen` cannot listen", { cause });
  }
  return {
    get isLive() {
      return isLive;
    },
    subscribe: (id, each) => subscribe(waiting, id, each),
    stop: async () => {
      const wasLive = isLive;
      leave();
      wake(waiting.keys());
      // The connection is the caller's and may be gone.
      if (wasLive) await client.query(`UNLISTEN "${channel}"`).catch(() => undefined);
    },
  };
}

function subscribe(waiting: Map<string, Set<() => void>>, id: string, wake: () => void): () => void {
  const others = waiting.get(id) ?? new Set();
  waiting.set(id, others.add(wake));
  return () => {
    others.delete(wake);
    if (others.size === 0 && waiting.get(id) === others) waiting.delete(id);
  };
}

function payloadOf(message: unknown, channel: string): string | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const isOurs = Reflect.get(message, "channel") === channel;
  const payload: unknown = Reflect.get(message, "payload");
  return isOurs && typeof payload === "string" ? payload : undefined;
}

// Run, thread and call ids from a RunnableConfig of LangChain, given or around the caller.

import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";

export interface CallIds {
  readonly runId: string | undefined;
  readonly threadId: string | undefined;
}

/** The config of the runnable that runs now; outside one `undefined`. */
export function currentConfig(): unknown {
  return AsyncLocalStorageProviderSingleton.getRunnableConfig();
}

/** The run is what the caller named with `configurable.run_id`, else the thread. */
export function idsIn(config: unknown): CallIds {
  const keys = configurableOf(config);
  const threadId = nameIn(keys["thread_id"]);
  return { runId: nameIn(keys["run_id"]) ?? threadId, threadId };
}

export function configurableOf(config: unknown): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(config)["configurable"]);
}

/** The id of the tool call that LangChain invoked a tool with, if it was one. */
export function callIdIn(config: unknown): string | undefined {
  return nameIn(recordOf(recordOf(config)["toolCall"])["id"]);
}

export function nameIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

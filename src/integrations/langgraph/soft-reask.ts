// Inside somebody else's tool node an answer that is none asks again with the same id: those nodes let a pause through and
// take every other error for a tool's failure, which would end the call without its human.

import { GraphInterrupt, isInvalidResume, type Interrupt } from "@langchain/langgraph";
import { INTERRUPT_CHANNEL, readTask, type NodeConfig } from "./pregel-internals.js";

/** @throws GraphInterrupt: what the task shows, again, instead of LangGraph's invalid resume */
export async function askingAgain<T>(config: NodeConfig, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isInvalidResume(error)) throw error;
    throw new GraphInterrupt(await shownInterrupts(config));
  }
}

/** What the task shows now, with its id. */
async function shownInterrupts(config: NodeConfig): Promise<Interrupt[]> {
  const { saver, address, taskId } = readTask(config);
  const tuple = await saver?.getTuple(address);
  const rows = (tuple?.pendingWrites ?? []).filter(
    ([owner, channel]) => owner === taskId && channel === INTERRUPT_CHANNEL,
  );
  // LangGraph wrote these rows; an interrupt channel holds interrupts.
  return rows.flatMap(([, , value]) => value as Interrupt | Interrupt[]);
}

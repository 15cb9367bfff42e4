// `langgraphCompressor`: what the model of a graph is sent of a long conversation. Reads the state, writes nothing to it.

import type { BaseMessage } from "@langchain/core/messages";
import type { CompressionPolicy } from "../../index.js";
import { compressed } from "../langchain-core/neutral-messages.js";

/** The messages for the model; the ones that were not cut are the same objects. */
export type MessageCompressor = (messages: readonly BaseMessage[]) => Promise<BaseMessage[]>;

/**
 * A function for the node that calls the model: it gets the messages of the state and gives those that are sent. Return only
 * the model's answer from the node, and the state keeps everything. Calls that a new message of a human left open are answered
 * `outcome unknown`, as `closeOpenCalls` does, or the provider would refuse them.
 *
 * @throws what `countTokens` and `summarize` of the policy throw
 * @example
 * const shorten = langgraphCompressor(new CompressionPolicy({ maxMessages: 40 }));
 * const agent = async ({ messages }: typeof MessagesAnnotation.State) => ({ messages: [await model.invoke(await shorten(messages))] });
 */
export function langgraphCompressor(policy: CompressionPolicy): MessageCompressor {
  return (messages) => compressed(messages, policy);
}

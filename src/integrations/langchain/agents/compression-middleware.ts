// `compressionMiddleware`: what the model of `createAgent` is sent of a long conversation. Wraps the model call, so the state of
// the agent is never touched.

import { SystemMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import type { CompressionPolicy } from "../../../index.js";
import { compressed } from "../../langchain-core/neutral-messages.js";

/**
 * Sends the model what the policy leaves of the conversation; the state keeps everything. The agent's system prompt counts as
 * a system message, and system messages in the state are joined to it. Calls that a new message of a human left open are
 * answered `outcome unknown`.
 *
 * @throws what `countTokens` and `summarize` of the policy throw, from the agent's run
 * @example createAgent({ model, middleware: [compressionMiddleware(new CompressionPolicy({ maxMessages: 40 }))] })
 */
export function compressionMiddleware(policy: CompressionPolicy) {
  return createMiddleware({
    name: "AgentAdapterCompression",
    wrapModelCall: async (request, handler) => {
      const { systemMessage, messages } = request;
      const prompt = systemMessage.content.length === 0 ? [] : [systemMessage];
      const sent = await compressed([...prompt, ...messages], policy);
      const [first] = sent;
      const isPrompted = SystemMessage.isInstance(first);
      return handler({
        ...request,
        // The same object when it is unchanged: another one counts as a change.
        systemMessage: isPrompted ? first : prompt.length === 0 ? systemMessage : new SystemMessage(""),
        messages: isPrompted ? sent.slice(1) : sent,
      });
    },
  });
}

// LangChain's `createAgent` with `agentAdapterMiddleware`, and a model that asks for what the user's message says.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { createAgent } from "langchain";
import { agentAdapterMiddleware } from "agent-adapter/langchain/agents";
import type { GraphApp } from "agent-adapter/langgraph";
import type { AttackCall, MakeAttackDriver } from "agent-adapter/testing";
import { graphDriver } from "./graph-session.js";

/** Keeps nothing, so that it says the same in every process. */
class ObedientModel extends BaseChatModel {
  override _llmType(): string {
    return "obedient";
  }

  override bindTools() {
    return this;
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const last = messages.at(-1);
    const calls: AttackCall[] = HumanMessage.isInstance(last) ? JSON.parse(last.text) : [];
    const message = new AIMessage({
      content: calls.length === 0 ? "Done." : "",
      tool_calls: calls.map(({ id, tool, args }) => ({ id, name: tool, args })),
    });
    return Promise.resolve({ generations: [{ text: message.text, message }] });
  }
}

export const attackDriver: MakeAttackDriver = (settings) =>
  graphDriver({ what: "agentAdapterMiddleware", settings }, ({ executor, registry, saver }) => {
    const agent = createAgent({
      model: new ObedientModel({}),
      // LangChain's types refuse its own middleware under exactOptionalPropertyTypes.
      middleware: [agentAdapterMiddleware({ registry, executor })] as never,
      checkpointer: saver,
    });
    // Typed by its middleware; what is used here every agent has.
    const app = agent as unknown as GraphApp<unknown>;
    return {
      app,
      start: (calls, config) => {
        const message = new HumanMessage(JSON.stringify(calls));
        return app.invoke({ messages: [message] } as never, config as never);
      },
    };
  });

// A chat model of LangChain that says what it was told to say. No network; everything around it is real.

import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

interface ScriptedCallOptions extends BaseChatModelCallOptions {
  readonly tools?: readonly BindToolsInput[];
}

/** The n-th answer of a conversation is the n-th message of the script, so a replay of a conversation gets the same one. */
export class ScriptedChatModel extends BaseChatModel<ScriptedCallOptions> {
  readonly #script: readonly AIMessage[];

  constructor(script: readonly AIMessage[]) {
    super({});
    this.#script = script;
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: BindToolsInput[]) {
    return this.withConfig({ tools });
  }

  override _generate(messages: BaseMessage[], { tools = [] }: this["ParsedCallOptions"]): Promise<ChatResult> {
    const turn = messages.filter((message) => message.type === "ai").length;
    const message = this.#script[turn];
    if (message === undefined) return Promise.reject(new Error(`the script has no answer ${turn + 1}`));
    const unknown = message.tool_calls?.find(
      (call) => !tools.some((tool) => "name" in tool && tool.name === call.name),
    );
    if (unknown !== undefined) return Promise.reject(new Error(`the model was never told about ${unknown.name}`));
    return Promise.resolve({ generations: [{ text: message.text, message }] });
  }
}

// One thread of the shop: say something, look at what waits, answer it. Returns words and data; prints nothing.

import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Command, INTERRUPT, isInterrupted } from "@langchain/langgraph";
import { isAgentAdapterError } from "agent-adapter";
import { isInvalidAnswer } from "agent-adapter/langgraph";
import { ran, type Shop } from "./shop.js";

/** A pause that can be answered by its id. */
export interface Pause {
  readonly id: string;
  readonly value?: unknown;
}

export class Conversation {
  readonly #app: Shop;
  readonly #config: RunnableConfig;

  constructor(app: Shop, threadId: string) {
    this.#app = app;
    this.#config = { configurable: { thread_id: threadId } };
  }

  /** Start, up to the first pause. */
  async start(text: string): Promise<Pause> {
    const state: unknown = await this.#app.invoke({ messages: [{ role: "user", content: text }] }, this.#config);
    const [pause] = isInterrupted(state) ? state[INTERRUPT] : [];
    if (pause?.id === undefined) throw new Error("the graph did not pause");
    return { id: pause.id, value: pause.value };
  }

  /** The checkpoint the thread stands at, for coming back to it later. */
  async here(): Promise<RunnableConfig> {
    return (await this.#app.getState(this.#config)).config;
  }

  /** Resume with any value, and say in a few words what came of it. */
  async resume(value: unknown, at: RunnableConfig = this.#config): Promise<string> {
    const before = ran.length;
    const refusal = await this.#invoke(value, at);
    const now = ran.length === before ? "nothing ran" : `ran ${ran.slice(before).join(" and ")}`;
    return refusal === undefined ? now : `${refusal}, ${now}`;
  }

  /** Resume many times at once, and count what came of it. */
  async race(value: unknown, times: number): Promise<string> {
    const before = ran.length;
    const refusals = await Promise.all(Array.from({ length: times }, () => this.#invoke(value, this.#config)));
    const went = refusals.filter((refusal) => refusal === undefined).length;
    const refused = [...new Set(refusals.filter((refusal) => refusal !== undefined))];
    const sent = ran.slice(before).filter((what) => what.startsWith("send_statement")).length;
    const others = refused.map((refusal) => `, ${refusals.filter((it) => it === refusal).length} ${refusal}`).join("");
    return `${went} went on${others}; send_statement runs: ${sent}`;
  }

  /** What the model asked for, and what it reads about the call that needed a human. */
  async messages() {
    const state = await this.#app.getState(this.#config);
    const messages: readonly BaseMessage[] = state.values.messages;
    return {
      asked: messages.flatMap((message) => ("tool_calls" in message ? calls(message.tool_calls) : [])),
      told: (messages.findLast((message) => ToolMessage.isInstance(message))?.text ?? "").split("\n"),
    };
  }

  /** `undefined`: it was not refused. */
  async #invoke(value: unknown, at: RunnableConfig): Promise<string | undefined> {
    try {
      await this.#app.invoke(new Command({ resume: value }), at);
      return undefined;
    } catch (error) {
      return refusalOf(error);
    }
  }
}

/** A refusal in a few words; anything else that is thrown is news. */
export function refusalOf(error: unknown): string {
  if (isInvalidAnswer(error)) return "refused: invalid answer";
  if (isAgentAdapterError(error)) return `refused: ${error.kind}`;
  throw error;
}

function calls(value: unknown): string[] {
  return Array.isArray(value) ? value.map((call) => `${String(call.name)} ${JSON.stringify(call.args)}`) : [];
}

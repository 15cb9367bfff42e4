// `RaisedResult`: an error on its way through code that would retry it or make a message of it. It travels as a result, a
// Command, and is thrown where LangGraph takes the node's result in: outside everything that wraps the call, inside the task.

import { Command } from "@langchain/langgraph";

export class RaisedResult extends Command {
  readonly #error: unknown;

  constructor(error: unknown) {
    super({});
    this.#error = error;
    // Whoever unpacks it to make a Command of their own raises it there, instead of losing it.
    Object.defineProperty(this, "update", { get: () => this._updateAsTuples() });
  }

  /** LangGraph's own way to what a Command writes. */
  override _updateAsTuples(): never {
    throw this.#error;
  }
}

// `RaisedResult`: an error on its way through code that would retry it or make a message of it. It travels as a result, a
// Command, and is thrown where LangGraph takes the node's result in: outside everything that wraps the call, inside the task.

import { Command } from "@langchain/langgraph";

/** Reading its update, which is all there is to a Command, throws the error: LangGraph does, and whoever unpacks it. */
export class RaisedResult extends Command {
  constructor(error: unknown) {
    super({});
    const raise = () => {
      throw error;
    };
    Object.defineProperty(this, "update", { get: raise });
  }
}

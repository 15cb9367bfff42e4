// `RaisedResult`: an error on its way through code that would retry it or make a message of it. It travels as a result, a
// Command, and is thrown where LangGraph takes the node's result in: outside everything that wraps the call, inside the task.

import { Command } from "@langchain/langgraph";
import { ToolUsageError } from "../../index.js";
import { currentConfig } from "../langchain-core/call-context.js";
import { membersOf } from "./members.js";
import { attemptKeyOf } from "./pregel-internals.js";

/**
 * Reading its update, which is all there is to a Command, throws the error: LangGraph does, and whoever unpacks it. Good for
 * the attempt it was made in: code that keeps results and gives them again must not show one thread's request in another.
 */
export class RaisedResult extends Command {
  constructor(error: unknown) {
    super({});
    const madeIn = attemptNow();
    const raise = () => {
      if (attemptNow() === madeIn) throw error;
      throw new ToolUsageError(
        "code around a tool call kept the result of a call that had paused or failed, and gave it again: keep ToolMessages only",
      );
    };
    Object.defineProperty(this, "update", { get: raise });
  }
}

function attemptNow(): object | undefined {
  return attemptKeyOf(membersOf(currentConfig()));
}

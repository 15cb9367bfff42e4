// `fanOut`: a conditional-edge path that sends every item of a list to one node.

import { Send } from "@langchain/langgraph";
import { ToolUsageError } from "../../index.js";
import { refuseUnknown } from "../../spi.js";
import { wrapItem } from "./send-item.js";

/** Where an empty fan-out goes. */
export interface FanOutOptions {
  /** Where to go when there is nothing to send. Default: the branch ends, and what follows the target does not run. */
  readonly orElse?: string;
}

/**
 * One `Send(target, item)` for each item under the state key `over`, or of `over(state)`, in order.
 *
 * @throws ToolUsageError from the path, when there is no list
 * @example
 * new StateGraph(State)
 *   .addNode("plan", (state) => state)
 *   .addNode("rate", toolTask(shippingRate, { executor, into: "rates" }))
 *   .addConditionalEdges("plan", fanOut("rate", "items"), ["rate"]);
 */
export function fanOut<State extends object>(
  target: string,
  over: (keyof State & string) | ((state: State) => readonly unknown[]),
  options: FanOutOptions = {},
): (state: State) => Send[] | string {
  const { orElse, ...rest } = options;
  refuseUnknown("fanOut", rest);
  return (state) => {
    const items: unknown = typeof over === "function" ? over(state) : ownValue(state, over);
    if (!Array.isArray(items))
      throw new ToolUsageError(`fanOut: there is no list to send to ${JSON.stringify(target)}`);
    if (items.length === 0 && orElse !== undefined) return orElse;
    return items.map((item: unknown) => new Send(target, wrapItem(item)));
  };
}

function ownValue(state: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(state, key)?.value;
}

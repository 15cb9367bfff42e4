// `fanOut` to a `oneUse` node that takes a denial as a result, as docs/guide/own-nodes.md says: a task for each call, so that they wait
// together.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { isAgentAdapterError } from "agent-adapter";
import { fanOut, oneUse } from "agent-adapter/langgraph";
import type { AttackCall, MakeAttackDriver } from "agent-adapter/testing";
import { graphDriver } from "./graph-session.js";

const State = Annotation.Root({
  calls: Annotation<readonly AttackCall[]>(),
  done: Annotation<readonly string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

export const attackDriver: MakeAttackDriver = (settings) =>
  graphDriver({ what: "fanOut to oneUse", settings }, ({ executor, saver }) => {
    const node = oneUse<AttackCall, typeof State.Update>(
      async ({ id, tool, args }) => {
        try {
          return { done: [String(await executor.run(tool, args, { callId: id }))] };
        } catch (error) {
          if (!isAgentAdapterError(error) || !error.modelVisible) throw error;
          return { done: [error.kind] };
        }
      },
      { executor },
    );
    const app = new StateGraph(State)
      .addNode("work", node)
      .addConditionalEdges(START, fanOut("work", "calls"), ["work"])
      .addEdge("work", END)
      .compile({ checkpointer: saver });
    return { app, start: (calls, config) => app.invoke({ calls }, config) };
  });

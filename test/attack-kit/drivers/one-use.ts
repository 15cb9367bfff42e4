// A node of the user's own under `oneUse`.
import { Annotation, END, Send, START, StateGraph } from "@langchain/langgraph";
import { isAgentAdapterError } from "agent-adapter";
import { oneUse } from "agent-adapter/langgraph";
import type { AttackCall, MakeAttackDriver } from "agent-adapter/testing";
import { apart, graphDriver } from "./graph-session.js";

const State = Annotation.Root({
  calls: Annotation<readonly AttackCall[]>(),
  done: Annotation<readonly string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

export const attackDriver: MakeAttackDriver = (settings) =>
  graphDriver("oneUse", settings, ({ executor, saver }) => {
    const node = oneUse<typeof State.State, typeof State.Update>(
      async ({ calls }) => {
        const done: string[] = [];
        for (const { id, tool, args } of calls) {
          try {
            done.push(String(await executor.run(tool, args, { callId: id })));
          } catch (error) {
            if (!isAgentAdapterError(error) || !error.modelVisible) throw error;
            done.push(error.kind);
          }
        }
        return { done };
      },
      { executor },
    );
    const app = new StateGraph(State)
      .addNode("work", node)
      .addConditionalEdges(START, ({ calls }) => apart(calls).map((group) => new Send("work", { calls: group })))
      .addEdge("work", END)
      .compile({ checkpointer: saver });
    return { app, start: (calls, config) => app.invoke({ calls }, config) };
  });

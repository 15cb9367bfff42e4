// A driver of the attack kit, as short as it can be: a graph whose tool node pauses with LangGraph's own `interrupt()`.

// region: driver
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { JsonObject, JsonValue } from "agent-adapter";
import type { AttackSession, AttackWorld, MakeAttackDriver, PendingCall } from "agent-adapter/testing";

const reason = "the checkpointer is in the memory of one process";

export const attackDriver: MakeAttackDriver = () => ({
  name: "interrupt() in a node, LangGraph",
  lacks: {
    restart: reason,
    processes: reason,
    storage: "this example does not copy rows",
    several: "the node asks about one call at a time",
    "one-by-one": "the node asks about one call at a time",
    edit: "this example's answer is yes or no",
    "edit-tool": "this example's answer is yes or no",
    "answer-expiry": "answers have no end",
    "request-expiry": "requests have no end",
    forge: "an answer is a plain value: there is nothing to forge",
    "caller-tricks": "this graph reads nothing from its caller",
  },
  open: async (world) => session(world),
});
// endregion

// region: app
/** The application: what the model asked for is run; tools that ask pause before they do. */
function graphOf({ tools }: AttackWorld) {
  const node = async ({ messages }: typeof MessagesAnnotation.State) => {
    const last = messages.at(-1);
    const calls = AIMessage.isInstance(last) ? (last.tool_calls ?? []) : [];
    const results: ToolMessage[] = [];
    for (const { id = "", name, args } of calls) {
      const tool = tools.find((each) => each.name === name);
      const isAllowed = tool?.asks === true ? interrupt({ id, tool: name, args }) !== "no" : true;
      const content = isAllowed ? await tool?.run(args) : "denied";
      results.push(new ToolMessage({ content: content ?? "no such tool", tool_call_id: id }));
    }
    return { messages: results };
  };
  const graph = new StateGraph(MessagesAnnotation).addNode("tools", node);
  return graph.addEdge(START, "tools").addEdge("tools", END).compile({ checkpointer: new MemorySaver() });
}
// endregion

// region: session
function session(world: AttackWorld): AttackSession {
  const app = graphOf(world);
  const on = (thread: string, at?: JsonValue) => ({
    configurable: { thread_id: thread, ...(at === undefined ? {} : { checkpoint_id: at }) },
  });
  return {
    async start(thread, calls) {
      const asked = calls.map(({ id, tool, args }) => ({ id, name: tool, args }));
      await app.invoke({ messages: [new AIMessage({ content: "", tool_calls: asked })] }, on(thread));
    },
    async pending(thread): Promise<readonly PendingCall[]> {
      const { tasks, config } = await app.getState(on(thread));
      return tasks.flatMap(({ interrupts }) =>
        interrupts.map(({ id = "", value }) => {
          // What the node above showed.
          const { tool, args } = value as { tool: string; args: JsonObject };
          return { id, tool, args, raw: { id, tool, args }, at: config.configurable?.["checkpoint_id"] ?? null };
        }),
      );
    },
    approve: async () => "yes",
    deny: async () => "no",
    async answer(thread, answers, at) {
      const resume = Object.fromEntries(answers.map(({ to, answer }) => [to.id, answer]));
      await app.invoke(new Command({ resume }), on(thread, at));
    },
    async goOn(thread) {
      await app.invoke(null, on(thread));
    },
    close: async () => undefined,
  };
}
// endregion

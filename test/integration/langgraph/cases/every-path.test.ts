// One message of the model with everything in it, on every way into a tool node: exactly one ToolMessage per call, in the order
// of the calls, whatever was approved, denied, edited, unknown or invalid.
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ChatResult } from "@langchain/core/outputs";
import { afterEach, describe, expect, it } from "vitest";
import { approve, deny, ToolError } from "agent-adapter";
import {
  ai,
  asking,
  call,
  counted,
  one,
  Stand,
  turnOf,
  type App,
  type Call,
  type GraphMaker,
  type Pending,
  type StandOptions,
  type Turn,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

const MIXED: readonly Call[] = [
  call("approved", 1),
  call("plain", 2, "rate"),
  call("denied", 3),
  call("unknown", 4, "nobody"),
  call("edited", 5),
  { name: "send", args: { n: "five" }, id: "invalid" },
  call("fails", 6, "no"),
  call("plain-2", 7, "rate"),
];
const INVALID = [
  { name: "send", args: '{"n": 8', id: "broken", error: "not JSON", type: "invalid_tool_call" as const },
];

const EXPECTED: readonly [id: string, status: string, content: RegExp][] = [
  ["approved", "success", /^send 1$/],
  ["plain", "success", /^rate 2$/],
  ["denied", "error", /ApprovalDenied.*not this one/],
  ["unknown", "error", /ToolNotFound/],
  ["edited", "success", /A reviewer changed the arguments.*"n":50[^]*send 50$/],
  ["invalid", "error", /ToolArgsInvalid/],
  ["fails", "error", /ToolError.*not today/],
  ["plain-2", "success", /^rate 7$/],
  ["broken", "error", /ToolArgsInvalid/],
];

const Chat = Annotation.Root({ chat: MessagesAnnotation.spec.messages });

/** A model that says one message, reads the answers, and has nothing more to say. */
class OneMessageModel extends BaseChatModel {
  static says = new AIMessage("");

  _llmType(): string {
    return "one-message";
  }

  override bindTools(): never {
    return this as never;
  }

  _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const answered = messages.some((each) => ToolMessage.isInstance(each));
    const message = answered ? new AIMessage("done") : OneMessageModel.says;
    return Promise.resolve({ generations: [{ text: "", message }] });
  }
}

function agent(version: "v1" | "v2"): GraphMaker {
  return (node, checkpointer) =>
    createReactAgent({ llm: new OneMessageModel({}), tools: node, checkpointer, version }) as unknown as App;
}

/** The model says it first. */
function fromModel(message: AIMessage): object {
  OneMessageModel.says = message;
  return { messages: [new HumanMessage("go")] };
}

interface Path {
  readonly graph: GraphMaker;
  readonly more?: Partial<StandOptions>;
  readonly input?: (message: AIMessage) => object;
  readonly messages?: (turn: Turn) => readonly BaseMessage[];
  /** Calls that a host sends one by one never include the ones its model wrote badly. */
  readonly oneByOne?: true;
}

const chatOf = (turn: Turn) => (turn.output as { chat: BaseMessage[] }).chat;

const PATHS: Readonly<Record<string, Path>> = {
  "a state of messages": {
    graph: (node, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode("tools", node)
        .addEdge(START, "tools")
        .compile({ checkpointer }) as unknown as App,
  },
  "a state of messages under another key": {
    more: { node: { messagesKey: "chat" } },
    graph: (node, checkpointer) =>
      new StateGraph(Chat)
        .addNode("tools", node as never)
        .addEdge(START, "tools" as never)
        .compile({ checkpointer }) as unknown as App,
    input: (message) => ({ chat: [message] }),
    messages: chatOf,
  },
  "a message array": {
    graph: (node, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode("tools", async ({ messages }, config) => ({
          messages: (await node.invoke(messages, config)) as BaseMessage[],
        }))
        .addEdge(START, "tools")
        .compile({ checkpointer }) as unknown as App,
  },
  "plain objects": {
    graph: (node, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode("tools", node)
        .addEdge(START, "tools")
        .compile({ checkpointer }) as unknown as App,
    input: ({ tool_calls, invalid_tool_calls }) => ({
      messages: [{ role: "assistant", content: "", tool_calls, invalid_tool_calls }],
    }),
  },
  "a subgraph": {
    graph: (node, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode("inner", new StateGraph(MessagesAnnotation).addNode("tools", node).addEdge(START, "tools").compile())
        .addEdge(START, "inner")
        .compile({ checkpointer }) as unknown as App,
  },
  "createReactAgent v1": { graph: agent("v1"), input: fromModel },
  "createReactAgent v2": { graph: agent("v2"), input: fromModel, oneByOne: true },
  "one Send per call, `lg_tool_call`": {
    oneByOne: true,
    graph: (node, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode("tools", node)
        .addConditionalEdges(START, ({ messages }) =>
          ((messages.at(-1) as AIMessage).tool_calls ?? []).map((each) => new Send("tools", { lg_tool_call: each })),
        )
        .compile({ checkpointer }) as unknown as App,
  },
};

/** Answers whatever is asked until nothing is: every decision belongs to its call, in whatever order they are asked. */
async function answerAll(stand: Stand, first: Turn): Promise<Turn> {
  let [turn, now] = [first, stand];
  for (let rounds = 0; turn.interrupts.length > 0; rounds += 1) {
    if (rounds > 5) throw new Error("it asks for ever");
    forgetProcess();
    now = now.rebuild();
    const values = turn.interrupts.map((each: Pending) => [each.id, now.sign(each, decisionFor(each))] as const);
    turn = await now.resume(Object.fromEntries(values));
  }
  return turn;
}

function decisionFor({ value }: Pending) {
  switch (value.request.callId) {
    case "denied":
      return deny({ reason: "not this one" });
    case "edited":
      return approve({ editedArgs: { n: 50 } });
    default:
      return approve();
  }
}

describe("T2/every-path: one message for every call", () => {
  it.each(Object.entries(PATHS))("T2/every-path, B16: %s", async (_name, path) => {
    const ran: string[] = [];
    const no = counted(ran, "no", {
      body: () => {
        throw new ToolError("not today");
      },
    });
    const stand = new Stand({
      tools: () => [asking(ran, "send"), counted(ran, "rate"), no],
      graph: path.graph,
      ...path.more,
    });
    const message = ai(MIXED, path.oneByOne ? {} : { invalid_tool_calls: INVALID });
    const started = await stand.invoke(path.input?.(message) ?? { messages: [message] });
    const end = await answerAll(stand, started);
    const all = path.messages?.(end) ?? end.messages;
    const tools = all.filter((each): each is ToolMessage => ToolMessage.isInstance(each));
    const expected = path.oneByOne ? EXPECTED.filter(([id]) => id !== "broken") : EXPECTED;
    expect(tools.map(({ tool_call_id: id, status }) => [id, status])).toEqual(
      expected.map(([id, status]) => [id, status]),
    );
    for (const [index, [, , content]] of expected.entries()) expect(tools[index]?.text).toMatch(content);
    expect(tools.find(({ tool_call_id: id }) => id === "edited")?.metadata).toEqual({
      agentAdapter: { arguments: { n: 50 } },
    });
    expect(ran.toSorted()).toEqual(["no 6", "rate 2", "rate 7", "send 1", "send 50"]);
  });

  it("T2/every-path, T1: a call without an id on every way gets one, and the AIMessage that has it comes back where there is one", async () => {
    for (const [name, path] of Object.entries(PATHS)) {
      const stand = new Stand({ tools: () => [counted([], "rate")], graph: path.graph, ...path.more });
      const message = ai([{ name: "rate", args: { n: 1 } }], { id: "m1" });
      const end = await stand.invoke(path.input?.(message) ?? { messages: [message] });
      const all = path.messages?.(end) ?? end.messages;
      const tool = one(all.filter((each): each is ToolMessage => ToolMessage.isInstance(each)));
      expect([name, tool.tool_call_id]).toEqual([name, expect.stringMatching(/^(inner:[\w-]+\|)?tools:[\w-]+:0$/)]);
      if (path.oneByOne) continue;
      const said = all.filter(
        (each): each is AIMessage => AIMessage.isInstance(each) && (each.tool_calls ?? []).length > 0,
      );
      expect([name, said.at(-1)?.tool_calls?.[0]?.id]).toEqual([name, tool.tool_call_id]);
      expect(turnOf({ messages: all }).tools).toHaveLength(1);
    }
  });
});

// A pause, a command to the parent, an invalid answer and an abort pass every stage and hook as they are: never wrapped,
// never retried, never written down as a failure (B14).
import {
  Command,
  END,
  GraphInterrupt,
  interrupt,
  isGraphInterrupt,
  isInvalidResume,
  isParentCommand,
  MemorySaver,
  MessagesAnnotation,
  ParentCommand,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, Executor, Registry, type Hook } from "agent-adapter";
import {
  ai,
  asking,
  call,
  counted,
  failure,
  one,
  sleep,
  Stand,
  text,
  type App,
  type GraphMaker,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

/** Hooks that catch whatever they can and carry on, and write down what they saw. */
function loggingHooks(seen: string[]): Partial<Hook>[] {
  const log = (name: string): Partial<Hook> => ({
    beforeTool: ({ tool }) => {
      try {
        seen.push(`${name} before ${tool}`);
      } catch {
        seen.push("caught");
      }
    },
    afterTool: ({ tool }) => {
      seen.push(`${name} after ${tool}`);
    },
  });
  return [log("outer"), log("inner")];
}

/** The tool node inside a node that notes what is thrown through it. */
function watched(thrown: unknown[]): GraphMaker {
  return (node, checkpointer) =>
    new StateGraph(MessagesAnnotation)
      .addNode("tools", async (state, config) => {
        try {
          return (await node.invoke(state, config)) as never;
        } catch (error) {
          thrown.push(error);
          throw error;
        }
      })
      .addEdge(START, "tools")
      .addEdge("tools", END)
      .compile({ checkpointer }) as unknown as App;
}

describe("a pause", () => {
  it("B14, E3: leaves toolNode as LangGraph's own GraphInterrupt, asked once, with no attempt and no failure", async () => {
    const [ran, seen, thrown]: [string[], string[], unknown[]] = [[], [], []];
    const stand = new Stand({ tools: () => [asking(ran, "send")], hooks: loggingHooks(seen), graph: watched(thrown) });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    expect(thrown).toHaveLength(1);
    expect(isGraphInterrupt(thrown[0])).toBe(true);
    expect(seen).toEqual(["outer before send", "inner before send"]);
    expect((await stand.entries()).map(({ status, attempts, errorKind }) => [status, attempts, errorKind])).toEqual([
      ["pending", 0, undefined],
    ]);
    await stand.decide(pending, approve());
    expect(thrown).toHaveLength(1);
    expect(seen.slice(2)).toEqual(["outer before send", "inner before send", "inner after send", "outer after send"]);
    expect(ran).toEqual(["send 1"]);
  });

  it("B14, E3: an invalid answer leaves it unwrapped too, and no hook hears of it", async () => {
    const [ran, seen, thrown]: [string[], string[], unknown[]] = [[], [], []];
    const stand = new Stand({ tools: () => [asking(ran, "send")], hooks: loggingHooks(seen), graph: watched(thrown) });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const error = await failure(stand.resume({ [pending.id]: "yes" }));
    expect(thrown.at(-1)).toBe(error);
    expect(seen).toHaveLength(2);
    expect((await stand.entries()).map(({ status, errorKind }) => [status, errorKind])).toEqual([
      ["pending", undefined],
    ]);
  });

  const questions: Readonly<Record<string, unknown>> = {
    "a text": "name?",
    "an object": { question: "name?" },
    "an array": ["name?"],
    null: null,
    undefined,
  };
  for (const [name, question] of Object.entries(questions)) {
    for (const byId of [false, true]) {
      it(`B14, E3: a raw interrupt() with ${name} in a tool's body passes and takes its answer ${byId ? "by id" : "plain"}`, async () => {
        const [ran, seen, thrown]: [string[], string[], unknown[]] = [[], [], []];
        const stand = new Stand({
          tools: () => [counted(ran, "ask_raw", { body: () => `heard ${String(interrupt(question))}` })],
          hooks: loggingHooks(seen),
          graph: watched(thrown),
        });
        const paused = one((await stand.start(call("c", 1, "ask_raw"))).interrupts);
        expect(paused.value).toEqual(question);
        expect(isGraphInterrupt(thrown[0])).toBe(true);
        expect((await stand.entries()).map(({ status, errorKind }) => [status, errorKind])).toEqual([
          ["pending", undefined],
        ]);
        const end = await (byId ? stand.resume({ [paused.id]: "ana" }) : stand.plain("ana"));
        expect(end.tools.map(({ content }) => content)).toEqual(["heard ana"]);
        expect((await stand.entries()).map(({ status }) => status)).toEqual(["ok"]);
      });
    }
  }

  it("B14, E3: an answer that a tool's own interrupt() refuses comes out as LangGraph's invalid resume, and can be repaired", async () => {
    const [ran, thrown]: [string[], unknown[]] = [[], []];
    const body = () => `heard ${String(interrupt("name?", { responseSchema: z.string().min(3) }))}`;
    const stand = new Stand({ tools: () => [counted(ran, "ask_raw", { body })], graph: watched(thrown) });
    const paused = one((await stand.start(call("c", 1, "ask_raw"))).interrupts);
    const error = await failure(stand.resume({ [paused.id]: "x" }));
    expect(isInvalidResume(error)).toBe(true);
    expect(thrown.at(-1)).toBe(error);
    expect((await stand.entries()).map(({ status, errorKind }) => [status, errorKind])).toEqual([
      ["pending", undefined],
    ]);
    expect((await stand.resume({ [paused.id]: "ana" })).tools.map(text)).toEqual(["heard ana"]);
  });

  it("B14, E3, E8: does not leave before the plain calls beside it have settled", async () => {
    const ran: string[] = [];
    let done = false;
    const stand = new Stand({
      tools: () => [
        asking(ran, "send"),
        counted(ran, "slow", {
          body: async () => {
            await sleep(10);
            done = true;
          },
        }),
      ],
    });
    await stand.start(call("c1", 1), call("c2", 2, "slow"));
    expect(done).toBe(true);
  });
});

describe("executor.run and runMany", () => {
  const signals: Readonly<Record<string, () => Error>> = {
    GraphInterrupt: () => new GraphInterrupt([{ value: "v", id: "i" }]),
    ParentCommand: () => new ParentCommand(new Command({ graph: Command.PARENT, goto: "elsewhere" })),
  };
  for (const [name, make] of Object.entries(signals)) {
    it(`B14, E3: ${name} of a tool comes out of run and runMany unwrapped, from one attempt`, async () => {
      const [ran, seen]: [string[], string[]] = [[], []];
      const thrown = make();
      const registry = new Registry([
        counted(ran, "signal", {
          body: () => {
            throw thrown;
          },
        }),
        counted(ran, "plain"),
      ]);
      const executor = new Executor(registry, { hooks: loggingHooks(seen) });
      expect(await failure(executor.run("signal", { n: 1 }))).toBe(thrown);
      const calls = [
        { tool: "plain", args: { n: 2 } },
        { tool: "signal", args: { n: 3 } },
      ];
      expect(await failure(executor.runMany(calls))).toBe(thrown);
      expect(ran.toSorted()).toEqual(["plain 2", "signal 1", "signal 3"]);
      expect(seen.filter((line) => line.includes("after signal"))).toEqual([]);
      const entries = await executor.ledger.entries();
      expect(entries.map(({ tool, status, attempts }) => `${tool} ${status} ${attempts}`).toSorted()).toEqual([
        "plain ok 1",
        "signal pending 1",
        "signal pending 1",
      ]);
    });
  }

  it("B14, E3: an abort of our own signal comes out as its reason, a tool's own AbortError as a failure", async () => {
    const ran: string[] = [];
    const reason = new Error("stopped by the user");
    const control = new AbortController();
    const registry = new Registry([
      counted(ran, "stopped", {
        body: () => {
          control.abort(reason);
          throw reason;
        },
      }),
      counted(ran, "own_abort", {
        body: () => {
          throw new DOMException("the fetch was aborted", "AbortError");
        },
      }),
    ]);
    const executor = new Executor(registry);
    expect(await failure(executor.run("stopped", { n: 1 }, { signal: control.signal }))).toBe(reason);
    expect(await failure(executor.run("own_abort", { n: 1 }))).toMatchObject({ kind: "ToolFailed" });
    expect((await executor.ledger.entries()).map(({ status }) => status)).toEqual(["cancelled", "failed"]);
  });
});

describe("in a graph", () => {
  it("B14, E3: a command to the parent graph gets there", async () => {
    const ran: string[] = [];
    const thrown: unknown[] = [];
    const stand = new Stand({
      tools: () => [
        counted(ran, "handoff", {
          body: () => {
            throw new ParentCommand(new Command({ graph: Command.PARENT, goto: "other" }));
          },
        }),
      ],
      graph: (node, saver, executor) => {
        const inner = watched(thrown)(node, new MemorySaver(), executor);
        return new StateGraph(MessagesAnnotation)
          .addNode("inner", inner as never, { ends: ["other"] })
          .addNode("other", () => {
            ran.push("other");
            return {};
          })
          .addEdge(START, "inner")
          .addEdge("other", END)
          .compile({ checkpointer: saver }) as unknown as App;
      },
    });
    await stand.start(call("c", 1, "handoff"));
    expect(isParentCommand(thrown[0])).toBe(true);
    expect(ran).toEqual(["handoff 1", "other"]);
    expect((await stand.entries()).map(({ status, errorKind }) => [status, errorKind])).toEqual([
      ["pending", undefined],
    ]);
  });

  it("B14, E3: an abort while tools run propagates unwrapped, saves no ToolMessage, and is no failure", async () => {
    const ran: string[] = [];
    const control = new AbortController();
    const reason = new Error("stopped by the user");
    const stand = new Stand({ tools: () => [counted(ran, "slow", { body: () => sleep(10).then(() => "late") })] });
    setTimeout(() => control.abort(reason), 2);
    const error = await failure(
      stand.app.invoke({ messages: [ai([call("c", 1, "slow")])] }, { ...stand.config, signal: control.signal }),
    );
    expect(error === reason || (error instanceof Error && error.name === "AbortError")).toBe(true);
    await sleep(15);
    expect((await stand.history()).map((message) => message.type)).toEqual(["ai"]);
    expect((await stand.entries()).map(({ status, errorKind }) => [status, errorKind])).not.toContainEqual([
      "failed",
      expect.anything(),
    ]);
  });
});

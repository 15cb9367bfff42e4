// Code of a user that swallows a pause: the node pauses all the same, or fails; it never ends as if nothing was asked.
import { Annotation, Command, interrupt } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { deny, type Executor } from "agent-adapter";
import { oneUse } from "agent-adapter/langgraph";
import { asking, counted, failure, one, sleep } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { Nodes, oneNodeGraph } from "./rig.js";

afterEach(forgetProcess);
const State = Annotation.Root({ got: Annotation<unknown>() });

type Body = (executor: Executor, ran: string[]) => unknown;

function nodeOf(body: Body) {
  const ran: string[] = [];
  const nodes = new Nodes({
    tools: [
      asking(ran, "send"),
      asking(ran, "slow", { body: () => sleep(20).then(() => "slow") }),
      counted(ran, "look"),
    ],
    graph: ({ executor }) =>
      oneNodeGraph(
        State,
        oneUse(async () => ({ got: await body(executor, ran) }), { executor }),
      ),
  });
  return { ran, nodes };
}

const send = (executor: Executor, n = 1) => executor.run("send", { n }, { callId: `send-${n}` });

const SWALLOWED: Readonly<Record<string, Body>> = {
  "catches it and returns a default": async (executor) => {
    try {
      return await send(executor);
    } catch {
      return "default";
    }
  },
  "catches it and fails for a reason of its own": async (executor) => {
    try {
      return await send(executor);
    } catch {
      throw new Error("own");
    }
  },
  "settles it beside others": async (executor) => {
    const settled = await Promise.allSettled([send(executor), executor.run("look", { n: 1 }, { callId: "look" })]);
    return settled.map(({ status }) => status);
  },
  "takes whichever ends first": (executor) => Promise.race([send(executor).catch(() => "late"), sleep(50)]),
  "asks a batch and looks at nothing of it": async (executor) => {
    await executor.runMany([{ tool: "send", args: { n: 1 }, callId: "send-1" }]).catch(() => undefined);
    return "fine";
  },
  "tries again in a loop": async (executor) => {
    for (let tries = 0; tries < 3; tries += 1) {
      try {
        return await send(executor);
      } catch {
        // Once more.
      }
    }
    return "gave up";
  },
  "does not wait for it": (executor) => {
    send(executor).catch(() => undefined);
    return "gone";
  },
  "does not wait for a batch": (executor) => {
    executor.runMany([{ tool: "send", args: { n: 1 }, callId: "send-1" }]).catch(() => undefined);
    return "gone";
  },
  "hides it in an error with a cause": async (executor) => {
    try {
      return await send(executor);
    } catch (cause) {
      throw new AggregateError([cause], "several", { cause });
    }
  },
};

describe("L6: code that swallows the pause", () => {
  it.each(Object.entries(SWALLOWED))(
    "L6, R4: %s: it pauses all the same, and the answer runs the call once",
    async (_name, body) => {
      const { ran, nodes } = nodeOf(body);
      const pending = await nodes.asked();
      expect(pending.value.request).toMatchObject({ tool: "send", callId: "send-1" });
      expect(ran.filter((line) => line.startsWith("send"))).toEqual([]);
      // The same again, here and elsewhere.
      expect(one((await nodes.again()).pending).id).toBe(pending.id);
      expect(one((await nodes.elsewhere().again()).pending).value.binding).toBe(pending.value.binding);

      const end = await nodes.answer(pending);

      expect(end.pending).toEqual([]);
      expect(ran.filter((line) => line.startsWith("send"))).toEqual(["send 1"]);
    },
  );

  it("L6: a call that runs under its answer and is not waited for does not hold the node", async () => {
    const seen: string[] = [];
    const { ran, nodes } = nodeOf((executor) =>
      Promise.race([executor.run("slow", { n: 1 }, { callId: "slow" }).then(() => seen.push("slow")), sleep(1)]),
    );
    await nodes.answer(await nodes.asked());
    expect(ran).toEqual(["slow 1"]);
    expect(seen).toEqual([]);
  });

  it("L6: a denial is no pause: what is caught is over", async () => {
    const { ran, nodes } = nodeOf((executor) => send(executor).catch((error: unknown) => String(error)));
    const end = await nodes.answer(await nodes.asked(), deny({ reason: "no" }));
    expect(end.values["got"]).toContain("no");
    expect(ran).toEqual([]);
  });

  it("L6, A6: a raw interrupt() after a swallowed pause does not take its place", async () => {
    const { ran, nodes } = nodeOf(async (executor) => {
      await send(executor).catch(() => undefined);
      return interrupt("anything");
    });
    const first = await failure(
      nodes.invoke({}).then(({ pending }) => Promise.reject(new Error(JSON.stringify(pending)))),
    );
    expect(String(first)).toContain("agent_adapter.approval");
    expect(ran).toEqual([]);
  });
});

describe("L6, A6: a raw interrupt() in a oneUse node", () => {
  it("L6, A6: before an approval: a ToolUsageError, before anybody is asked to approve", async () => {
    const { ran, nodes } = nodeOf(async (executor) => {
      const said: unknown = interrupt("who?");
      return [said, await send(executor)];
    });
    const raw = one((await nodes.invoke({})).pending);
    expect(raw.value).toBe("who?");
    expect(await failure(nodes.invoke(answerTo(raw.id)))).toMatchObject({ kind: "ToolUsageError" });
    expect(ran).toEqual([]);
  });

  it("L6, A6: after an approval: a ToolUsageError; what was approved ran once", async () => {
    const { ran, nodes } = nodeOf(async (executor) => [await send(executor), interrupt("who?")]);
    const pending = await nodes.asked();
    const raw = one((await nodes.answer(pending)).pending);
    expect(raw.value).toBe("who?");
    expect(await failure(nodes.invoke(answerTo(raw.id)))).toMatchObject({ kind: "ToolUsageError" });
    expect(await failure(nodes.elsewhere().invoke(answerTo(raw.id)))).toMatchObject({ kind: "ToolUsageError" });
    expect(ran).toEqual(["send 1"]);
  });
});

function answerTo(id: string) {
  return new Command({ resume: { [id]: "ana" } });
}

describe("L6: a node of ours inside of a tool's body", () => {
  it("L6: does not wait for the batch that its own call is a part of", async () => {
    const ran: string[] = [];
    const nodes = new Nodes({
      tools: [counted(ran, "look", { body: () => inner() }), counted(ran, "peek")],
      graph: ({ executor }) =>
        oneNodeGraph(
          State,
          oneUse(
            async (_state, config) => {
              inner = () => oneUse(async () => executor.run("peek", { n: 2 }), { executor })(State, config);
              return { got: await executor.runMany([{ tool: "look", args: { n: 1 }, callId: "look" }]) };
            },
            { executor },
          ),
        ),
    });
    let inner: () => Promise<unknown> = () => Promise.resolve();
    await nodes.invoke({});
    expect(ran).toEqual(["look 1", "peek 2"]);
  });
});

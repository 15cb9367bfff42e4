// What somebody reads who can look at interrupt values, streams and every byte of the checkpointer, but has no secret: the
// request and its arguments, and nothing of what calls came to.
import { Annotation, Command, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { approve, deny, Executor, Registry, ToolError } from "agent-adapter";
import { LangGraphApproval, oneUse, pendingApprovals, toolNode, type Durable } from "agent-adapter/langgraph";
import { ai, asking, counted, one, type App, type Pending } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

const SECRET = "a secret that nobody outside has";
const PLAIN = "plain-result-4f1c";
const APPROVED = "approved-result-91ab";
const FAILED = "error-for-the-model-77de";
const REASON = "reason-of-a-denial-20cc";
const ARGUMENT = 748_291;
const MODES = ["values", "updates", "debug", "checkpoints", "tasks", "custom", "messages"];

/** Every form in which text may stand in bytes: as it is, hex, and base64 at any place. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : 4, -4),
  );
  return [
    text,
    bytes.toString("hex"),
    ...base64,
    ...base64.map((each) => each.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

const holds = (haystack: string, text: string) => formsOf(text).some((form) => haystack.includes(form));

/** Everything a checkpointer in memory holds, and every sealed envelope in it decoded. */
function everythingIn(saver: MemorySaver): string {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (value instanceof Uint8Array) found.push(new TextDecoder().decode(value));
    else if (typeof value === "string") found.push(value);
    else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) walk(inner);
  };
  walk([saver.storage, saver.writes]);
  const text = found.join("\n");
  const envelopes = text.match(/v1\.[0-9a-z]+\.[\w-]+/g) ?? [];
  return [text, ...envelopes.map((each) => Buffer.from(each.split(".")[2] ?? "", "base64url").toString("latin1"))].join(
    "\n",
  );
}

const KINDS = {
  toolNode: (executor: Executor, registry: Registry, durable: Durable) =>
    new StateGraph(MessagesAnnotation)
      .addNode("node", toolNode(registry, { executor, durable }))
      .addEdge(START, "node"),
  oneUse: (executor: Executor, _registry: Registry, durable: Durable) =>
    new StateGraph(Annotation.Root({ messages: Annotation<unknown>(), got: Annotation<unknown>() }))
      .addNode(
        "node",
        oneUse<object, object>(
          async () => {
            const run = (tool: string, n: number) => executor.run(tool, { n }, { callId: tool });
            const got = [await run("plain", 1), await run("fails", 2).catch(() => "failed"), await run("first", 3)];
            await run("denied", 4).catch(() => undefined);
            return { got: [...got, await run("last", ARGUMENT)] };
          },
          { executor, durable },
        ),
      )
      .addEdge(START, "node"),
};

async function walkThrough(kind: keyof typeof KINDS, durable: Durable) {
  const saver = new MemorySaver();
  const registry = new Registry([
    counted([], "plain", { body: () => PLAIN }),
    counted([], "fails", {
      body: () => {
        throw new ToolError(FAILED);
      },
    }),
    asking([], "first", { body: () => APPROVED }),
    asking([], "denied"),
    asking([], "last", { body: () => APPROVED }),
  ]);
  const port = new LangGraphApproval({ key: SECRET });
  const executor = new Executor(registry, { approval: port, secret: SECRET });
  const app = KINDS[kind](executor, registry, durable).compile({ checkpointer: saver }) as unknown as App;
  const config = { configurable: { thread_id: "t" }, streamMode: MODES, subgraphs: true };
  const streamed: unknown[] = [];
  const go = async (input: unknown): Promise<Pending> => {
    for await (const part of await app.stream(input, config)) streamed.push(part);
    const { tasks } = await app.getState(config);
    return one(tasks.flatMap(({ interrupts }) => interrupts as Pending[]));
  };
  const names = ["plain", "fails", "first", "denied", "last"];
  const calls = names.map((name, n) => ({ name, args: { n: name === "last" ? ARGUMENT : n + 1 }, id: name }));
  let pending = await go({ messages: [ai(calls)] });
  const answer = (decision = approve()) =>
    new Command({ resume: { [pending.id]: port.resumeValue(pending, decision) } });
  pending = await go(answer());
  pending = await go(answer(deny({ reason: REASON })));
  return { saver, app, config, pending, streamed, names };
}

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])(
  "N1, J3/task-rows, J4/tasks: %s, paused after finished calls",
  (kind) => {
    it.each(["pause", "call"] as const)(
      "J3/task-rows, J4/tasks: durable %s: results, errors and sealed state are nowhere to read; the request's arguments are",
      async (durable) => {
        const { saver, app, config, pending, streamed } = await walkThrough(kind, durable);
        const kept = everythingIn(saver);
        const stream = JSON.stringify(streamed);
        const shown = JSON.stringify([pending, await pendingApprovals(app as never, config)]);
        expect(kept.match(/aa:done/g)).not.toBeNull();
        for (const [where, text] of Object.entries({ kept, stream, shown })) {
          expect([where, holds(text, String(ARGUMENT))]).toEqual([where, true]);
          for (const hidden of [PLAIN, APPROVED, FAILED, SECRET])
            expect([where, hidden, holds(text, hidden)]).toEqual([where, hidden, false]);
        }
      },
    );

    it("J3/task-rows: an answer lies as it was sent in LangGraph's own rows: who decided what can be read there", async () => {
      const { saver } = await walkThrough(kind, "pause");
      expect(holds(everythingIn(saver), REASON)).toBe(true);
    });
  },
);

it("J3/task-rows: what the scan looks for would be found in each of its forms", () => {
  for (const shift of [0, 1, 2, 3]) {
    const text = `${"x".repeat(shift)}${PLAIN} and more`;
    for (const encoding of ["utf8", "hex", "base64", "base64url"] as const) {
      expect(holds(Buffer.from(text).toString(encoding), PLAIN)).toBe(true);
    }
  }
});

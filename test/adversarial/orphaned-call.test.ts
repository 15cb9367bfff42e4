// A run that was stopped leaves a body behind that never ends: the runs after it must not wait for ever.
import { Command } from "@langchain/langgraph";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, isAgentAdapterError } from "agent-adapter";
import { ai, call, failure, one, Stand } from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

function signal(): { readonly given: Promise<void>; give(): void } {
  const events = new EventTarget();
  const given = new Promise<void>((resolve) => {
    events.addEventListener("given", () => resolve(), { once: true });
  });
  return { given, give: () => void events.dispatchEvent(new Event("given")) };
}

it.each([true, false])(
  "E4, E11: the deadline of a tool counts again for whoever adopts a call that hangs (confirm: %s)",
  async (confirm) => {
    const ran: string[] = [];
    const started = signal();
    const finish = signal();
    const hangs = defineTool({
      name: "send",
      description: "ignores its signal",
      inputSchema: z.object({ n: z.number() }),
      confirm,
      timeoutMs: 60,
      execute: () => {
        ran.push("send");
        started.give();
        return finish.given.then(() => "late");
      },
    });
    const stand = new Stand({ tools: () => [hangs] });
    const stop = new AbortController();
    const input = { messages: [ai([call("c", 1)])] };
    const pending = confirm ? one((await stand.invoke(input)).interrupts) : undefined;
    const next = pending === undefined ? input : new Command({ resume: { [pending.id]: stand.sign(pending) } });
    const stopped = failure(stand.app.invoke(next, { ...stand.config, signal: stop.signal }));
    await started.given;
    stop.abort(new Error("stopped"));
    await stopped;

    expect(isAgentAdapterError(await failure(stand.again()), "ToolTimeout")).toBe(true);
    expect(ran).toEqual(["send"]);

    finish.give();
    const { tools } = await stand.again();
    expect(tools.map(({ content }) => content)).toEqual(["late"]);
    expect(ran).toEqual(["send"]);
  },
);

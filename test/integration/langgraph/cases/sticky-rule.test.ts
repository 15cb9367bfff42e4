// A rule that said yes is not asked again: not for a call that waits behind another one, and not in another process.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "agent-adapter";
import { forgetProcess } from "../../../support/process.js";
import { Stand } from "../../../support/langgraph.js";

describe("B18: a confirm predicate whose answer changes", () => {
  for (const restart of [false, true]) {
    it(`E8, B18: a call that waits behind another one keeps its gate${restart ? " in another process" : ""}`, async () => {
      const ran: string[] = [];
      const asked: string[] = [];
      // Says yes to whoever asks first, and no ever after.
      const confirm = ({ n }: { n: number }) => {
        const first = !asked.includes(String(n));
        asked.push(String(n));
        return first;
      };
      const tools = () => [
        defineTool({
          name: "pay",
          description: "a payment",
          inputSchema: z.object({ n: z.number() }),
          confirm,
          execute: ({ n }) => {
            ran.push(`pay ${n}`);
            return n;
          },
        }),
      ];
      let stand = new Stand({ tools });
      const first = await stand.start(
        { name: "pay", args: { n: 1 }, id: "c1" },
        { name: "pay", args: { n: 2 }, id: "c2" },
      );
      expect(first.interrupts.map((pending) => pending.value.request.callId)).toEqual(["c1"]);
      if (restart) {
        forgetProcess();
        stand = stand.rebuild();
      }
      const [pending] = first.interrupts;
      if (pending === undefined) throw new Error("nothing asked");
      const second = await stand.decide(pending);
      expect(second.interrupts.map((next) => next.value.request.callId)).toEqual(["c2"]);
      expect(ran).toEqual(["pay 1"]);
      expect(asked).toEqual(["1", "2"]);
    });
  }
});

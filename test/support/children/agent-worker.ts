// One turn of an agent in a process of its own: starts the thread, or answers one call of it, on a SQLite checkpointer. Bodies
// are counted in a file outside of all processes.
import { appendFileSync } from "node:fs";
import { AIMessage } from "@langchain/core/messages";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { approve, deny } from "agent-adapter";
import { resume } from "agent-adapter/langgraph";
import { AgentStand, says } from "../agents.js";
import { asking, call, counted, turnOf } from "../langgraph.js";

export interface AgentTurn {
  readonly database: string;
  readonly effects: string;
  /** Answer this call; without one the thread is started. */
  readonly callId?: string;
  readonly how?: "approve" | "deny" | "edit" | "yes";
  /** What the model says from now on. */
  readonly says?: string;
}

const turn = JSON.parse(process.argv[2] ?? "{}") as AgentTurn;
const count = (name: string) => (args: { n: number }) => {
  appendFileSync(turn.effects, `${name} ${args.n} ${process.pid}\n`);
  return `${name} ${args.n}`;
};
const stand = new AgentStand({
  tools: () => [
    asking([], "pay", { body: count("pay") }),
    asking([], "send", { body: count("send") }),
    counted([], "rate", { effects: "read", body: count("rate") }),
  ],
  script:
    turn.callId === undefined
      ? [says(call("c1", 1, "pay"), call("c2", 2, "send"), call("c3", 3, "rate"))]
      : [new AIMessage(turn.says ?? "Done.")],
  saver: SqliteSaver.fromConnString(turn.database),
  thread: "t",
});

async function play() {
  if (turn.callId === undefined) return stand.start();
  const pending = (await stand.pending()).find(({ request }) => request.callId === turn.callId);
  if (pending === undefined) throw new Error(`${turn.callId} does not wait`);
  if (turn.how === "yes") return stand.resume({ [pending.id]: "yes" });
  const decision = { approve: approve(), deny: deny({ reason: "no" }), edit: approve({ editedArgs: { n: 20 } }) }[
    turn.how ?? "approve"
  ];
  return turnOf(await resume(stand.agent, { [pending.id]: decision }, stand.config));
}

const done = await play();
process.send?.({
  pid: process.pid,
  waiting: done.interrupts.map(({ value }) => value.request.callId).toSorted(),
  tools: done.tools.map(({ tool_call_id, status, content }) => [tool_call_id, status, content]),
  last: done.messages.at(-1)?.text,
});
process.disconnect();

// What the backend of a reviewer's screen does: list what waits, sign, check, send, and cope with whoever was first.
// Checks itself.

import { Command } from "@langchain/langgraph";
import { approve, deny, Executor, isAgentAdapterError, toReviewRequest } from "agent-adapter";
import { isInvalidAnswer, LangGraphApproval, resume, toolNode, type OneAnswer } from "agent-adapter/langgraph";
import { ManualClock } from "agent-adapter/testing";
import { executor as shopExecutor } from "./support/after.js";
import { finish, heading, tried } from "./support/page.js";
import { buildShop, ran, scriptFor, type Shop } from "./support/shop.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = new ManualClock(Date.now());

// region: rotation
const oldKey = "the key of last year, 16 bytes+";
const newKey = "the key of this year, 16 bytes+";
const port = new LangGraphApproval({ key: [newKey, oldKey] }); // the first signs, every one is accepted
// endregion

const { registry } = shopExecutor;
const executor = new Executor(registry, { approval: port, clock });

type ThreadConfig = { readonly configurable: { readonly thread_id: string } };

// region: waiting
/** What waits on a thread. `binding` is the key of the row: an interrupt id may carry another request later. */
async function waiting(app: Shop, config: ThreadConfig) {
  const { tasks } = await app.getState(config);
  return tasks
    .flatMap((task) => task.interrupts)
    .map((interrupt) => {
      const { binding, request } = toReviewRequest(interrupt); // show `request`, all of it, and nothing else
      return { id: interrupt.id ?? "", interrupt, binding, request };
    });
}
// endregion
type Waiting = Awaited<ReturnType<typeof waiting>>[number];

// region: send
async function send(app: Shop, config: ThreadConfig, row: Waiting, answer: OneAnswer): Promise<string> {
  const check = port.check(row.interrupt, answer);
  if (check !== "ok") return `not sent: ${check}`;
  try {
    await resume(app, { [row.binding]: answer }, config); // no other request: a bare invoke cannot refuse a finished thread
    return "taken";
  } catch (error) {
    if (isInvalidAnswer(error)) return "refused: the request still stands, sign again";
    if (isAgentAdapterError(error, "ApprovalAlreadyDecided")) return "somebody was first: reload what waits";
    throw error;
  }
}
// endregion

async function pausedThread(threadId: string) {
  const app = buildShop(toolNode(registry, { executor }), scriptFor("2026-09"));
  const config = { configurable: { thread_id: threadId } };
  await app.invoke({ messages: [{ role: "user", content: "Send the statement." }] }, config);
  const [row] = await waiting(app, config);
  if (row === undefined) throw new Error("nothing waits");
  return { app, config, row };
}

async function approveAndDenyRace(): Promise<void> {
  heading("Two reviewers at once");
  const { app, config, row } = await pausedThread("desk-1");
  const answers = [approve({ by: "ana" }), deny({ by: "ben" })].map((it) => port.resumeValue(row.interrupt, it));
  const outcomes = await Promise.all(answers.map((answer) => send(app, config, row, answer)));
  tried("ana approves, ben denies", outcomes.toSorted().join("; "), "somebody was first: reload what waits; taken");
  tried("left on the desk", String((await waiting(app, config)).length), "0");
}

async function denyTooLate(): Promise<void> {
  heading("A reviewer whose screen is old");
  const { app, config, row } = await pausedThread("desk-late");
  const before = ran.length;
  const yes = port.resumeValue(row.interrupt, approve({ by: "ana" }));
  tried("ana approves", await send(app, config, row, yes), "taken");
  const no = port.resumeValue(row.interrupt, deny({ by: "ben" })); // his row shows the request that is over
  tried("ben denies, too late", await send(app, config, row, no), "somebody was first: reload what waits");
  tried("run for ana", ran.slice(before).join(), "send_statement 2026-09");
}

async function editInAnotherProcess(): Promise<void> {
  heading("A reviewer's process that knows the key and no tools");
  const { app, config, row } = await pausedThread("desk-2");
  // region: elsewhere
  const desk = new LangGraphApproval({ key: newKey }); // no executor, no registry
  const edited = desk.resumeValue(row.interrupt, approve({ editedArgs: { period: "not a period" }, by: "ana" }));
  // endregion
  tried("an edit that does not fit", await send(app, config, row, edited), "not sent: malformed");
}

async function answersAndTime(): Promise<void> {
  heading("Old keys and old answers");
  const { app, config, row } = await pausedThread("desk-3");
  const lastYear = new LangGraphApproval({ key: oldKey }).resumeValue(row.interrupt, approve());
  tried("signed with last year's key", port.check(row.interrupt, lastYear), "ok");
  const stranger = new LangGraphApproval({ key: "a key that nobody here knows" }).resumeValue(row.interrupt, approve());
  tried("signed with an unknown key", port.check(row.interrupt, stranger), "signature");

  const late = port.resumeValue(row.interrupt, approve({ by: "ana" }));
  clock.advance(DAY_MS + 1);
  tried("a day later", await send(app, config, row, late), "not sent: expired");
  const before = ran.length;
  await app.invoke(new Command({ resume: { [row.id]: late } }), config); // sent all the same
  const [again] = await waiting(app, config);
  tried("sent all the same", again?.request.supersedes === row.binding ? "asked again" : "not asked", "asked again");
  tried("what ran", String(ran.length - before), "0");
  if (again === undefined) return;
  const fresh = port.resumeValue(again.interrupt, approve({ by: "ana" }));
  tried("a new answer", await send(app, config, again, fresh), "taken");
  tried("what ran", String(ran.length - before), "1");
}

await approveAndDenyRace();
await denyTooLate();
await editInAnotherProcess();
await answersAndTime();
finish();

// The tutorial (docs/tutorial.md), every stage tried for real: `npm run demo`. With `-- --ask` you are the reviewer.
// Offline: a scripted model of LangChain on a real StateGraph with a real checkpointer.

import { approve, deny, toReviewRequest, type ApprovalDecision } from "agent-adapter";
import { LangGraphApproval } from "agent-adapter/langgraph";
import { executor, port, tools } from "./support/after.js";
import { askAPerson } from "./support/ask-a-person.js";
import { unsafeTools } from "./support/before.js";
import { Conversation, refusalOf, type Pause } from "./support/conversation.js";
import { buildOwnNode } from "./support/own-node.js";
import { finish, heading, line, tried } from "./support/page.js";
import { buildShop, ran, scriptFor } from "./support/shop.js";
import { compiledFlow } from "./support/statement-flow.js";
import { showLedger, showReviewed } from "./support/views.js";

const QUESTION = "What does shipping a laptop to the EU cost? And send the statement.";

async function rawInterrupts(): Promise<void> {
  heading("BEFORE: interrupt() inside a tool, in LangGraph's own ToolNode");
  const thread = new Conversation(buildShop(unsafeTools, scriptFor("2026-09")), "before-1");
  const pause = await thread.start(QUESTION);
  const paused = await thread.here();
  line("the reviewer is shown", JSON.stringify(pause.value));
  const both = "ran shipping_rate laptop and send_statement 2026-09";
  tried('anybody says "yes"', await thread.resume({ [pause.id]: "yes" }), both);
  tried('"yes" to the old checkpoint', await thread.resume({ [pause.id]: "yes" }, paused), both);
  tried("for one approval", counts(), "send_statement ran 2 times, shipping_rate 3 times");
  const raced = new Conversation(buildShop(unsafeTools, scriptFor("2026-10")), "before-2");
  const { id } = await raced.start(QUESTION);
  tried("ten callers at once", await raced.race({ [id]: "yes" }, 10), "10 went on; send_statement runs: 10");
}

async function oneApproval(): Promise<void> {
  heading("AFTER: the same graph with toolNode; the model asks");
  const thread = new Conversation(buildShop(tools, scriptFor("2026-09")), "shop-1");
  const before = ran.length;
  const pause = await thread.start(QUESTION);
  const paused = await thread.here();
  line("the model asked for", ...(await thread.messages()).asked);
  tried("ran", ran.slice(before).join(", "), "shipping_rate laptop");
  tried("waits for a human", toReviewRequest(pause).request.tool, "send_statement");

  heading("What the reviewer is shown");
  showReviewed(pause);

  heading("What is refused");
  // region: refused
  const answer = port.resumeValue(pause, approve({ by: "ana" }));
  const say = (value: unknown) => thread.resume({ [pause.id]: value });
  const invalid = "refused: invalid answer, nothing ran";
  tried('a bare "yes"', await say("yes"), invalid);
  tried("a bare decision", await say({ approved: true }), invalid);
  const forged = { ...answer, decision: { approved: true, editedArgs: { period: "2020-01" } } };
  tried("ana's answer, edit forged", await say(forged), invalid);
  const stranger = new LangGraphApproval({ key: "some other key, 16 bytes or more" });
  tried("signed with another key", await say(stranger.resumeValue(pause, approve({ by: "ana" }))), invalid);
  const swapped = swapArguments(pause, { period: "2020-01" });
  tried("signing a changed request", sign(swapped, approve()), "refused: ToolUsageError, nothing signed");
  // endregion

  heading("The signed answer, and the same answer again");
  const usedUp = "refused: ApprovalAlreadyDecided, nothing ran";
  tried("ana approves", await say(answer), "ran send_statement 2026-09");
  tried("again, to the old checkpoint", await thread.resume({ [pause.id]: answer }, paused), usedUp);
  tried("again, to the finished thread", await say(answer), "nothing ran");
  tried(
    "ten callers at once",
    await tenAtOnce(),
    "1 went on, 9 refused: ApprovalAlreadyDecided; send_statement runs: 1",
  );
}

async function tenAtOnce(): Promise<string> {
  const thread = new Conversation(buildShop(tools, scriptFor("2026-10")), "shop-2");
  const pause = await thread.start(QUESTION);
  return thread.race({ [pause.id]: port.resumeValue(pause, approve({ by: "ana" })) }, 10);
}

async function editedApproval(): Promise<void> {
  heading("An edited approval");
  const thread = new Conversation(buildShop(tools, scriptFor("2026-11")), "shop-3");
  const pause = await thread.start(QUESTION);
  line("the model asked for", ...(await thread.messages()).asked.slice(1));
  const wrong = approve({ editedArgs: { period: "last month" } });
  tried("an edit that does not fit", sign(pause, wrong), "refused: ToolArgsInvalid, nothing signed");
  // region: edited
  const answer = port.resumeValue(pause, approve({ editedArgs: { period: "2026-12" }, by: "ana" }));
  // endregion
  tried("ana approves 2026-12", await thread.resume({ [pause.id]: answer }), "ran send_statement 2026-12");
  const [note = "", result = ""] = (await thread.messages()).told;
  tried("the model reads", note, '[A reviewer changed the arguments of this call to {"period":"2026-12"}]');
  tried("", result, "sent 2026-12");
}

async function denial(): Promise<void> {
  heading("A denial");
  const thread = new Conversation(buildShop(tools, scriptFor("2027-01")), "shop-4");
  const pause = await thread.start(QUESTION);
  // region: denied
  const answer = port.resumeValue(pause, deny({ reason: "not this month", by: "ben" }));
  // endregion
  tried("ben denies", await thread.resume({ [pause.id]: answer }), "nothing ran");
  const error = { kind: "ApprovalDenied", message: "a reviewer denied this call: not this month" };
  tried("the model reads", (await thread.messages()).told.join("\n"), JSON.stringify({ error }));
}

async function ownNode(): Promise<void> {
  heading("Your own node: oneUse");
  const thread = new Conversation(buildOwnNode("2027-02"), "shop-5");
  const before = ran.length;
  const pause = await thread.start("Send it.");
  tried("the node's first call ran", ran.slice(before).join(", "), "shipping_rate laptop");
  tried("its second one waits", toReviewRequest(pause).request.tool, "send_statement");
  tried("anybody says yes there", await thread.resume({ [pause.id]: "yes" }), "refused: invalid answer, nothing ran");
  const answer = port.resumeValue(pause, approve({ by: "ana" }));
  // LangGraph runs the node again from its start; the first call gives its result again.
  tried("ana approves in the node", await thread.resume({ [pause.id]: answer }), "ran send_statement 2027-02");
  tried("again", await thread.resume({ [pause.id]: answer }), "nothing ran");
}

function counts(): string {
  const count = (tool: string) => ran.filter((what) => what.startsWith(tool)).length;
  return `send_statement ran ${count("send_statement")} times, shipping_rate ${count("shipping_rate")} times`;
}

function sign(pause: Pause, decision: ApprovalDecision): string {
  try {
    port.resumeValue(pause, decision);
    return "signed";
  } catch (error) {
    return `${refusalOf(error)}, nothing signed`;
  }
}

/** What somebody who can write to the checkpointer could put before the reviewer's eyes. */
function swapArguments(pause: Pause, args: Readonly<Record<string, string>>): Pause {
  const value: unknown = structuredClone(pause.value);
  if (typeof value !== "object" || value === null || !("request" in value)) throw new Error("not an approval pause");
  return { id: pause.id, value: { ...value, request: Object.assign({}, value.request, { arguments: args }) } };
}

async function main(): Promise<void> {
  if (process.argv.includes("--ask")) return askAPerson(QUESTION);
  console.log("A tool that matters runs exactly when a human approved exactly that call, once. Tried now, offline.");
  await rawInterrupts();
  await oneApproval();
  await editedApproval();
  await denial();
  await ownNode();
  await compiledFlow();
  const entries = await showLedger(executor.ledger);
  tried("entries for 10 calls, 22 resumes", String(entries), "10");
  finish();
}

await main();

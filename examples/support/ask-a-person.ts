// `npm run demo -- --ask`: whoever sits at the terminal is the reviewer.

import { createInterface } from "node:readline";
import { approve, deny, type Answer, type ApprovalDecision } from "agent-adapter";
import { executor, port, tools } from "./after.js";
import { Conversation, refusalOf, type Pause } from "./conversation.js";
import { heading, line } from "./page.js";
import { buildShop, scriptFor } from "./shop.js";
import { showLedger, showReviewed } from "./views.js";

/** One line of the person's; `undefined` when there are no more. */
type Ask = (question: string) => Promise<string | undefined>;

export async function askAPerson(question: string): Promise<void> {
  const thread = new Conversation(buildShop(tools, scriptFor("2026-09")), "shop-1");
  const pause = await thread.start(question);
  heading("The model asked for");
  for (const call of (await thread.messages()).asked) line("", call);
  heading("shipping_rate ran; send_statement waits for you");
  showReviewed(pause);
  const input = createInterface({ input: process.stdin });
  const lines = input[Symbol.asyncIterator]();
  const answer = await answerOf(pause, async (text) => {
    process.stdout.write(`\n${text} `);
    const { done, value } = await lines.next();
    return done === true ? undefined : value.trim();
  });
  input.close();
  if (answer === undefined) return console.log("\nNobody decided: the request stays open, and nothing ran.");

  heading("What came of it");
  line("with your answer", await thread.resume({ [pause.id]: answer }));
  line("the model reads", ...(await thread.messages()).told);
  await showLedger(executor.ledger);
}

/** Ask until there is a decision that can be signed. */
async function answerOf(pause: Pause, ask: Ask): Promise<Answer | undefined> {
  for (;;) {
    const choice = await ask("Approve, edit or deny? [a/e/d]");
    if (choice === undefined) return undefined;
    const decision = await decisionOf(choice.toLowerCase().slice(0, 1), ask);
    const answer = decision && signed(pause, decision);
    if (answer !== undefined) return answer;
  }
}

async function decisionOf(choice: string, ask: Ask): Promise<ApprovalDecision | undefined> {
  const by = "you";
  if (choice === "a") return approve({ by });
  if (choice === "d") return deny({ by, reason: (await ask("Why? The model reads this.")) ?? "" });
  if (choice === "e")
    return approve({ by, editedArgs: { period: (await ask("Which period instead, like 2026-12?")) ?? "" } });
  return undefined;
}

function signed(pause: Pause, decision: ApprovalDecision): Answer | undefined {
  try {
    return port.resumeValue(pause, decision);
  } catch (error) {
    console.log(`\n  ${refusalOf(error)}: ${error instanceof Error ? error.message : "no reason"}`);
    return undefined;
  }
}

// Shortens a conversation for the model. Changes nothing of what it is given.
//   C1  every call that is sent is followed at once by all its results, and every result that is sent follows its call
//   C2  one system message, first; what is never dropped is what policy.ts lists
//   C3  without a summary the same conversation gives the same messages, whatever was compressed before
//   C4  what must be kept is kept even where it exceeds the limit: a list that the provider refuses helps nobody

import { History } from "./history.js";
import type { MediaPart, NeutralMessage, NeutralSystemMessage, TextPart } from "./message.js";
import type { CompressionPolicy, CompressionSettings } from "./policy.js";
import { headOf, shortenResults } from "./shorten.js";
import { isWithin, plus, sizeOf, type Size } from "./size.js";
import { messagesOf, unitsOf, type Unit } from "./units.js";

/** What the model is sent, and what of the conversation it is not. */
export interface CompressedHistory {
  /** A new list; messages that were not cut are the ones that were given. */
  readonly messages: NeutralMessage[];
  /** What was left out, in order and whole. */
  readonly dropped: NeutralMessage[];
  /** False when what must be kept exceeds the limit by itself. */
  readonly fits: boolean;
}

const SUMMARY_TITLE = "Summary of the earlier conversation:\n";

/**
 * The conversation as the policy allows it: older tool results cut, then the oldest exchanges dropped until it fits. What is
 * sent starts with the system messages (as one), then a summary if there is one, then a message of a human where one is left.
 * Results that nobody called are left out. The input stays as it is.
 *
 * @throws what `countTokens` and `summarize` throw
 * @example const { messages } = await compress(history, new CompressionPolicy({ maxMessages: 40 }));
 */
export async function compress(
  messages: readonly NeutralMessage[],
  policy: CompressionPolicy,
): Promise<CompressedHistory> {
  const { settings } = policy;
  const whole = withOneSystem(unitsOf(messages));
  const units = settings.toolResults === undefined ? whole : shortenResults(whole, settings.toolResults);
  const history = new History({ whole, units, settings });
  const start = history.cut();
  const isKept = (at: number) => at >= start || history.mustKeep(at);
  const kept = units.filter((_, at) => isKept(at));
  const dropped = whole.filter((_, at) => !isKept(at)).flatMap(messagesOf);
  const size = history.sizeFrom(start);
  const summary = dropped.length === 0 ? undefined : await summaryOf(dropped, { settings, size });
  const sent = kept.flatMap(messagesOf);
  if (summary !== undefined) sent.splice(sent[0]?.role === "system" ? 1 : 0, 0, summary);
  return { messages: sent, dropped, fits: isWithin(size, settings) };
}

function withOneSystem(units: readonly Unit[]): Unit[] {
  const system = merged(units.flatMap((unit) => (unit.kind === "system" ? unit.head : [])));
  const others = units.filter(({ kind }) => kind !== "system");
  return system === undefined ? others : [{ kind: "system", head: system, at: 0 }, ...others];
}

/** One message, since providers take one and want it first. */
function merged(systems: readonly NeutralSystemMessage[]): NeutralSystemMessage | undefined {
  const [first, ...more] = systems;
  if (first === undefined || more.length === 0) return first;
  const texts = systems.flatMap(({ content }) => (typeof content === "string" ? content : []));
  if (texts.length === systems.length) return { role: "system", content: texts.join("\n\n") };
  // Some providers join blocks without anything between them; blocks themselves stay as they are, they may carry marks.
  const parts = systems.flatMap(({ content }, index): readonly (TextPart | MediaPart)[] =>
    typeof content === "string" ? [{ kind: "text", text: `${index === 0 ? "" : "\n\n"}${content}\n\n` }] : content,
  );
  return { role: "system", content: parts };
}

/**
 * The summary as a message of a human, because what it tells comes from users and tools and must not speak with the voice of
 * the system. Cut to what fits; nothing when nothing does.
 */
async function summaryOf(
  dropped: readonly NeutralMessage[],
  { settings, size }: { settings: CompressionSettings; size: Size },
): Promise<NeutralMessage | undefined> {
  const fits = (text: string) => isWithin(plus(size, sizeOf([summaryMessage(text)], settings)), settings);
  if (settings.summaries === undefined || !fits("")) return undefined;
  let text = await settings.summaries.of(dropped);
  while (text !== "" && !fits(text)) text = headOf(text, Math.floor(text.length / 2));
  return text === "" ? undefined : summaryMessage(text);
}

function summaryMessage(text: string): NeutralMessage {
  return { role: "human", content: SUMMARY_TITLE + text };
}

// What must stay together. A unit is one message, or an assistant message with the results of its calls: kept or dropped whole.
//   U1  a result belongs to the newest earlier message that called its id, so that an id of another turn is another call
//   U2  results stand directly behind their message, whatever stood between them
//   U3  a result that nobody called is in no unit; of several results of one call the newest counts

import type {
  NeutralAssistantMessage,
  NeutralCall,
  NeutralHumanMessage,
  NeutralMessage,
  NeutralResultMessage,
  NeutralSystemMessage,
} from "./message.js";

interface Placed<Kind extends string, Head extends NeutralMessage> {
  readonly kind: Kind;
  readonly head: Head;
  /** Where the head stands in the conversation. */
  readonly at: number;
}

/** An assistant message and what came of its calls. */
export interface Exchange extends Placed<"exchange", NeutralAssistantMessage> {
  readonly results: readonly NeutralResultMessage[];
  /** Calls without a result. */
  readonly open: readonly NeutralCall[];
}

export type Unit = Placed<"system", NeutralSystemMessage> | Placed<"human", NeutralHumanMessage> | Exchange;

/** The units of a conversation, in order of their first messages. */
export function unitsOf(messages: readonly NeutralMessage[]): Unit[] {
  const answers = answersOf(messages);
  return messages.flatMap((head, at): Unit[] => {
    switch (head.role) {
      case "system":
        return [{ kind: "system", head, at }];
      case "human":
        return [{ kind: "human", head, at }];
      case "assistant":
        return [{ kind: "exchange", head, at, ...matched(head, answers.get(at) ?? []) }];
      case "tool":
        return [];
    }
  });
}

export function messagesOf(unit: Unit): readonly NeutralMessage[] {
  return unit.kind === "exchange" ? [unit.head, ...unit.results] : [unit.head];
}

/** The results of each assistant message, by its place (U1). */
function answersOf(messages: readonly NeutralMessage[]): ReadonlyMap<number, readonly NeutralResultMessage[]> {
  const answers = new Map<number, NeutralResultMessage[]>();
  const callers = new Map<string, number>();
  messages.forEach((message, at) => {
    if (message.role === "assistant") {
      answers.set(at, []);
      for (const call of message.calls) callers.set(call.id, at);
    } else if (message.role === "tool") {
      const caller = callers.get(message.callId);
      if (caller !== undefined) answers.get(caller)?.push(message);
    }
  });
  return answers;
}

function matched(head: NeutralAssistantMessage, found: readonly NeutralResultMessage[]) {
  // How many calls of each id still lack a result; a broken model may use an id twice.
  const lacking = new Map<string, number>();
  for (const { id } of head.calls) lacking.set(id, (lacking.get(id) ?? 0) + 1);
  const takes = (id: string) => {
    const left = lacking.get(id) ?? 0;
    if (left > 0) lacking.set(id, left - 1);
    return left > 0;
  };
  // From the end: the newest count (U3).
  const results = found.toReversed().filter(({ callId }) => takes(callId));
  const open = head.calls.toReversed().filter(({ id }) => takes(id));
  return { results: results.toReversed(), open: open.toReversed() };
}

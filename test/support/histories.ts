// Random conversations for the compression tests, and what must hold of every list that a model is sent.
import * as fc from "fast-check";
import type { NeutralAssistantMessage, NeutralContent, NeutralMessage } from "agent-adapter";

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("word ".repeat(200), "\u{1F600}".repeat(300), "日本語".repeat(100)),
);
const image = fc.constant({
  kind: "media" as const,
  type: "image",
  source: { type: "image", data: "AAAA".repeat(50) },
});
const content: fc.Arbitrary<NeutralContent> = fc.oneof(
  { weight: 4, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        text.map((each) => ({ kind: "text" as const, text: each })),
        image,
      ),
      { maxLength: 3 },
    ),
  },
);

/** Few ids, so that turns share them. */
const callId = fc.constantFrom("a", "b", "c", "d");
const calls = fc.uniqueArray(callId, { minLength: 1, maxLength: 3 });
const system = content.map((each): NeutralMessage => ({ role: "system", content: each }));
const human = content.map((each): NeutralMessage => ({ role: "human", content: each }));
const result = (id: string) =>
  fc.record({
    role: fc.constant("tool" as const),
    callId: fc.constant(id),
    name: fc.constant("look_up"),
    status: fc.constantFrom("success" as const, "error" as const),
    content,
  });
const assistant = (ids: readonly string[]) =>
  content.map((each): NeutralAssistantMessage => ({
    role: "assistant",
    content: each,
    calls: ids.map((id) => ({ id, name: "look_up", args: { id } })),
  }));

/** A batch with its results in any order, some of them missing, twice or with a system message between them. */
const exchange = calls.chain((ids) =>
  fc
    .tuple(
      assistant(ids),
      fc
        .shuffledSubarray([...ids, ...ids.slice(0, 1)], { minLength: 0 })
        .chain((answered) => fc.tuple(...answered.map(result))),
      fc.option(system, { nil: undefined, freq: 4 }),
    )
    .map(([head, results, between]): NeutralMessage[] => [
      head,
      ...results.slice(0, 1),
      ...(between === undefined ? [] : [between]),
      ...results.slice(1),
    ]),
);

/** Any conversation: orderly ones, and ones that no provider would take. */
export const histories = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: human.map((each) => [each]) },
      { weight: 4, arbitrary: exchange },
      { weight: 2, arbitrary: assistant([]).map((each): NeutralMessage[] => [each]) },
      { weight: 1, arbitrary: system.map((each) => [each]) },
      { weight: 1, arbitrary: callId.chain(result).map((each): NeutralMessage[] => [each]) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.flat());

/** Calls without a result that follows them, written as `<place of the message>/<id>`, independent of the code under test. */
export function openCalls(messages: readonly NeutralMessage[]): string[] {
  const open: { at: number; id: string }[] = [];
  messages.forEach((message, at) => {
    if (message.role === "assistant") open.push(...message.calls.map(({ id }) => ({ at, id })));
    if (message.role !== "tool") return;
    // A result belongs to the newest message that called it; one more for the same call changes nothing.
    const newest = messages.slice(0, at).findLastIndex((each) => callsOf(each).includes(message.callId));
    const found = open.findIndex((each) => each.at === newest && each.id === message.callId);
    if (found !== -1) open.splice(found, 1);
  });
  return open.map(({ at, id }) => `${at}/${id}`);
}

function callsOf(message: NeutralMessage): string[] {
  return message.role === "assistant" ? message.calls.map(({ id }) => id) : [];
}

/** Why a provider would refuse the list; calls of the messages in `mayBeOpen` may lack results. */
export function faultsOf(
  sent: readonly NeutralMessage[],
  mayBeOpen: (message: NeutralMessage, id: string) => boolean,
): string[] {
  const faults: string[] = [];
  let at = 0;
  while (at < sent.length) {
    const message = sent[at];
    at += 1;
    if (message === undefined) break;
    if (message.role === "system" && at > 1) faults.push(`a system message at ${at - 1}`);
    if (message.role === "tool") faults.push(`a result of ${message.callId} that follows no call`);
    if (message.role !== "assistant") continue;
    const wanted = callsOf(message);
    for (let next = sent[at]; next?.role === "tool" && wanted.includes(next.callId); next = sent[at]) {
      wanted.splice(wanted.indexOf(next.callId), 1);
      at += 1;
    }
    faults.push(...wanted.filter((id) => !mayBeOpen(message, id)).map((id) => `no result of ${id}`));
  }
  return faults;
}

// Properties proved, over random conversations and every limit that can matter: what the model is sent is never refused for how
// it is put together, nothing that must stay is missing, and what was given is as it was.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  closeOpenCalls,
  compress,
  CompressionPolicy,
  estimateTokens,
  type CompressionOptions,
  type NeutralMessage,
} from "agent-adapter";
import { faultsOf, histories, openCalls } from "../../support/histories.js";

const RUNS = { numRuns: 150 };

const rules = fc.option(fc.record({ maxChars: fc.nat({ max: 60 }), keepLast: fc.nat({ max: 4 }) }), { nil: undefined });
const rest = fc.record({ keepLast: fc.nat({ max: 5 }), keepSystem: fc.boolean() });

/** Every limit from 1 to one that everything fits in. */
function limitsFor(history: readonly NeutralMessage[]): CompressionOptions[] {
  const tokens = history.reduce((sum, message) => sum + estimateTokens(message), 0);
  const steps = Math.max(1, Math.floor(tokens / 12));
  return [
    ...Array.from({ length: history.length + 2 }, (_, n) => ({ maxMessages: n + 1 })),
    ...Array.from({ length: 14 }, (_, n) => ({ maxTokens: 1 + n * steps })),
  ];
}

async function forAll(
  check: (history: readonly NeutralMessage[], options: CompressionOptions) => Promise<void>,
  more: Partial<CompressionOptions> = {},
): Promise<void> {
  const property = fc.asyncProperty(histories, rules, rest, async (history, toolResults, others) => {
    for (const limit of limitsFor(history)) {
      await check(history, { ...limit, ...others, ...(toolResults === undefined ? {} : { toolResults }), ...more });
    }
  });
  await fc.assert(property, RUNS);
}

/** Calls that have no result in the conversation may have none in what is sent. */
function isOpenIn(history: readonly NeutralMessage[]) {
  const open = new Set(openCalls(history));
  return (message: NeutralMessage, id: string) => open.has(`${history.indexOf(message)}/${id}`);
}

describe("whatever the conversation and the limit", () => {
  test("K1, B53: no call is sent without all its results, and no result without its call", async () => {
    await forAll(async (history, options) => {
      const { messages } = await compress(history, new CompressionPolicy(options));
      expect(faultsOf(messages, isOpenIn(history))).toEqual([]);
    });
  });

  test("K1, B53: the same with a summary, of any length", async () => {
    const summarize = (dropped: readonly NeutralMessage[]) => "so far ".repeat(dropped.length * 10);
    await forAll(
      async (history, options) => {
        const { messages, fits } = await compress(history, new CompressionPolicy(options));
        expect(faultsOf(messages, isOpenIn(history))).toEqual([]);
        expect(isWithin(messages, options)).toBe(fits);
      },
      { summarize },
    );
  });

  test("K1, B53: the last message of a human, open calls and the newest messages are always sent, whole and in order", async () => {
    await forAll(async (history, options) => {
      const { messages } = await compress(history, new CompressionPolicy(options));
      const must = history.filter((message, at) => {
        if (message.role === "human") return !history.slice(at + 1).some(({ role }) => role === "human");
        return message.role === "assistant" && openCalls(history).some((open) => open.startsWith(`${at}/`));
      });
      const newest = history.findLast(({ role }) => role === "human" || role === "assistant");
      const expected = newest === undefined || (options.keepLast ?? 1) === 0 ? must : [...must, newest];
      expect(messages).toEqual(expect.arrayContaining(expected));
      const places = messages
        .map((message) => history.indexOf(message))
        .filter((at, index) => at >= 0 && messages[index]?.role !== "tool" && messages[index]?.role !== "system");
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    });
  });

  test("K1: what every system message says comes first, in one message", async () => {
    await forAll(
      async (history, options) => {
        const { messages } = await compress(history, new CompressionPolicy(options));
        const said = history.flatMap((message) => (message.role === "system" ? textsOf(message) : []));
        const heads = messages.filter(({ role }) => role === "system");
        expect(heads.length).toBe(history.some(({ role }) => role === "system") ? 1 : 0);
        const all = heads.flatMap(textsOf).join("");
        for (const each of said) expect(all).toContain(each);
      },
      { keepSystem: true },
    );
  });

  test("K1: what is sent is within the limit, or consists only of what must be kept", async () => {
    await forAll(async (history, options) => {
      const { messages, dropped, fits } = await compress(history, new CompressionPolicy(options));
      expect(isWithin(messages, options)).toBe(fits);
      if (fits) return;
      const none = await compress(history, new CompressionPolicy({ ...options, maxMessages: 1, maxTokens: 1 }));
      expect(messages).toEqual(none.messages);
      expect(dropped).toEqual(none.dropped);
    });
  });

  test("K1: nothing more is dropped than the limit asks for, but answers whose question went", async () => {
    await forAll(async (history, options) => {
      const { messages, dropped } = await compress(history, new CompressionPolicy(options));
      const last = dropped.findLast(({ role }) => role === "human");
      if (last === undefined || dropped.at(-1) !== last) return;
      // The newest dropped is a question: with it back, and nothing else, the list would be too long.
      expect(isWithin([...messages, last], options)).toBe(false);
    });
  });

  test("K1: the first message behind system messages is a human's, unless an open call or the newest must come before it", async () => {
    await forAll(
      async (history, options) => {
        const { messages, dropped } = await compress(history, new CompressionPolicy(options));
        const first = messages.find(({ role }) => role !== "system");
        if (dropped.length === 0 || first === undefined || !messages.some(({ role }) => role === "human")) return;
        const isOpen = openCalls(history).some((open) => open.startsWith(`${history.indexOf(first)}/`));
        expect(first.role === "human" || isOpen).toBe(true);
      },
      { keepLast: 0 },
    );
  });

  test("K1: the same conversation gives the same messages, whatever was compressed before, and stays as it was", async () => {
    await forAll(async (history, options) => {
      const [before, members] = [structuredClone(history), [...history]];
      deepFreeze(history);
      const policy = new CompressionPolicy(options);
      const first = await compress(history, policy);
      await compress(history.slice(0, -1), policy);
      expect(await compress(structuredClone(history), policy)).toEqual(first);
      expect(history).toEqual(before);
      expect(history.every((message, at) => message === members[at])).toBe(true);
    });
  });

  test("K1: only results are cut: every other message that is sent is the one that was given", async () => {
    await forAll(async (history, options) => {
      const { messages } = await compress(history, new CompressionPolicy(options));
      for (const message of messages.filter(({ role }) => role !== "tool" && role !== "system")) {
        expect(history).toContain(message);
      }
    });
  });

  test("K1, B38: closed calls are answered `outcome unknown`, as errors, and nothing is taken away", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const closed = closeOpenCalls(history);
        expect(closed.filter((message) => history.includes(message))).toEqual(history);
        const added = closed.filter((message) => !history.includes(message));
        for (const message of added) {
          expect(message).toMatchObject({ role: "tool", status: "error" });
          expect(message.content).toContain("outcome unknown");
        }
        const lastHuman = closed.findLastIndex(({ role }) => role === "human");
        expect(openCalls(closed).filter((open) => Number.parseInt(open, 10) < lastHuman)).toEqual([]);
        const were = openCalls(history).filter(
          (open) => Number.parseInt(open, 10) < history.findLastIndex(({ role }) => role === "human"),
        );
        expect(added.length).toBe(were.length);
        expect(closeOpenCalls(closed)).toEqual(closed);
      }),
      { numRuns: 1000 },
    );
  });
});

function isWithin(messages: readonly NeutralMessage[], { maxMessages, maxTokens }: CompressionOptions): boolean {
  const tokens = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
  return messages.length <= (maxMessages ?? Infinity) && tokens <= (maxTokens ?? Infinity);
}

function textsOf({ content }: NeutralMessage): string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => (part.kind === "text" ? part.text : []));
}

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
}

// Properties proved: how results are cut, what a summary stands for and when it is made, what is refused, how tokens are estimated.
import { describe, expect, test } from "vitest";
import {
  closeOpenCalls,
  compress,
  CompressionPolicy,
  estimateTokens,
  isAgentAdapterError,
  type CompressionOptions,
  type NeutralContent,
  type NeutralMessage,
} from "agent-adapter";

const human = (content: string): NeutralMessage => ({ role: "human", content });
const says = (content: string): NeutralMessage => ({ role: "assistant", content, calls: [] });
const system = (content: NeutralContent): NeutralMessage => ({ role: "system", content });
const calls = (...ids: string[]): NeutralMessage => ({
  role: "assistant",
  content: "",
  calls: ids.map((id) => ({ id, name: "look_up", args: {} })),
});
const result = (callId: string, content: NeutralContent = callId): NeutralMessage => ({
  role: "tool",
  callId,
  name: "look_up",
  status: "success",
  content,
});
const sentOf = async (history: readonly NeutralMessage[], options: CompressionOptions) =>
  (await compress(history, new CompressionPolicy(options))).messages;
const text = (content: NeutralContent | undefined) => (typeof content === "string" ? content : JSON.stringify(content));
const contents = (messages: readonly NeutralMessage[]) => messages.map(({ content }) => content);

describe("results", () => {
  test("K1: the newest stay whole, older ones say how much is missing", async () => {
    const history = [human("q"), calls("a"), result("a", "x".repeat(50)), calls("b"), result("b", "y".repeat(50))];
    expect(contents(await sentOf(history, { toolResults: { maxChars: 10, keepLast: 1 } }))).toEqual([
      "q",
      "",
      `${"x".repeat(10)}\n[shortened: 40 of 50 characters left out]`,
      "",
      "y".repeat(50),
    ]);
  });

  test("K1: a batch is not split: all results beside one of the newest stay whole", async () => {
    const batch = [calls("a", "b", "c"), ...["a", "b", "c"].map((id) => result(id, id.repeat(50)))];
    expect(await sentOf(batch, { toolResults: { maxChars: 1, keepLast: 1 } })).toEqual(batch);
    const [, cut] = await sentOf(batch, { toolResults: { maxChars: 1, keepLast: 0 } });
    expect(cut?.content).toMatch(/^a\n\[shortened: 49 of 50/);
  });

  test("K1: every result counts, not every batch", async () => {
    const history = [calls("z"), result("z", "z".repeat(50)), calls("a", "b"), result("a"), result("b")];
    const [, cut] = await sentOf(history, { toolResults: { maxChars: 1, keepLast: 2 } });
    expect(cut?.content).toMatch(/^z\n\[shortened/);
  });

  test("K1, B51: a cut is never between the halves of a character", async () => {
    const history = [calls("a"), result("a", "\u{1F600}".repeat(3))];
    const [, cut] = await sentOf(history, { toolResults: { maxChars: 3, keepLast: 0 } });
    expect(cut?.content).toBe("\u{1F600}\n[shortened: 4 of 6 characters left out]");
  });

  test("K1: texts of one result share the characters, and images of older results are left out by name", async () => {
    const image = { kind: "media", type: "image", source: { data: "AAAA" } } as const;
    const parts = [{ kind: "text", text: "abcdef" }, image, { kind: "text", text: "ghi" }] as const;
    const history = [calls("a"), result("a", parts)];
    const [, cut] = await sentOf(history, { toolResults: { maxChars: 7, keepLast: 0 } });
    expect(cut?.content).toEqual([
      { kind: "text", text: "abcdef" },
      { kind: "text", text: "[image left out]" },
      { kind: "text", text: "g\n[shortened: 2 of 3 characters left out]" },
    ]);
    expect(await sentOf(history, { toolResults: { maxChars: 7 } })).toEqual(history);
  });
});

describe("what stays together", () => {
  test("K1, B53: an id that an earlier turn used is another call", async () => {
    const history = [human("1"), calls("a"), result("a", "old"), human("2"), calls("a"), result("a", "new")];
    expect(contents(await sentOf(history, { maxMessages: 3 }))).toEqual(["2", "", "new"]);
    expect(await sentOf(history, { maxMessages: 6 })).toEqual(history);
  });

  test("K1: late and doubled results: they follow their call, and the newest of several counts", async () => {
    const history = [
      calls("a", "b"),
      result("b"),
      human("q"),
      result("a", "first"),
      result("a", "second"),
      result("zz"),
    ];
    expect(contents(await sentOf(history, { maxMessages: 9 }))).toEqual(["", "b", "second", "q"]);
  });

  test("K1: two calls with one id take two results", async () => {
    const history = [calls("a", "a"), result("a", "1"), result("a", "2"), human("q")];
    expect(await sentOf(history, { maxMessages: 9 })).toEqual(history);
  });

  test("K1: several system messages become one in front, blocks as they were", async () => {
    const block = { kind: "text", text: "s2", source: { type: "text", text: "s2", cache_control: {} } } as const;
    const [first] = await sentOf([system("s1"), human("q"), system([block])], { maxMessages: 9 });
    expect(first).toEqual(system([{ kind: "text", text: "s1\n\n" }, block]));
    expect(contents(await sentOf([human("q"), system("s1"), system("s2")], { maxMessages: 2 }))).toEqual([
      "s1\n\ns2",
      "q",
    ]);
    expect(contents(await sentOf([human("q"), system("s1")], { maxMessages: 1, keepSystem: false }))).toEqual(["q"]);
  });

  test("K1: one system message is sent as it is", async () => {
    const only = system("s");
    expect((await sentOf([human("q"), only], { maxMessages: 9 }))[0]).toBe(only);
  });

  test("K1: within one long turn the oldest exchanges go, the question stays, and no more than needed", async () => {
    const history = [human("q"), ...["a", "b", "c", "d"].flatMap((id) => [calls(id), result(id)])];
    expect(contents(await sentOf(history, { maxMessages: 5 }))).toEqual(["q", "", "c", "", "d"]);
    expect(contents(await sentOf(history, { maxMessages: 6 }))).toEqual(["q", "", "c", "", "d"]);
  });

  test("K1: `keepLast` counts messages, and takes the ones they belong to", async () => {
    const history = [human("q"), says("x"), says("y"), calls("a", "b"), result("a"), result("b")];
    expect(contents(await sentOf(history, { maxMessages: 1, keepLast: 3 }))).toEqual(["q", "", "a", "b"]);
    expect(contents(await sentOf(history, { maxMessages: 1, keepLast: 1 }))).toEqual(["q", "", "a", "b"]);
    expect(contents(await sentOf(history, { maxMessages: 1, keepLast: 4 }))).toEqual(["q", "y", "", "a", "b"]);
    expect(contents(await sentOf(history, { maxMessages: 1, keepLast: 0 }))).toEqual(["q"]);
  });

  test("K1: a limit smaller than what must be kept is exceeded, and said to be", async () => {
    const history = [system("s"), human("1"), says("x"), human("2"), calls("a", "b"), result("a")];
    const { messages, dropped, fits } = await compress(history, new CompressionPolicy({ maxTokens: 1 }));
    expect(contents(messages)).toEqual(["s", "2", "", "a"]);
    expect([contents(dropped), fits]).toEqual([["1", "x"], false]);
  });
});

describe("summaries", () => {
  const turns = (count: number) => Array.from({ length: count }, (_, n) => [human(`q${n}`), says(`a${n}`)]).flat();
  const recorder = () => {
    const asked: { readonly texts: unknown[]; readonly earlier: string | undefined }[] = [];
    const summarize = (messages: readonly NeutralMessage[], earlier: string | undefined) => {
      asked.push({ texts: contents(messages), earlier });
      return `S${asked.length}`;
    };
    return { asked, summarize };
  };

  test("K1: a summary stands behind the system messages for exactly what is not sent", async () => {
    const { asked, summarize } = recorder();
    const history = [system("s"), ...turns(5)];
    const { messages, dropped } = await compress(history, new CompressionPolicy({ maxMessages: 6, summarize }));
    expect(messages[1]).toEqual(human("Summary of the earlier conversation:\nS1"));
    expect([
      ...dropped,
      ...messages.filter((message) => history.includes(message) && message.role !== "system"),
    ]).toEqual(history.slice(1));
    expect(asked).toEqual([{ texts: contents(dropped), earlier: undefined }]);
    expect(messages.length).toBeLessThanOrEqual(6);
  });

  test("K1: while the beginning is unchanged the summary is used again; a longer one starts from it", async () => {
    const { asked, summarize } = recorder();
    const policy = new CompressionPolicy({ maxMessages: 20, summarize });
    const history = turns(60);
    for (let length = 1; length <= history.length; length += 1) {
      const { messages, dropped } = await compress(history.slice(0, length), policy);
      expect(messages.length).toBeLessThanOrEqual(20);
      const summaries = messages.filter(({ content }) => text(content).startsWith("Summary"));
      expect(summaries.length).toBe(dropped.length === 0 ? 0 : 1);
    }
    // 120 messages, about ten dropped at a time.
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.length).toBeLessThan(15);
    expect(asked.map(({ earlier }) => earlier)).toEqual([undefined, ...asked.slice(1).map((_, n) => `S${n + 1}`)]);
    const summarized = asked.flatMap(({ texts }) => texts);
    expect(summarized).toEqual(contents(history).slice(0, summarized.length));
  });

  test("K1: another beginning is another summary, and calls at the same time share one", async () => {
    const { asked, summarize } = recorder();
    const policy = new CompressionPolicy({ maxMessages: 4, summarize });
    await Promise.all([compress(turns(6), policy), compress(turns(6), policy)]);
    expect(asked.length).toBe(1);
    await compress([human("other"), ...turns(6).slice(1)], policy);
    expect(asked.map(({ earlier }) => earlier)).toEqual([undefined, undefined]);
  });

  test("K1: a conversation that fits is not summarized, and one that grew always has its summary, also by tokens", async () => {
    const { asked, summarize } = recorder();
    const countTokens = ({ content }: NeutralMessage) => content.length;
    const policy = new CompressionPolicy({ maxTokens: 400, countTokens, summarize });
    const tens = Array.from({ length: 40 }, (_, n) => [
      human(`q${n}`.padEnd(40)),
      calls(`${n}`),
      result(`${n}`, "r".repeat(40)),
    ]);
    const history = tens.flat();
    expect((await compress(history.slice(0, 15), policy)).messages).toEqual(history.slice(0, 15));
    expect(asked).toEqual([]);
    for (let length = 16; length <= history.length; length += 1) {
      const { messages } = await compress(history.slice(0, length), policy);
      expect(contents(messages)[0]).toMatch(/^Summary of the earlier conversation:\nS/);
    }
  });

  test("K1: what the system messages take is taken once from the limit", async () => {
    const { asked, summarize } = recorder();
    const countTokens = ({ content }: NeutralMessage) => content.length;
    const policy = new CompressionPolicy({ maxTokens: 1000, countTokens, summarize });
    const questions = Array.from({ length: 44 }, (_, n) => human(`q${n}`.padEnd(10)));
    const { messages } = await compress([system("s".repeat(300)), ...questions], policy);
    // 800 beside a summary, 300 of them the system's: 44 of 50 questions fit, and nobody is asked.
    expect([messages.length, asked.length]).toEqual([45, 0]);
    const more = Array.from({ length: 80 }, (_, n) => human(`q${n}`.padEnd(10)));
    // Behind the last cut to 25, the conversation grew to 50 again, and so on.
    const grown = await compress([system("s".repeat(300)), ...more], policy);
    expect(grown.messages.length).toBe(2 + 25 + ((80 - 51) % 26));
  });

  test("K1: results that become short move no cut back: the summaries stay in use", async () => {
    const { asked, summarize } = recorder();
    const countTokens = ({ content }: NeutralMessage) => 5 + content.length;
    const toolResults = { maxChars: 10, keepLast: 3 };
    const policy = new CompressionPolicy({ maxTokens: 2000, countTokens, toolResults, summarize });
    const turn = (n: number) => [human(`q${n}`), calls(`${n}`), result(`${n}`, "r".repeat(300))];
    const history = Array.from({ length: 100 }, (_, n) => turn(n)).flat();
    for (let length = 1; length <= history.length; length += 1) await compress(history.slice(0, length), policy);
    expect(asked.map(({ earlier }) => earlier)).toEqual([undefined, ...asked.slice(1).map((_, n) => `S${n + 1}`)]);
    expect(asked.length).toBeLessThan(20);
  });

  test("K1: the newest 1000 summaries are remembered", async () => {
    const { asked, summarize } = recorder();
    const policy = new CompressionPolicy({ maxMessages: 2, summarize });
    const nth = (n: number) => compress([human(`${n}`), says("x"), human("last")], policy);
    for (let n = 0; n <= 1000; n += 1) await nth(n);
    await nth(1);
    expect(asked.length).toBe(1001);
    await nth(0);
    expect(asked.length).toBe(1002);
  });

  test("K1: a summarizer that fails is heard, and asked again the next time", async () => {
    let fails = true;
    const policy = new CompressionPolicy({
      maxMessages: 4,
      summarize: () => (fails ? Promise.reject(new Error("down")) : "ok"),
    });
    await expect(compress(turns(6), policy)).rejects.toThrow("down");
    fails = false;
    expect(contents((await compress(turns(6), policy)).messages)[0]).toContain("ok");
  });

  test("K1: a summary that is too long is cut, an empty one is none, and without room nobody is asked", async () => {
    const long = await compress(
      turns(40),
      new CompressionPolicy({ maxTokens: 100, summarize: () => "long ".repeat(999) }),
    );
    const tokens = long.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    expect(tokens).toBeLessThanOrEqual(100);
    expect(text(long.messages[0]?.content)).toMatch(/^Summary of the earlier conversation:\n(long ){3}/);
    const none = await sentOf(turns(6), { maxMessages: 4, summarize: () => "" });
    expect(none.every(({ content }) => !text(content).startsWith("Summary"))).toBe(true);
    const { asked, summarize } = recorder();
    await compress([...turns(6), human("last")], new CompressionPolicy({ maxMessages: 1, summarize }));
    expect(asked).toEqual([]);
  });
});

describe("closeOpenCalls", () => {
  test("K1, B38: what a new message of a human left open is answered behind the results that are there", () => {
    const history = [human("1"), calls("a", "b"), result("a"), human("2"), calls("c")];
    const closed = closeOpenCalls(history);
    expect(
      closed.map((message) => (message.role === "tool" ? `${message.callId} ${message.status}` : message.role)),
    ).toEqual(["human", "assistant", "a success", "b error", "human", "assistant"]);
    expect(JSON.parse(text(closed[3]?.content))).toEqual({
      error: { kind: "ToolError", message: expect.stringContaining("outcome unknown") },
    });
  });

  test("K1: a call whose result came late is not answered twice", () => {
    const history = [calls("a"), human("q"), result("a")];
    expect(closeOpenCalls(history)).toEqual(history);
  });
});

describe("options", () => {
  test.each([
    [{}, "give maxTokens"],
    [{ maxTokens: 0 }, "maxTokens"],
    [{ maxMessages: 1.5 }, "maxMessages"],
    [{ maxTokens: 10, keepLast: -1 }, "keepLast"],
    [{ maxTokens: 10, keepSystem: "yes" }, "keepSystem"],
    [{ maxTokens: 10, countTokens: 4 }, "countTokens"],
    [{ maxTokens: 10, summarize: "yes" }, "summarize"],
    [{ maxTokens: 10, maxToken: 4 }, "maxToken"],
    [{ toolResults: { maxChars: -1 } }, "toolResults.maxChars"],
    [{ toolResults: { maxChars: 1, keep: 1 } }, "keep"],
  ])("N1: %o is refused by name", (options, name) => {
    let error: unknown;
    try {
      void new CompressionPolicy(options as CompressionOptions);
    } catch (caught) {
      error = caught;
    }
    expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
    expect(String(error)).toContain(name);
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, "4"])(
    "N1: a counter that gives %s is refused",
    async (tokens) => {
      const policy = new CompressionPolicy({ maxTokens: 10, countTokens: () => tokens as number });
      await expect(compress([human("q")], policy)).rejects.toThrow("countTokens");
    },
  );

  test("K1: tokens are counted by the counter that is given, or estimated", async () => {
    const history = [human("1"), says("2"), human("3")];
    expect(contents(await sentOf(history, { maxTokens: 2, countTokens: () => 1 }))).toEqual(["3"]);
    expect(estimateTokens(human("a".repeat(40)))).toBe(14);
    expect(estimateTokens(human("日".repeat(4)))).toBe(7);
    expect(estimateTokens({ role: "human", content: [{ kind: "media", type: "image", source: {} }] })).toBe(1204);
    expect(estimateTokens(calls("abcd"))).toBe(4 + Math.ceil((4 + 7 + 2) / 4));
  });
});

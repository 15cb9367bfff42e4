// Which request an answer is for: never guessed, and nothing is answered twice in one go.
import { describe, expect, test } from "vitest";
import { isAnswers, matchAnswers, type Answerable } from "../../../src/approvals/answering.js";
import { approve, deny } from "../../../src/approvals/decision.js";
import { SignedApproval } from "../../../src/approvals/signed-approval.js";

const port = new SignedApproval({ key: "a secret of 32 bytes, for a test." });
const one: Answerable = { binding: "b1", id: "i1", used: false };
const two: Answerable = { binding: "b2", id: "i2", used: false };
const match = (given: Parameters<typeof matchAnswers>[2]["given"], ...waiting: readonly Answerable[]) =>
  matchAnswers("verb", port, { given, waiting });

describe("C6, B05: an answer is for the request that it names", () => {
  test("one decision answers the one request that waits", () => {
    expect(match(approve(), one).map(({ waiting }) => waiting)).toEqual([one]);
  });

  test("several requests and one decision: nobody guesses", () => {
    expect(() => match(approve(), one, two)).toThrow(/2 requests wait/);
  });

  test("a map names each by binding or by id", () => {
    const found = match({ b1: approve(), i2: deny() }, one, two);
    expect(found.map(({ waiting, answer }) => [waiting.binding, "approved" in answer && answer.approved])).toEqual([
      ["b1", true],
      ["b2", false],
    ]);
  });

  test("one request is not answered twice, under its id and under its binding", () => {
    expect(() => match({ i1: approve(), b1: deny() }, one, two)).toThrow(/answered twice/);
  });

  test("what names nothing that waits, an empty map and parsed JSON are refused", () => {
    expect(() => match({ b9: approve() }, one)).toThrow(/nothing that waits/);
    expect(() => match({}, one)).toThrow(/empty map/);
    const parsed: unknown = JSON.parse(JSON.stringify({ b1: approve() }));
    expect(() => match(parsed as never, one)).toThrow(/parsed JSON/);
  });

  test("a request whose answer was used is said to be decided", () => {
    expect(() => match(approve(), { ...one, used: true })).toThrow(/answered before/);
  });
});

test("A9: answers are told from anything else by their brand or their signature", () => {
  expect(isAnswers(approve())).toBe(true);
  expect(isAnswers({ b1: approve(), b2: deny() })).toBe(true);
  for (const value of [{}, [], null, "yes", { approved: true }, { b1: { approved: true } }, { b1: approve(), n: 1 }])
    expect(isAnswers(value)).toBe(false);
});

// W1: bindings, answers and ask records of wire format 1, made once with node:crypto alone; every later version must give,
// verify and open the same.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isSigned, parseAnswer, signAnswer, type MacAnswer } from "../../../src/approvals/answer.js";
import { openAsk, type AskRecord } from "../../../src/approvals/ask.js";
import { bindingOf, isApprovalRequest, type ApprovalRequest } from "../../../src/approvals/request.js";
import { DEFAULT_JSON_LIMITS } from "../../../src/crypto/canonical-json.js";
import { KeyRing } from "../../../src/crypto/keys.js";

interface Keys {
  readonly secret: string;
  readonly older: string;
}

interface Bindings {
  readonly requests: readonly { readonly name: string; readonly request: ApprovalRequest; readonly binding: string }[];
}

interface Answers extends Keys {
  readonly answers: readonly { readonly name: string; readonly answer: MacAnswer }[];
}

interface Asks extends Keys {
  readonly asks: readonly { readonly name: string; readonly record: AskRecord; readonly sealed: string }[];
}

const textOf = (name: string) => readFileSync(new URL(`../../fixtures/wire-v1/${name}.json`, import.meta.url), "utf8");
const bindings: Bindings = JSON.parse(textOf("binding"));
const answers: Answers = JSON.parse(textOf("answer"));
const asks: Asks = JSON.parse(textOf("ask"));
const ringOf = ({ secret, older }: Keys) => KeyRing.of([secret, older], "secret");

describe("W1/asks", () => {
  it("W0: there is something to check", () => {
    expect(bindings.requests).toHaveLength(4);
    expect(answers.answers).toHaveLength(5);
    expect(asks.asks).toHaveLength(3);
  });

  it.each(bindings.requests)(
    "W0, A2: the binding of a request of format 1 is what it was: $name",
    ({ request, binding }) => {
      expect(isApprovalRequest(request)).toBe(true);
      expect(bindingOf(request)).toBe(binding);
    },
  );

  it.each(answers.answers)("W0, A3/hmac: an answer of format 1 is read and verified: $name", ({ answer }) => {
    expect(parseAnswer(answer, DEFAULT_JSON_LIMITS)).toEqual(answer);
    expect(isSigned(ringOf(answers), answer)).toBe(true);
    const key = answer.keyId === ringOf(answers).currentId ? answers.secret : answers.older;
    const { binding, decision, signedAt, expiresAt } = answer;
    expect(signAnswer(KeyRing.of(key, "key"), { binding, decision, signedAt, expiresAt })).toEqual(answer);
  });

  it.each(asks.asks)("J3/ask-record: an ask record of format 1 opens: $name", ({ record, sealed }) => {
    expect(openAsk(ringOf(asks), record.request.taskRun, sealed)).toEqual(record);
    expect(bindingOf(record.request)).toBe(record.binding);
  });
});

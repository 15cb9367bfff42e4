// Properties proved: every bag of options of the core refuses a name it does not know and a value that cannot be used, and says
// whose option it is.
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  approve,
  CallbackApproval,
  DeferredApproval,
  Executor,
  LoggingHook,
  MemoryApprovalStore,
  MemoryCache,
  MemoryClaimStore,
  MemoryLedger,
  Registry,
  signDecision,
  toReviewRequest,
  type Approver,
} from "../../src/index.js";
import { LangGraphApproval } from "../../src/integrations/langgraph/index.js";
import { APPROVAL_TYPE, bindingOf, partsOf, signersOf } from "../../src/spi.js";
import { countOption, durationOption, refuseUnknown } from "../../src/options.js";
import { sampleRequest } from "../../src/testing/sample-request.js";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const usage = (message: RegExp) =>
  expect.objectContaining({ kind: "ToolUsageError", message: expect.stringMatching(message) });
// Callers without types may give anything.
const misspelt: Record<string, unknown> = { misspelt: 1 };
const executor = new Executor(new Registry());

function shown() {
  const request = sampleRequest();
  return toReviewRequest({ value: { type: APPROVAL_TYPE, binding: bindingOf(request), request } });
}

const sign = (options: object) => signDecision(shown(), approve(), { privateKey, id: "ana", ...options });

describe("N1: an option that does not exist is refused by name, with its owner", () => {
  test.each([
    ["new Executor", () => new Executor(new Registry(), misspelt)],
    ["new Executor, limits", () => new Executor(new Registry(), { limits: misspelt })],
    ["context()", () => executor.context(misspelt)],
    ["CallbackApproval", () => new CallbackApproval(() => approve(), misspelt)],
    ["DeferredApproval", () => new DeferredApproval(new MemoryApprovalStore(), misspelt)],
    ["MemoryApprovalStore", () => new MemoryApprovalStore(misspelt)],
    ["MemoryClaimStore", () => new MemoryClaimStore(misspelt)],
    ["MemoryLedger", () => new MemoryLedger(misspelt)],
    ["MemoryCache", () => new MemoryCache(misspelt)],
    ["LoggingHook", () => new LoggingHook(console, misspelt)],
    ["signDecision", () => sign(misspelt)],
    ["approvers", () => signersOf("x", { approvers: [{ id: "ana", publicKey, ...misspelt }] })],
  ])("%s", (owner, make) => {
    expect(make).toThrow(usage(new RegExp(`^${owner.replace("()", "\\(\\)")}: there is no option "misspelt"$`)));
  });
});

describe("N1: a value that cannot be used is refused by name", () => {
  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5", null])(
    "%j is no count and no duration",
    (value) => {
      expect(() => countOption("owner", "many", value)).toThrow(usage(/^owner: many must be a whole number above 0$/));
      expect(() => durationOption("owner", "longMs", value)).toThrow(
        usage(/^owner: longMs must be a whole number of milliseconds above 0$/),
      );
    },
  );

  test.each([7, null, "\uD800", {}])(
    "the executor's principal must be text: %j is refused before it is shown",
    (principal) => {
      // A number is what ids of users often are in `configurable`.
      const { principal: principalOf } = partsOf(
        new Executor(new Registry(), { principal: () => principal as string }),
      );
      expect(() => principalOf({})).toThrow(usage(/principal/));
    },
  );

  test("what can be used comes back, and no option is fine", () => {
    expect([countOption("owner", "many", 3), durationOption("owner", "longMs", 4)]).toEqual([3, 4]);
    expect(() => refuseUnknown("owner", {})).not.toThrow();
  });

  test.each([
    [/id/, { id: "" }],
    [/id/, { id: undefined }],
    [/signedAt/, { signedAt: Number.NaN }],
    [/signedAt/, { signedAt: -1 }],
    [/answerTtlMs/, { answerTtlMs: 0 }],
    [/privateKey/, { privateKey: publicKey }],
  ])("A3/ed25519: signDecision names %s", (name, options) => {
    expect(() => sign(options)).toThrow(usage(name));
  });

  test.each([
    [/id/, { id: "" }],
    [/mayDecide/, { mayDecide: true }],
    [/publicKey/, { publicKey: privateKey }],
    [/publicKey/, { publicKey: undefined }],
  ])("A3/ed25519: an approver with a bad %s is refused", (name, options) => {
    const approver = { id: "ana", publicKey, ...options } as Approver;
    expect(() => signersOf("a port", { approvers: [approver] })).toThrow(usage(name));
  });
});

describe("N1: what must not be missing or unfit", () => {
  test("A3, N1: a key or secret that is undefined is refused, not replaced by a random one", () => {
    const unset: Record<string, string | undefined> = {};
    expect(() => new LangGraphApproval({ key: unset["KEY"] as string })).toThrow("key is undefined");
    expect(() => new Executor(new Registry(), { secret: unset["KEY"] as string })).toThrow("secret is undefined");
    expect(new LangGraphApproval()).toBeInstanceOf(LangGraphApproval);
  });

  test("N1: what is no port is refused where it is given", () => {
    for (const option of ["approval", "ledger", "cache", "claims"]) {
      expect(() => new Executor(new Registry(), { [option]: {} })).toThrow(`${option} has no`);
    }
  });
});

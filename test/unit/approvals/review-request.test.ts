// `toReviewRequest`: what is shown is what gets signed. Every edit of a displayed field is detected.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bindingOf } from "../../../src/approvals/request.js";
import { APPROVAL_TYPE, toReviewRequest } from "../../../src/approvals/review-request.js";
import { ToolUsageError } from "../../../src/errors.js";
import { json, request, requests } from "./requests.js";

function pause(changes: object = {}) {
  const shown = request();
  return {
    id: "i",
    value: {
      type: APPROVAL_TYPE,
      binding: bindingOf(shown),
      request: shown,
      meta: { askedAt: 1 },
      aa_state: "sealed",
      ...changes,
    },
  };
}

describe("A9/review, A2: what a reviewer sees", () => {
  it("is the request and its binding, nothing else", () => {
    const review = toReviewRequest(pause());
    expect(review).toEqual({ binding: bindingOf(request()), request: request() });
    expect(JSON.stringify(review)).not.toContain("sealed");
  });

  it("is a frozen copy: later changes of the interrupt are not shown", () => {
    const args = { to: "ana" };
    const shown = request({ arguments: args });
    const review = toReviewRequest(pause({ request: shown, binding: bindingOf(shown) }));
    args.to = "mallory";
    expect(review.request.arguments).toEqual({ to: "ana" });
    expect(Object.isFrozen(review.request)).toBe(true);
  });

  it("works on every request, also after a checkpoint", () => {
    fc.assert(
      fc.property(requests, (one) => {
        const interrupt = pause({ request: one, binding: bindingOf(one) });
        const stored: { value: unknown } = JSON.parse(JSON.stringify(interrupt));
        expect(toReviewRequest(stored).binding).toBe(bindingOf(one));
      }),
    );
  });

  const edits = {
    kind: "gate",
    runId: "other",
    threadId: null,
    taskRun: ["thread", "other"],
    tool: "rate",
    description: "Harmless.",
    effects: "read",
    definitionDigest: "0".repeat(64),
    arguments: { to: "ana", amount: 9999 },
    callId: "other",
    generation: 1,
    requestedBy: "ceo",
    expiresAt: 1,
    supersedes: "x",
    previousAttempt: { outcome: "unknown", claimedAt: 1 },
  };

  it.each(Object.entries(edits))("a changed %s is refused", (field, value) => {
    expect(() => toReviewRequest(pause({ request: { ...request(), [field]: value } }))).toThrow(ToolUsageError);
  });

  it("every field of the request but its version is edited above, and no version 2 is read", () => {
    expect([...Object.keys(edits), "v"].toSorted()).toEqual(Object.keys(request()).toSorted());
    const next = { ...request(), v: 2 };
    expect(() => toReviewRequest(pause({ request: next, binding: bindingOf(next as never) }))).toThrow(ToolUsageError);
  });

  it("any one changed argument is refused", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const shown = request({ arguments: { value: before } });
        const changed = request({ arguments: { value: after } });
        fc.pre(bindingOf(shown) !== bindingOf(changed));
        const show = () => toReviewRequest(pause({ request: changed, binding: bindingOf(shown) }));
        expect(show).toThrow(ToolUsageError);
      }),
    );
  });

  it("of a store's record is the same, and its id must be the binding", () => {
    const id = bindingOf(request());
    expect(toReviewRequest({ id, request: request() })).toEqual(toReviewRequest(pause()));
    const others = [
      { id, request: { ...request(), tool: "refund" } },
      { id: "0".repeat(64), request: request() },
    ];
    for (const other of others) expect(() => toReviewRequest(other)).toThrow(ToolUsageError);
  });

  it.each([
    ["another binding", { binding: "0".repeat(64) }],
    ["a binding in capitals", { binding: bindingOf(request()).toUpperCase() }],
    ["no binding", { binding: undefined }],
    ["a hidden field in the request", { request: { ...request(), note: "x" } }],
    ["another type", { type: "agent_adapter.question" }],
    ["no request", { request: undefined }],
    ["a request as text", { request: JSON.stringify(request()) }],
  ])("N1: %s is refused", (_what, changes) => {
    expect(() => toReviewRequest(pause(changes))).toThrow(ToolUsageError);
  });

  it("N1: what is not a pause of ours is refused, without its contents in the message", () => {
    for (const interrupt of [
      {},
      { value: undefined },
      { value: null },
      { value: "hunter2" },
      { id: "i", value: { secret: "hunter2" } },
    ]) {
      expect(() => toReviewRequest(interrupt)).toThrow(ToolUsageError);
      expect(() => toReviewRequest(interrupt)).not.toThrow(/hunter2/);
    }
  });
});

// What the compiler promises about approvals: raw interrupts are not shown, parsed JSON decides nothing, edits fit the tool.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  approve,
  defineTool,
  deny,
  toReviewRequest,
  type ApprovalDecision,
  type ApprovalRequest,
  type DecisionFields,
  type JsonObject,
  type PendingInterrupt,
  type ReviewRequest,
} from "../../src/index.js";
import type { MacAnswer } from "../../src/index.js";
import type { ApprovalInterrupt, LangGraphApproval } from "../../src/integrations/langgraph/index.js";

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  inputSchema: z.object({ to: z.string(), amount: z.number().default(1) }),
  confirm: ({ amount }) => amount > 100,
  execute: () => "done",
});
declare const interrupt: { readonly id: string; readonly value: ApprovalInterrupt };
declare const pending: PendingInterrupt;
declare const port: LangGraphApproval;
declare function show(review: ReviewRequest): void;

describe("what a reviewer may see", () => {
  test("comes from toReviewRequest", () => {
    const review = toReviewRequest(interrupt);
    show(review);
    expectTypeOf(review).toEqualTypeOf<ReviewRequest>();
    expectTypeOf(review.request).toEqualTypeOf<ApprovalRequest>();
    expectTypeOf(review.request.arguments).toEqualTypeOf<JsonObject>();
    // @ts-expect-error the sealed state is not in it
    void review.aa_state;
  });

  test("is never a raw interrupt, its value, or something built by hand", () => {
    // @ts-expect-error the interrupt
    show(interrupt);
    // @ts-expect-error its value
    show(interrupt.value);
    // @ts-expect-error any pause
    show(pending);
    // @ts-expect-error its parts
    show({ binding: interrupt.value.binding, request: interrupt.value.request });
    // @ts-expect-error parsed JSON
    show(JSON.parse("{}") satisfies unknown as unknown);
    expectTypeOf<PendingInterrupt>().not.toExtend<ReviewRequest>();
    expectTypeOf<ApprovalInterrupt>().not.toExtend<ReviewRequest>();
    expectTypeOf<Omit<ReviewRequest, symbol>>().not.toExtend<ReviewRequest>();
  });
});

describe("a decision", () => {
  test("is made by approve and deny", () => {
    expectTypeOf(approve()).toEqualTypeOf<ApprovalDecision>();
    expectTypeOf(deny({ by: "ana", reason: "no" })).toEqualTypeOf<ApprovalDecision>();
    expectTypeOf(port.resumeValue(interrupt, approve())).toEqualTypeOf<MacAnswer>();
  });

  test("is never parsed JSON or plain fields", () => {
    const fields: DecisionFields = { approved: true };
    const parsed: unknown = JSON.parse('{"approved":true}');
    // @ts-expect-error plain fields
    port.resumeValue(interrupt, { approved: true });
    // @ts-expect-error typed fields
    port.resumeValue(interrupt, fields);
    // @ts-expect-error parsed JSON
    port.resumeValue(interrupt, parsed);
    // @ts-expect-error a copy without the brand
    port.resumeValue(interrupt, JSON.parse(JSON.stringify(approve())) as DecisionFields);
    expectTypeOf<DecisionFields>().not.toExtend<ApprovalDecision>();
    expectTypeOf<ApprovalDecision>().toExtend<DecisionFields>();
  });

  test("with an edit is typed by the tool it is for", () => {
    approve({ editedArgs: { to: "bob", amount: 2 } }, pay);
    approve({ editedArgs: { to: "bob" } }, pay);
    approve({ by: "ana" }, pay);
    // @ts-expect-error a required field is missing
    approve({ editedArgs: { amount: 2 } }, pay);
    // @ts-expect-error the wrong type
    approve({ editedArgs: { to: 5 } }, pay);
    // @ts-expect-error misspelt
    approve({ editedArgs: { to: "bob", amuont: 2 } }, pay);
    // @ts-expect-error misspelt option
    approve({ editedArguments: { to: "bob" } }, pay);
    expectTypeOf(approve({ editedArgs: { to: "bob" } }, pay)).toEqualTypeOf<ApprovalDecision>();
  });

  test("with an edit takes JSON objects when no tool is at hand", () => {
    approve({ editedArgs: { to: "bob", list: [1, null] } });
    // @ts-expect-error a denial edits nothing
    deny({ editedArgs: { to: "bob" } });
    // @ts-expect-error a reason is text
    deny({ reason: 5 });
    expectTypeOf(deny).toBeFunction();
  });
});

test("a confirm predicate gets the parsed arguments and answers yes or no", () => {
  const base = {
    description: "d",
    execute: () => 1,
    inputSchema: z.object({ amount: z.coerce.number<string>().default(1) }),
  };
  defineTool({ ...base, name: "a", confirm: (args) => (expectTypeOf(args).toEqualTypeOf<{ amount: number }>(), true) });
  defineTool({ ...base, name: "b", confirm: async ({ amount }) => amount > 1 });
  // @ts-expect-error no such argument
  defineTool({ ...base, name: "c", confirm: ({ amuont }) => amuont > 1 });
  // @ts-expect-error a number is no answer
  defineTool({ ...base, name: "d", confirm: ({ amount }) => amount });
  // @ts-expect-error a forgotten return is no answer
  defineTool({ ...base, name: "e", confirm: () => {} });
  expectTypeOf(defineTool).toBeFunction();
});

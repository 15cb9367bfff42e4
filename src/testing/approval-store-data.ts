// What an `ApprovalStore` promises about its data: nothing is changed, shared or found by accident; lists have an order.

import { approve, type ApprovalRequest } from "../index.js";
import { bindingOf, type ApprovalStatus, type ApprovalStore } from "../spi.js";
import { holds, refuses, same, type CaseBody } from "./contract.js";
import { bigText, hostileObject, HOSTILE_TEXTS } from "./hostile.js";
import { sampleRequest } from "./sample-request.js";

export const approvalStoreData: Readonly<Record<string, CaseBody<ApprovalStore>>> = {
  "hostile text comes back as it went in, in every field": async ({ store, other }) => {
    for (const [index, text] of HOSTILE_TEXTS.entries()) {
      const names = { runId: `r${text}`, threadId: `t${text}`, taskRun: [text, "x"], requestedBy: text };
      const request = sampleRequest({ ...names, callId: `c${index}${text}`, tool: text, description: text });
      const { id } = await store.create(request);
      await store.decide(id, approve({ editedArgs: { [text]: text }, reason: text, by: text }));
      const [found, ...others] = await other.list({ runId: names.runId, threadId: names.threadId });
      same(others, [], "others that a filter found");
      same(found?.request, request, "the request");
      same(found?.decision, { approved: true, editedArgs: { [text]: text }, reason: text, by: text }, "the decision");
    }
  },

  "objects with the names of inherited members, deep and odd ones stay what they are": async ({ store, other }) => {
    const request = sampleRequest({ arguments: hostileObject() });
    const { id } = await store.create(request);
    await store.decide(id, approve({ editedArgs: hostileObject() }));
    const found = await other.get(id);
    same(found?.request.arguments, hostileObject(), "the arguments");
    same(found?.decision, { approved: true, editedArgs: hostileObject() }, "the edit");
    holds(!("admin" in {}), "an object got a member it never had");
    same((await store.consume(id, "token")).status, "used", "the status");
  },

  "a mebibyte of arguments is kept whole": async ({ store, other }) => {
    const request = sampleRequest({ arguments: { text: bigText() } });
    const { id } = await store.create(request);
    same(bindingOf((await other.get(id))?.request ?? sampleRequest()), id, "the binding of what is kept");
  },

  "a NUL character is kept or refused, never cut": async ({ store, other }) => {
    const request = sampleRequest({ arguments: { text: "a\u0000b" } });
    const id = bindingOf(request);
    try {
      await store.create(request);
    } catch {
      holds((await other.get(id)) === undefined, "a refused request was kept");
      return;
    }
    same((await other.get(id))?.request, request, "the request");
  },

  "a record is a copy: writing on it or on the request changes nothing": async ({ store }) => {
    const request: ApprovalRequest & { arguments: { amount: number } } = {
      ...sampleRequest(),
      arguments: { amount: 5 },
    };
    const created = await store.create(request);
    request.arguments.amount = 9999;
    Reflect.set(created, "status", "approved");
    Reflect.set(created.request.arguments, "amount", 9999);
    const found = await store.get(created.id);
    same([found?.status, found?.request.arguments], ["pending", { amount: 5 }], "the record");
    const [listed] = await store.list();
    Reflect.set(listed ?? {}, "status", "approved");
    same((await store.get(created.id))?.status, "pending", "the status");
  },

  "a list is newest first, also within one millisecond, and keeps its order when records change": async (bench) => {
    const { store, other, clock } = bench;
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      ids.unshift((await store.create(sampleRequest({ callId: `call-${n}` }))).id);
      if (n === 2) clock.advance(1000);
    }
    await store.decide(ids[5] ?? "", approve());
    await store.create(sampleRequest({ callId: "call-1" }));
    same(
      (await other.list()).map(({ id }) => id),
      ids,
      "the order",
    );
  },

  "a list gives what fits every filter": async ({ store }) => {
    const make = async (runId: string, threadId: string | null, decided: boolean) => {
      const { id } = await store.create(sampleRequest({ runId, threadId }));
      if (decided) await store.decide(id, approve());
      return id;
    };
    const a = await make("a", "x", false);
    const b = await make("b", "x", true);
    const c = await make("a", "y", true);
    const d = await make("a", null, true);
    const ids = async (filter: { status?: ApprovalStatus; runId?: string; threadId?: string }) =>
      (await store.list(filter)).map(({ id }) => id);
    same(await ids({ runId: "a" }), [d, c, a], "by run");
    same(await ids({ threadId: "x" }), [b, a], "by thread");
    same(await ids({ status: "approved" }), [d, c, b], "by status");
    same(await ids({ status: "approved", runId: "a", threadId: "y" }), [c], "by all of them");
    same(await ids({ runId: "A" }), [], "by a run that is not there");
    same(await ids({ threadId: "null" }), [], "by the word null");
    await store.consume(b, "token");
    same(await ids({ status: "approved" }), [d, c], "after one was used");
  },

  "pages of a list follow each other without gaps, also when records come and change": async ({ store }) => {
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) ids.unshift((await store.create(sampleRequest({ callId: `call-${n}` }))).id);
    const seen: string[] = [];
    for (let page = await store.list({ limit: 3, status: "pending" }); page.length > 0;) {
      seen.push(...page.map(({ id }) => id));
      const before = seen.at(-1) ?? "";
      await store.create(sampleRequest({ callId: `later-${seen.length}` }));
      // The last one of a page may have been decided meanwhile: it still says where the page ended.
      await store.decide(before, approve());
      page = await store.list({ limit: 3, status: "pending", before });
    }
    same(seen, ids, "all pages");
  },

  "without a limit a list gives a hundred": async ({ store }) => {
    for (let n = 0; n < 101; n += 1) await store.create(sampleRequest({ callId: `call-${n}` }));
    same((await store.list()).length, 100, "how many");
    same((await store.list({ limit: 1000 })).length, 101, "how many with a higher limit");
  },

  "a limit or a place that cannot be is refused": async ({ store }) => {
    await store.create(sampleRequest());
    for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await refuses("ToolUsageError", store.list({ limit }), "the limit");
    }
    await refuses("ToolUsageError", store.list({ before: "unknown" }), "the place");
  },
};

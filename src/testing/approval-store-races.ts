// What an `ApprovalStore` promises when many act at once, from two handles: of everything that excludes each other one
// happens, and everybody can tell which.

import { approve, deny } from "../index.js";
import type { ApprovalStore } from "../spi.js";
import { race, RACERS, same, winners, type CaseBody } from "./contract.js";
import { sampleRequest } from "./sample-request.js";

const USED = "ApprovalAlreadyDecided";

export const approvalStoreRaces: Readonly<Record<string, CaseBody<ApprovalStore>>> = {
  "of many who create one request at once all get the same record": async (bench) => {
    const results = await race(bench, (store) => store.create(sampleRequest()));
    const records = winners(results, USED);
    same(records.length, RACERS, "how many got it");
    for (const record of records) same(record, records[0], "the record");
    same((await bench.store.list()).length, 1, "how many there are");
  },

  "of many tokens that use one decision at once exactly one does": async (bench) => {
    const { store, other } = bench;
    for (const decision of [approve(), deny()]) {
      const { id } = await store.create(sampleRequest({ callId: decision.approved ? "yes" : "no" }));
      await store.decide(id, decision);
      const results = await race(bench, (handle, n) => handle.consume(id, `token ${n}`));
      same(winners(results, USED).length, 1, "how many used it");
      const winner = results.findIndex(({ status }) => status === "fulfilled");
      same((await other.consume(id, `token ${winner}`)).status, "used", "the winner once more");
    }
  },

  "one token that comes many times at once is one use, and every time it is told so": async (bench) => {
    const { id } = await bench.store.create(sampleRequest());
    await bench.store.decide(id, approve());
    const results = await race(bench, (handle) => handle.consume(id, "the token"));
    same(winners(results, USED).length, RACERS, "how many were told");
  },

  "of many decisions at once exactly one is kept, and its maker is told": async (bench) => {
    const { id } = await bench.store.create(sampleRequest());
    const results = await race(bench, (handle, n) =>
      handle.decide(id, n % 3 === 0 ? deny({ by: `by ${n}` }) : approve({ by: `by ${n}` })),
    );
    const kept = winners(results, USED);
    same(kept.length, 1, "how many were kept");
    same(await bench.other.get(id), kept[0], "what is kept");
    const winner = results.findIndex(({ status }) => status === "fulfilled");
    same(kept[0]?.decidedBy, `by ${winner}`, "who decided");
  },

  "a decision and the end of its time: whichever comes first stays": async (bench) => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await bench.store.create(sampleRequest({ callId: `call-${round}` }));
      const results = await race(bench, (handle, n) =>
        (n + round) % 2 === 0 ? handle.decide(id, approve()) : handle.expire(id),
      );
      const seen = new Set(winners(results, USED).map(({ status }) => status));
      same([...seen], [(await bench.store.get(id))?.status], "what everybody was told");
    }
  },

  "a use and a newer request: a decision that was replaced is never used, a used one never replaced": async (bench) => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await bench.store.create(sampleRequest({ callId: `call-${round}` }));
      await bench.store.decide(id, approve());
      const results = await race(bench, (handle, n) =>
        (n + round) % 2 === 0 ? handle.consume(id, "the token") : handle.supersede(id, "newer"),
      );
      const seen = new Set(winners(results, USED).map(({ status }) => status));
      same([...seen], [(await bench.store.get(id))?.status], "what everybody was told");
    }
  },

  "a decision made before anybody waits for it is there when they come": async ({ store, other }) => {
    const request = sampleRequest();
    // As a reviewer's hook would: decided while whoever asked is still about to save its pause.
    const { id } = await store.create(request);
    await other.decide(id, approve({ by: "ana" }));
    same((await store.create(request)).status, "approved", "the status on the next look");
    same((await store.consume(id, "token")).decidedBy, "ana", "who decided");
  },

  "many requests decided and used side by side do not touch each other": async (bench) => {
    const results = await race(bench, async (handle, n) => {
      const { id } = await handle.create(sampleRequest({ callId: `call-${n}` }));
      await handle.decide(id, n % 2 === 0 ? approve({ by: `by ${n}` }) : deny({ by: `by ${n}` }));
      return handle.consume(id, `token ${n}`);
    });
    for (const [n, record] of winners(results, USED).entries()) {
      same([record.status, record.request.callId, record.decidedBy], ["used", `call-${n}`, `by ${n}`], "the record");
    }
    same((await bench.store.list({ status: "used" })).length, RACERS, "how many were used");
  },
};

// W1: checkpoints of wire format 1, sealed once with node:crypto alone. Proved: every later version opens them, finds the same in them,
// goes on from them, and seals what the format says. The functions here are all that it takes to make such a fixture.
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { approve } from "agent-adapter";
import { resumeFlow, runFlow } from "agent-adapter/flow";
import { canonicalJson, type JsonValue } from "../../../src/crypto/canonical-json.js";
import { definitionOf } from "../../../src/flow/definition.js";
import { planOf } from "../../../src/flow/plan.js";
import { forgetProcess } from "../../support/process.js";
import { AT_MS, wireExecutor, wireFlow } from "../../support/wire-flow.js";
import { paused } from "./gates-rig.js";

afterEach(forgetProcess);

interface Fixture {
  readonly secret: string;
  readonly older: string;
  readonly owner: readonly [string, string, string];
  readonly checkpoints: readonly {
    readonly name: string;
    readonly iv: number;
    readonly key: "secret" | "older";
    readonly plain: JsonValue & {
      readonly progress: { readonly state: unknown };
      readonly tasks: readonly (readonly [string, { readonly asks: readonly { readonly binding: string }[] }])[];
    };
    readonly sealed: string;
  }[];
}

const text = readFileSync(new URL("../../fixtures/wire-v1/checkpoint.json", import.meta.url), "utf8");
const { secret, older, owner, checkpoints }: Fixture = JSON.parse(text);
const [waiting, unused, gate, behind] = checkpoints.map((one) => one.sealed);
const aad = (of: readonly string[]) => Buffer.from(canonicalJson(["agent-adapter/seal/v1", "checkpoint", [...of]]));
const keyIdOf = (key: string) => createHmac("sha256", key).update("agent-adapter/key-id/v1").digest("hex").slice(0, 8);
const aesOf = (key: string) =>
  new Uint8Array(hkdfSync("sha256", key, "", '["agent-adapter/seal/v1","checkpoint"]', 32));

function sealed(key: string, value: JsonValue, iv: Buffer): string {
  const cipher = createCipheriv("aes-256-gcm", aesOf(key), iv).setAAD(aad(owner));
  const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
  return `v1.${keyIdOf(key)}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url")}`;
}

function opened(key: string, of: readonly string[], envelope: string): unknown {
  const bytes = Buffer.from(envelope.split(".")[2] ?? "", "base64url");
  const decipher = createDecipheriv("aes-256-gcm", aesOf(key), bytes.subarray(0, 12)).setAAD(aad(of));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return JSON.parse(decipher.update(bytes.subarray(28), undefined, "utf8") + decipher.final("utf8"));
}

const program = (ran: string[], fails?: () => boolean) => ({
  flow: wireFlow(ran, fails),
  options: { executor: wireExecutor(ran, { secret: [secret, older] }) },
});

describe("W1/checkpoints, J3/checkpoints", () => {
  test("there is something to check, and it is what node:crypto seals", () => {
    expect(checkpoints).toHaveLength(4);
    for (const { key, iv, plain, sealed: envelope } of checkpoints)
      expect(sealed(key === "secret" ? secret : older, plain, Buffer.alloc(12, iv))).toBe(envelope);
  });

  test("the fingerprint of a flow is what it was", () => {
    const plan = planOf(definitionOf(wireFlow([])));
    expect(["flow", plan.name, plan.fingerprint]).toEqual(owner);
  });

  test("the fingerprint is over what the page says", () => {
    const described = {
      name: "wire-1",
      fields: [
        ["items", null],
        ["rates", "append"],
        ["receipt", null],
        ["rounds", null],
      ],
      nodes: [
        ["rates", ["map", "items", "rate", "rates"], false],
        ["notify", ["function"], false],
        ["send", ["function"], false],
        ["all", ["join"], false],
        ["place", ["function"], true],
        ["over", ["function"], false],
      ],
      edges: [
        ["rates", "notify", null, null],
        ["rates", "send", null, null],
        ["notify", "all", null, null],
        ["send", "all", null, null],
        ["all", "place", null, null],
      ],
      routes: [["place", ["place", "over"], { place: 3 }, null]],
      start: null,
      ends: ["over"],
    };
    const hash = createHash("sha256")
      .update(canonicalJson(["agent-adapter/flow/v1", described]))
      .digest("hex");
    expect(hash).toBe(owner[2]);
  });

  test("a run goes on where a call waits, without repeating what finished, from a new key ring", async () => {
    const ran: string[] = [];
    const { flow, options } = program(ran);
    const waits = paused(await resumeFlow(flow, waiting ?? "", null, options));
    expect(waits.pendings).toMatchObject([{ node: "send", request: { tool: "send", requestedBy: "requester" } }]);
    expect(waits.pending.binding).toBe(checkpoints[0]?.plain.tasks[1]?.[1].asks[0]?.binding);
    const next = paused(await resumeFlow(flow, waits.checkpoint, approve(), options));
    expect(next).toMatchObject({
      pending: { node: "place" },
      steps: 3,
      visits: { rates: 1, notify: 1, send: 1, all: 1 },
    });
    expect(next.state).toMatchObject({ rates: ["rate 1", "rate 2", "log 1"], receipt: "send 1" });
    expect(ran).toEqual(["send 1"]);
  });

  test("an answer that waits in it is used", async () => {
    const ran: string[] = [];
    const { flow, options } = program(ran);
    expect(paused(await resumeFlow(flow, unused ?? "", null, options)).pending.node).toBe("place");
    expect(ran).toEqual(["send 1"]);
  });

  test("a gate that waits under the older key is answered, loop and caps go on", async () => {
    const ran: string[] = [];
    const { flow, options } = program(ran);
    const again = paused(await resumeFlow(flow, gate ?? "", approve(), options));
    expect(again.pending.request).toMatchObject({ kind: "gate", arguments: { receipt: "send 1", rounds: 1 } });
    const done = await resumeFlow(flow, again.checkpoint, approve(), options);
    expect(done).toMatchObject({ status: "done", visits: { place: 2, over: 1 }, state: { rounds: 2 } });
    expect(ran).toEqual(["place send 1", "place send 1"]);
  });

  test("a gate that was passed is not asked about again, and its edit counts", async () => {
    const ran: string[] = [];
    const { flow, options } = program(ran);
    const next = paused(await resumeFlow(flow, behind ?? "", null, options));
    expect(next.pending.request.arguments).toEqual({ receipt: "grüße 😀", rounds: 1 });
    expect(ran).toEqual(["place grüße 😀"]);
  });

  test("what is sealed today has the members of format 1", async () => {
    const { flow, options } = program([]);
    const { checkpoint } = paused(
      await runFlow(flow, { items: [{ n: 1 }, { n: 2 }] }, { ...options, runId: "run-1", principal: "requester" }),
    );
    expect(opened(secret, owner, checkpoint)).toEqual(checkpoints[0]?.plain);
    expect(AT_MS).toBe(1_790_000_000_000);
  });
});

// Approvers with keys of their own: what their signature covers, and what they may decide about.
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { approve, deny, signDecision, type Approver, type SignatureAnswer } from "../../../src/index.js";
import { APPROVAL_TYPE, toReviewRequest } from "../../../src/approvals/review-request.js";
import { bindingOf } from "../../../src/approvals/request.js";
import { LangGraphApproval } from "../../../src/integrations/langgraph/index.js";
import { request } from "./requests.js";

const ana = generateKeyPairSync("ed25519");
const ben = generateKeyPairSync("ed25519");
const asked = request({ arguments: { euros: 5 } });
const interrupt = { id: "i", value: { type: APPROVAL_TYPE, binding: bindingOf(asked), request: asked } };
const shown = toReviewRequest(interrupt);

const portOf = (more: Partial<Approver> = {}) =>
  new LangGraphApproval({ approvers: [{ id: "ana", publicKey: ana.publicKey, ...more }] });
const signed = (decision = approve(), id = "ana", privateKey = ana.privateKey) =>
  signDecision(shown, decision, { privateKey, id });

describe("A3/ed25519: an approver's answer", () => {
  it("A3/ed25519: is good for the request that was shown, also after JSON; PEM keys work, too", () => {
    const pem = ana.publicKey.export({ type: "spki", format: "pem" }).toString();
    const wire: unknown = JSON.parse(JSON.stringify(signed(deny({ reason: "no" }))));
    for (const port of [portOf(), portOf({ publicKey: pem })]) expect(port.check(interrupt, wire)).toBe("ok");
  });

  it("A3/ed25519: covers every field, and no other key, id or kind of answer passes", () => {
    const port = portOf();
    const good = signed();
    const changes: Partial<SignatureAnswer>[] = [
      { decision: { approved: false } },
      { decision: { approved: true, editedArgs: { euros: 6 } } },
      { signedAt: good.signedAt + 1 },
      { expiresAt: good.expiresAt + 1 },
      { keyId: "ben" },
      { keyId: "__proto__" },
      // Not its end: one in sixty-four ends with what would stand there.
      { signature: `${good.signature.startsWith("A") ? "B" : "A"}${good.signature.slice(1)}` },
      { signature: `${good.signature}=` },
      { signature: "" },
    ];
    for (const change of changes) expect(port.check(interrupt, { ...good, ...change })).toBe("signature");
    expect(port.check(interrupt, signed(approve(), "ana", ben.privateKey))).toBe("signature");
    expect(port.check(interrupt, { ...good, binding: "0".repeat(64) })).toBe("binding");
    expect(port.check(interrupt, { ...good, mac: "x" })).toBe("malformed");
    const mac = new LangGraphApproval({ key: "a shared secret of 16+ bytes" }).resumeValue(interrupt, approve());
    expect(port.check(interrupt, mac)).toBe("signature");
    expect(port.check(interrupt, { ...mac, keyId: "ana" })).toBe("signature");
  });

  it("A3/ed25519: the process that verifies can sign nothing, and takes no key that could", () => {
    expect(() => portOf().resumeValue(interrupt, approve())).toThrow("signDecision");
    const pem = ana.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    for (const publicKey of [pem, ana.privateKey, "no key"]) expect(() => portOf({ publicKey })).toThrow("public key");
    const approvers = [{ id: "ana", publicKey: ana.publicKey }];
    expect(() => new LangGraphApproval({ approvers, key: "a shared secret of 16+ bytes" })).toThrow("leave out `key`");
    expect(() => new LangGraphApproval({ approvers: [] })).toThrow("nobody could approve");
    expect(() => new LangGraphApproval({ approvers: [...approvers, ...approvers] })).toThrow("same id");
  });

  it("A3/ed25519: mayDecide is asked about the request and, for an edit, about what would run instead", () => {
    const seen: unknown[] = [];
    const port = portOf({
      mayDecide: ({ arguments: args }) => {
        seen.push(args);
        return Number(args["euros"]) < 100;
      },
    });
    expect(port.check(interrupt, signed())).toBe("ok");
    expect(port.check(interrupt, signed(approve({ editedArgs: { euros: 50 } })))).toBe("ok");
    expect(port.check(interrupt, signed(approve({ editedArgs: { euros: 5000 } })))).toBe("signature");
    expect(seen).toContainEqual({ euros: 5000 });
  });

  it("A3/ed25519: anything but a plain yes of mayDecide is a no", () => {
    const answers: unknown[] = [false, undefined, 1, "yes", Promise.resolve(true)];
    for (const answer of answers) {
      expect(portOf({ mayDecide: () => answer as boolean }).check(interrupt, signed())).toBe("signature");
    }
    const throwing = () => {
      throw new Error("x");
    };
    expect(portOf({ mayDecide: throwing }).check(interrupt, signed())).toBe("signature");
  });

  it("A4/requests: an answer that was signed after the request had run out expires the request", async () => {
    const late = request({ expiresAt: 1000 });
    const pause = { id: "i", value: { type: APPROVAL_TYPE, binding: bindingOf(late), request: late } };
    const answer = (signedAt: number) =>
      signDecision(toReviewRequest(pause), approve(), {
        privateKey: ana.privateKey,
        id: "ana",
        signedAt,
        answerTtlMs: 1e14,
      });
    const port = portOf();
    const given = { binding: bindingOf(late), request: late };
    expect(await port.decide(given, answer(1001))).toMatchObject({ status: "expired" });
    expect(await port.decide(given, answer(1000))).toMatchObject({ status: "decided", decidedBy: "ana" });
  });
});

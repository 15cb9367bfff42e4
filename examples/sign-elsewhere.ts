// Signs an answer with nothing but node:crypto, as docs/reference/wire-formats.md describes it, and sends it to a real
// graph. What works here works in any language. Checks itself.

import { createDecipheriv, createHash, createHmac, hkdfSync } from "node:crypto";
import { Conversation, type Pause } from "./support/conversation.js";
import { demoKey, tools } from "./support/after.js";
import { finish, heading, tried } from "./support/page.js";
import { buildShop, scriptFor } from "./support/shop.js";

// region: primitives
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** RFC 8785: no spaces, keys in UTF-16 code-unit order, numbers and strings as ECMAScript writes them. */
function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const names = Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1));
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join(",")}}`;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: Uint8Array | string, text: string) => createHmac("sha256", key).update(text).digest();
const hkdf = (secret: string, info: string) => new Uint8Array(hkdfSync("sha256", secret, "", info, 32));
const keyIdOf = (secret: string) => hmac(secret, "agent-adapter/key-id/v1").toString("hex").slice(0, 8);
const bindingOf = (request: Json) => sha256(canonical(["agent-adapter/binding/v1", request]));
// endregion

// region: sign
function sign(secret: string, request: Json, decision: { [key: string]: Json }): Json {
  const [binding, keyId] = [bindingOf(request), keyIdOf(secret)];
  const signedAt = Date.now();
  const expiresAt = signedAt + 60 * 60 * 1000;
  const covered = ["agent-adapter/answer/v1", [binding, decision, signedAt, expiresAt, keyId]];
  const mac = hmac(hkdf(secret, "agent-adapter/answer/v1"), canonical(covered)).toString("base64url");
  return { binding, decision, signedAt, expiresAt, keyId, mac };
}
// endregion

// region: open
function open(secret: string, purpose: string, owner: Json, envelope: string): Json {
  const [version, keyId, body = ""] = envelope.split(".");
  if (version !== "v1" || keyId !== keyIdOf(secret)) throw new Error("another version or key");
  const bytes = Buffer.from(body, "base64url");
  const key = hkdf(secret, canonical(["agent-adapter/seal/v1", purpose]));
  const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28));
  cipher.setAAD(Buffer.from(canonical(["agent-adapter/seal/v1", purpose, owner])));
  return JSON.parse(cipher.update(bytes.subarray(28), undefined, "utf8") + cipher.final("utf8"));
}
// endregion

/** The fields of the interrupt value that are described in the page. */
function fieldsOf(pause: Pause) {
  // It came out of a checkpointer, so it is JSON.
  const value = JSON.parse(JSON.stringify(pause.value)) as { binding: string; request: Json; aa_state: string };
  const { taskRun } = value.request as { taskRun: string[] };
  return { ...value, taskRun };
}

async function main(): Promise<void> {
  heading("An answer made with node:crypto alone");
  const thread = new Conversation(buildShop(tools, scriptFor("2026-09")), "elsewhere-1");
  const pause = await thread.start("Send the statement.");
  const { binding, request, aa_state, taskRun } = fieldsOf(pause);
  tried("the binding, computed again", bindingOf(request), binding);
  const ask = open(demoKey, "ask", taskRun, aa_state);
  tried("the request inside the seal", canonical((ask as { request: Json }).request), canonical(request));
  const wrong = sign("not the key of the graph", request, { approved: true });
  tried("another key", await thread.resume({ [pause.id]: wrong }), "refused: invalid answer, nothing ran");
  const answer = sign(demoKey, request, { approved: true, editedArgs: { period: "2026-10" }, by: "ana" });
  tried("the key of the graph", await thread.resume({ [pause.id]: answer }), "ran send_statement 2026-10");
  finish();
}

await main();

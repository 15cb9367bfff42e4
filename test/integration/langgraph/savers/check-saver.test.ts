// LangGraph's own checkpointers keep private writes as approvals need them, open and encrypted.
import { afterAll, describe, expect, it } from "vitest";
import { encryptedSaver } from "agent-adapter/langgraph";
import { assertSaver, checkSaver } from "agent-adapter/testing";
import { reportSkipped } from "../../../support/postgres.js";
import { engines, piecesOf } from "../../../support/savers.js";

const key = "a key for checkpointers, 32 bytes";
const all = engines();

afterAll(async () => {
  reportSkipped(2, "checkSaver on PostgreSQL");
  for (const engine of all) await engine.stop();
});

describe.each(all)("$name", ({ open }) => {
  it("J4/check-saver: keeps every promise", async () => {
    const storage = await open();
    const options = { reopen: () => storage.another() };
    const broken = (await checkSaver(storage.saver, options)).filter(({ ok }) => !ok);
    expect(broken).toEqual([]);
    expect(await piecesOf(storage), "what is left behind").toEqual([]);
    await storage.close();
  }, 60_000);

  it("R7, J4/check-saver: keeps every promise when it is encrypted", async () => {
    const storage = await open();
    const saver = encryptedSaver(storage.saver, { key });
    const reopen = () => encryptedSaver(storage.another(), { key });
    await expect(assertSaver(saver, { reopen })).resolves.toBeUndefined();
    await storage.close();
  }, 60_000);
});

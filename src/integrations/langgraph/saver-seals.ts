// What stands in the rows of an encrypted checkpointer: `aa:sealed:` and an envelope around the type and the bytes that
// LangGraph's serializer gives. Owns that text; which value belongs where is the caller's.

import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { FlowError } from "../../index.js";
import { openSealedBytes, sealBytes, type KeyRing } from "../../spi.js";

/** Where a value is kept; it opens there only. */
export type Place = readonly string[];

const MARK = "aa:sealed:";
const PLAINTEXT =
  "this checkpointer holds a value that is not encrypted; nothing was run. Rows from before encryption are read with `allowPlaintext`";

export class SaverSeals {
  readonly #keys: KeyRing;
  readonly #serde: BaseCheckpointSaver["serde"];
  readonly #allowPlaintext: boolean;

  constructor(keys: KeyRing, serde: BaseCheckpointSaver["serde"], allowPlaintext: boolean) {
    this.#keys = keys;
    this.#serde = serde;
    this.#allowPlaintext = allowPlaintext;
  }

  /** The value as it is when this is called: it is serialized before anything is awaited. */
  async seal(place: Place, value: unknown): Promise<string> {
    const [type, data] = await this.#serde.dumpsTyped(value);
    const name = new TextEncoder().encode(type);
    // The type inside, behind its length: some savers forget it, and nobody may change it.
    const bytes = new Uint8Array(1 + name.length + data.length);
    bytes[0] = name.length;
    bytes.set(name, 1);
    bytes.set(data, 1 + name.length);
    return MARK + sealBytes(this.#keys, { purpose: "saver", owner: [...place] }, bytes);
  }

  /** @throws FlowError when it is not exactly what was sealed for this place */
  async open(place: Place, stored: unknown): Promise<unknown> {
    if (!isSealed(stored)) {
      if (this.#allowPlaintext) return stored;
      throw new FlowError(PLAINTEXT);
    }
    const envelope = stored.slice(MARK.length);
    const bytes = openSealedBytes(this.#keys, { purpose: "saver", owner: [...place] }, envelope);
    const end = 1 + (bytes[0] ?? 0);
    return this.#serde.loadsTyped(new TextDecoder().decode(bytes.subarray(1, end)), bytes.slice(end));
  }
}

function isSealed(stored: unknown): stored is string {
  return typeof stored === "string" && stored.startsWith(MARK);
}

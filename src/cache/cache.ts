// `ResultCache` port: texts under keys, for a time. Knows nothing of tools; what a key covers is in key.ts.

/** Where results of reading tools are kept. Shared by everybody who makes the same key. */
export interface ResultCache {
  /** The text under this key; `undefined` when there is none or its time is over. */
  get(key: string): Promise<string | undefined>;
  /** Keep a text, in place of an older one. `expiresAt` in milliseconds since the epoch: gone from then on; `undefined`: no end. */
  set(key: string, json: string, expiresAt: number | undefined): Promise<void>;
}

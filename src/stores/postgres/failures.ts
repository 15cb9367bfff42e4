// What went wrong with a statement on PostgreSQL, and whether sending it again can help. Every statement of ours may be sent
// again, also one that was carried out and whose answer was lost (sql-client.ts, Q2).

/** SQLSTATE classes and codes that pass by themselves. */
const PASSING = [
  /^08/, // connection exceptions
  /^57P0[1-5]$/, // the server stops, starts, or ended the session
  /^40(001|P01)$/, // serialization failure, deadlock
  /^53[03]00$/, // out of resources or connections
  /^55P03$/, // a lock was not available
  /^25006$/, // read-only: a standby that is not yet, or the primary that is no longer
];
const NETWORK = /^(ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_AGAIN$|EHOSTUNREACH$|ENETUNREACH$|ENOENT$)/;
/** `pg` gives lost connections no code. */
const LOST =
  /connection (terminated|ended|timeout|closed)|connection error|not queryable|timeout exceeded when trying to connect/i;

export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (code === undefined) return LOST.test(error.message) || partsOf(error).some(mayPass);
  return NETWORK.test(code) || PASSING.some((pattern) => pattern.test(code));
}

/** Two sessions made the same thing at once: looking again finds it. */
export function isAlreadyThere(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(23505|42P0[67]|42710)$/.test(String(error.code));
}

/** Node tries every address of a name and throws all failures as one. */
function partsOf(error: Error): readonly unknown[] {
  return error instanceof AggregateError ? error.errors : [];
}

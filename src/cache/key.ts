// What makes two calls the same for a cache: the tool's definition, the parsed arguments, and who may share the result.

import type { JsonValue } from "../crypto/canonical-json.js";
import { digest } from "../crypto/digest.js";

interface CacheKeyParts {
  readonly definitionDigest: string;
  /** Parsed, as they would run. */
  readonly arguments: unknown;
  /** Who may share the result, tagged, so that no two kinds meet: `["shared"]`, `["principal", "ana"]`, `["run", threadId, runId]`. */
  readonly scope: readonly JsonValue[];
}

/**
 * The key of a call's result: lower-case hex, the same in every process.
 *
 * @throws NotJson when arguments or scope are not JSON: such a call cannot be cached
 * @example cacheKey({ definitionDigest: spec.definitionDigest, arguments: { city: "Rome" }, scope: ["shared"] })
 */
export function cacheKey({ definitionDigest, arguments: args, scope }: CacheKeyParts): string {
  return digest("agent-adapter/cache/v1", [definitionDigest, args, scope]);
}

// What an executor is made of, settled once: every option with its default. Read by the stages and by framework adapters.

import type { ClaimStore } from "../approvals/claim-store.js";
import type { ApprovalPort } from "../approvals/port.js";
import { systemClock, type Clock } from "../async/clock.js";
import { DEFAULT_JSON_LIMITS, type JsonLimits } from "../crypto/canonical-json.js";
import { KeyRing, type Secrets } from "../crypto/keys.js";
import { randomId } from "../crypto/random.js";
import { ToolUsageError } from "../errors.js";
import { completeHook, type Hook } from "../hooks/hook.js";
import type { Ledger } from "../ledger/ledger.js";
import { MemoryLedger } from "../ledger/memory-ledger.js";
import { MemoryCache } from "../cache/memory-cache.js";
import type { ResultCache } from "../cache/cache.js";
import type { Registry } from "../tools/registry.js";
import type { ConfirmPredicate } from "../tools/spec.js";
import { settlePolicy, type Policy } from "./policy.js";
import type { Logger } from "../tools/logger.js";

export interface ExecutorOptions<Names extends string = string> {
  /** Who decides about calls that need a human. Without one such calls are refused. */
  readonly approval?: ApprovalPort;
  /**
   * The root secret, at least 16 bytes (32 recommended), the same in every process; `[current, ...older]` to rotate.
   * Default: the approval port's key, else a random one of this process.
   */
  readonly secret?: Secrets;
  readonly hooks?: readonly Partial<Hook>[];
  /** Uses of answers beyond this process and beyond what a rolled-back checkpointer forgets. Default: none. */
  readonly claims?: ClaimStore;
  /** Default: a `MemoryLedger`. */
  readonly ledger?: Ledger;
  /** Ask more than the tools say, never less. Names are checked here, and by the compiler for `new Registry([...])`. */
  readonly policy?: Policy<NoInfer<Names>>;
  /** Where results of tools with `cache` are kept, and first results of `oncePerRun` tools beyond the process. Default: in memory. */
  readonly cache?: ResultCache;
  /** How many parallel-safe calls of a batch run at once. Default: no cap. */
  readonly concurrency?: number;
  /** Who a run acts for, from what the host knows: LangGraph's `configurable`. A `principal` given to `context()` wins. */
  readonly principal?: (source: unknown) => string | undefined;
  /** How deep and how large arguments may be. Default: depth 64, 1 MiB of canonical JSON. */
  readonly limits?: Partial<JsonLimits>;
  /** Default: says nothing. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

export interface ExecutorParts {
  readonly id: string;
  readonly registry: Registry;
  readonly port: ApprovalPort | undefined;
  readonly keys: KeyRing;
  readonly claims: ClaimStore | undefined;
  readonly hooks: readonly Hook[];
  readonly ledger: Ledger;
  readonly policy: ReadonlyMap<string, true | ConfirmPredicate<never>>;
  readonly cache: ResultCache;
  /** The cache that was given: other processes may share it. */
  readonly sharedCache: ResultCache | undefined;
  /** Cached calls that are running now, by cache key. Never reject. */
  readonly inFlight: Map<string, Promise<unknown>>;
  readonly concurrency: number;
  readonly principal: (source: unknown) => string | undefined;
  readonly limits: JsonLimits;
  readonly logger: Logger;
  readonly clock: Clock;
}

const OPTIONS: Readonly<Record<keyof ExecutorOptions, true>> = {
  approval: true,
  secret: true,
  hooks: true,
  claims: true,
  ledger: true,
  policy: true,
  cache: true,
  concurrency: true,
  principal: true,
  limits: true,
  logger: true,
  clock: true,
};

/** @throws ToolUsageError naming the option that is unknown or cannot be used */
export function settleParts(registry: Registry, options: ExecutorOptions): ExecutorParts {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) throw new ToolUsageError(`new Executor: there is no option ${JSON.stringify(unknown)}`);
  const { approval, clock = systemClock } = options;
  const parts: ExecutorParts = {
    id: randomId(),
    registry,
    port: approval,
    keys: rootKeys(options),
    claims: options.claims,
    policy: settlePolicy(registry, options.policy ?? {}),
    concurrency: settleConcurrency(options.concurrency),
    limits: settleLimits(options.limits),
    clock,
    ...surroundings(options, clock),
  };
  approval?.attach({ ...parts, tool: (name) => registry.get(name) });
  return parts;
}

/** What the executor talks to, each with its default. */
function surroundings(
  { hooks = [], ledger, cache, principal = nobody, logger = silent }: ExecutorOptions,
  clock: Clock,
) {
  return {
    hooks: hooks.map(completeHook),
    ledger: ledger ?? new MemoryLedger(),
    cache: cache ?? new MemoryCache({ clock }),
    sharedCache: cache,
    inFlight: new Map<string, Promise<unknown>>(),
    principal,
    logger,
  };
}

function settleConcurrency(given = Number.POSITIVE_INFINITY): number {
  if (given === Number.POSITIVE_INFINITY || (Number.isInteger(given) && given > 0)) return given;
  throw new ToolUsageError("new Executor: concurrency must be a whole number above 0");
}

const nobody = () => undefined;
const quiet = () => undefined;
const silent: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function rootKeys({ secret, approval }: ExecutorOptions): KeyRing {
  return secret === undefined ? (approval?.keys ?? KeyRing.forProcess()) : KeyRing.of(secret, "secret");
}

function settleLimits(given: Partial<JsonLimits> = {}): JsonLimits {
  const limits = { ...DEFAULT_JSON_LIMITS, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!(Number.isInteger(value) && value > 0)) {
      throw new ToolUsageError(`new Executor: limits.${name} must be a whole number above 0`);
    }
  }
  return limits;
}

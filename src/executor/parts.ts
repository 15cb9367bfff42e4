// What an executor is made of, settled once: every option with its default. Read by the stages and by framework adapters.

import type { ClaimStore } from "../approvals/claim-store.js";
import type { ApprovalPort } from "../approvals/port.js";
import { systemClock, type Clock } from "../async/clock.js";
import { checkConcurrency } from "../async/limit.js";
import { DEFAULT_JSON_LIMITS, isWellFormed, type JsonLimits } from "../crypto/canonical-json.js";
import { KeyRing, type Secrets } from "../crypto/keys.js";
import { randomId } from "../crypto/random.js";
import { ToolUsageError } from "../errors.js";
import { completeHook, type Hook } from "../hooks/hook.js";
import type { Ledger } from "../ledger/ledger.js";
import { MemoryLedger } from "../ledger/memory-ledger.js";
import { MemoryCache } from "../cache/memory-cache.js";
import type { ResultCache } from "../cache/cache.js";
import { countOption, refuseMissing, refuseUnknown } from "../options.js";
import type { Registry } from "../tools/registry.js";
import type { ConfirmPredicate } from "../tools/spec.js";
import { settlePolicy, type Policy } from "./policy.js";
import type { Logger } from "../tools/logger.js";

/** What an executor is made of. Every option has a default. */
export interface ExecutorOptions<Names extends string = string> {
  /** Who decides about calls that need a human. Without one such calls are refused. */
  readonly approval?: ApprovalPort;
  /**
   * The root secret, at least 16 bytes (32 recommended), the same in every process; `[current, ...older]` to rotate.
   * Default: the approval port's key, else a random one of this process.
   */
  readonly secret?: Secrets;
  /** Around every call, the first one outermost. Default: none. */
  readonly hooks?: readonly Partial<Hook>[];
  /** Uses of answers beyond this process and beyond what a rolled-back checkpointer forgets. Default: none. */
  readonly claims?: ClaimStore;
  /** Default: a `MemoryLedger`. */
  readonly ledger?: Ledger;
  /**
   * Ask more than the tools say, never less. Names are checked here, and by the compiler for `new Registry([...])`. Default:
   * what the tools say.
   */
  readonly policy?: Policy<NoInfer<Names>>;
  /** Where results of tools with `cache` are kept, and first results of `oncePerRun` tools beyond the process. Default: in memory. */
  readonly cache?: ResultCache;
  /** How many parallel-safe calls of a batch run at once. Default: no cap. */
  readonly concurrency?: number;
  /**
   * Who a run acts for, from what the host knows: LangGraph's `configurable`. A `principal` given to `context()` wins.
   * Default: nobody.
   */
  readonly principal?: (source: unknown) => string | undefined;
  /** How deep (at most 240) and how large arguments may be. Default: depth 64, 1 MiB of canonical JSON. */
  readonly limits?: Partial<JsonLimits>;
  /** Default: says nothing. */
  readonly logger?: Logger;
  /** Every date and every wait comes from it. Default: the system's. */
  readonly clock?: Clock;
}

/** What an executor was settled to: every option with its default filled in. */
export interface ExecutorParts {
  /** Random, of this executor: claims of this process are made under it. */
  readonly id: string;
  /** The tools it runs. */
  readonly registry: Registry;
  /** Who decides; `undefined`: calls that need a human are refused. */
  readonly port: ApprovalPort | undefined;
  /** Seals, and signs when the port has no key of its own. */
  readonly keys: KeyRing;
  /** Uses of answers beyond this process. */
  readonly claims: ClaimStore | undefined;
  /** Complete hooks, the first one outermost. */
  readonly hooks: readonly Hook[];
  /** Where calls are recorded. */
  readonly ledger: Ledger;
  /** Rules by tool name, on top of the tools' own. */
  readonly policy: ReadonlyMap<string, true | ConfirmPredicate<never>>;
  /** Where results are kept. */
  readonly cache: ResultCache;
  /** The cache that was given: other processes may share it. */
  readonly sharedCache: ResultCache | undefined;
  /** Cached calls that are running now, by cache key. Never reject. */
  readonly inFlight: Map<string, Promise<unknown>>;
  /** Parallel-safe calls of a batch at once; `Infinity` without a cap. */
  readonly concurrency: number;
  /** Who a run acts for, from what the host knows. */
  readonly principal: (source: unknown) => string | undefined;
  /** How deep and how large arguments may be. */
  readonly limits: JsonLimits;
  /** Where it says what happened. */
  readonly logger: Logger;
  /** Every date and every wait comes from it. */
  readonly clock: Clock;
}

/** @throws ToolUsageError naming the option that is unknown or cannot be used */
export function settleParts(registry: Registry, options: ExecutorOptions): ExecutorParts {
  const { approval, secret, claims, policy = {}, concurrency = Number.POSITIVE_INFINITY, limits, ...rest } = options;
  checkConcurrency(concurrency);
  refuseMissing("new Executor", "secret", options);
  refuseUnfit("approval", approval, ["attach", "verify", "decide"]);
  refuseUnfit("ledger", rest.ledger, ["open", "close", "entries", "totals"]);
  refuseUnfit("cache", rest.cache, ["get", "set"]);
  refuseUnfit("claims", claims, ["claim"]);
  const parts: ExecutorParts = {
    id: randomId(),
    registry,
    port: approval,
    keys: secret === undefined ? (approval?.keys ?? KeyRing.forProcess()) : KeyRing.of(secret, "secret"),
    claims,
    policy: settlePolicy(registry, policy),
    concurrency,
    limits: settleLimits(limits),
    ...surroundings(rest),
  };
  approval?.attach({ ...parts, tool: (name) => registry.get(name) });
  return parts;
}

/** A port is known by its methods; something else must not be found out at the first call. */
function refuseUnfit(option: string, port: object | undefined, methods: readonly string[]): void {
  if (port === undefined) return;
  const missing = methods.find((name) => typeof Reflect.get(port, name) !== "function");
  if (missing !== undefined) throw new ToolUsageError(`new Executor: ${option} has no ${missing}(), so it is none`);
}

type Surroundings = Pick<ExecutorOptions, "hooks" | "ledger" | "cache" | "principal" | "logger" | "clock">;

/** What the executor talks to, each with its default. */
function surroundings(options: Surroundings) {
  const { hooks = [], ledger, cache, principal = nobody, logger = silent, clock = systemClock, ...rest } = options;
  refuseUnknown("new Executor", rest);
  return {
    hooks: hooks.map(completeHook),
    ledger: ledger ?? new MemoryLedger(),
    cache: cache ?? new MemoryCache({ clock }),
    sharedCache: cache,
    inFlight: new Map<string, Promise<unknown>>(),
    principal: (source: unknown) => checkedPrincipal(principal(source)),
    logger: harmless(logger),
    clock,
  };
}

const nobody = () => undefined;
const quiet = () => undefined;
const silent: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** A logger that fails takes nobody's result away. */
function harmless(logger: Logger): Logger {
  const tell =
    (level: keyof Logger): Logger["warn"] =>
    (...what) => {
      try {
        logger[level](...what);
      } catch {
        // There is nobody to tell.
      }
    };
  return { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error") };
}

/** It becomes a part of requests: what cannot be shown there would leave a pause that nobody can answer. */
function checkedPrincipal(principal: unknown): string | undefined {
  if (principal === undefined || isWellFormed(principal)) return principal;
  throw new ToolUsageError("the executor's `principal` must return well-formed text or undefined");
}

/** JSON here ends at 256 containers, and a request, its record and a seal put some more around arguments. */
const MAX_DEPTH = 240;

function settleLimits(given: Partial<JsonLimits> = {}): JsonLimits {
  const { maxDepth = DEFAULT_JSON_LIMITS.maxDepth, maxBytes = DEFAULT_JSON_LIMITS.maxBytes, ...rest } = given;
  refuseUnknown("new Executor, limits", rest);
  if (countOption("new Executor", "limits.maxDepth", maxDepth) > MAX_DEPTH)
    throw new ToolUsageError(`new Executor: limits.maxDepth is at most ${MAX_DEPTH}`);
  return {
    maxDepth,
    maxBytes: countOption("new Executor", "limits.maxBytes", maxBytes),
  };
}

// What every node of this package can be told about keeping finished calls, and which nodes may ask (for `assertSafe` and
// `resume`). Owns the defaults.

import { ToolUsageError, type Executor } from "../../index.js";
import { countOption } from "../../spi.js";
import { membersOf } from "./members.js";

/**
 * When finished calls that used no approval are written beside the task, sealed, so that another process replays them:
 * `"pause"` when the node pauses, `"call"` as each call finishes, `false` never (another process runs them again).
 */
export type Durable = "pause" | "call" | false;

/** What is kept of finished calls beside their task. */
export interface DurableOptions {
  /** Default `"pause"`. What an approved call came to is always written at once. */
  readonly durable?: Durable;
  /** A larger result stays in this process: another one runs the call again, or refuses it if it was approved. Default 1 MiB. */
  readonly maxEntryBytes?: number;
}

export interface NodeSettings {
  readonly durable: Durable;
  readonly maxEntryBytes: number;
}

const MIB = 1024 * 1024;

/** What was given of `DurableOptions`, taken out of a node's own options. */
type Given = { readonly [Option in keyof DurableOptions]: DurableOptions[Option] | undefined };

/** @throws ToolUsageError naming node and option */
export function settleNode(node: string, { durable = "pause", maxEntryBytes = MIB }: Given): NodeSettings {
  if (durable !== "pause" && durable !== "call" && durable !== false) {
    throw new ToolUsageError(`${node}: durable must be "pause", "call" or false`);
  }
  return { durable, maxEntryBytes: countOption(node, "maxEntryBytes", maxEntryBytes) };
}

const ASKING = new WeakMap<object, Executor>();

/** Remember that this node may ask a human, and through which executor. */
export function markAsking<Node extends object>(node: Node, executor: Executor): Node {
  ASKING.set(node, executor);
  return node;
}

/** The executors that a node asks through: its own when it is one of this package, else those of the tools it holds. */
export function executorsOf(node: unknown): readonly Executor[] {
  const own = executorAt(node);
  if (own !== undefined) return [own];
  const { tools } = membersOf(node);
  return Array.isArray(tools) ? tools.flatMap((tool: unknown) => executorAt(tool) ?? []) : [];
}

function executorAt(value: unknown): Executor | undefined {
  return typeof value === "object" || typeof value === "function" ? ASKING.get(value ?? {}) : undefined;
}

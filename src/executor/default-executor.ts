// One executor per registry for those who do not bring their own.

import type { Registry } from "../tools/registry.js";
import { Executor } from "./executor.js";
import type { ExecutorOptions } from "./parts.js";

const DEFAULTS = new WeakMap<Registry, Executor>();

/** The registry's shared executor; the options count only when it does not exist yet. */
export function defaultExecutor(registry: Registry, options: () => ExecutorOptions): Executor {
  const known = DEFAULTS.get(registry);
  if (known !== undefined) return known;
  const made = new Executor(registry, options());
  DEFAULTS.set(registry, made);
  return made;
}

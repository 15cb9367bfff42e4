// `Registry`: the tools a program has, in the order they were added. Names that came from a model meet a Map only.

import { ToolUsageError } from "../errors.js";
import { defineTool, isToolSpec } from "./define-tool.js";
import type { AnyToolSpec, CallerArguments, InputSchema, ToolOptions, ToolSpec } from "./spec.js";

/**
 * Holds tools by name. Throws `ToolUsageError` on a second tool of one name and on what `defineTool` did not make.
 *
 * @example
 * const registry = new Registry([search]);
 * const pay = registry.tool({ name: "pay", ... });
 */
export class Registry implements Iterable<AnyToolSpec> {
  readonly #specs = new Map<string, AnyToolSpec>();

  constructor(specs: Iterable<AnyToolSpec> = []) {
    for (const spec of specs) this.add(spec);
  }

  /** Adds a defined tool. */
  add(spec: AnyToolSpec): this {
    if (!isToolSpec(spec)) {
      throw new ToolUsageError("a registry holds what defineTool returned, itself: not a copy, not plain options");
    }
    if (this.#specs.has(spec.name)) {
      throw new ToolUsageError(`tool "${spec.name}": bad option "name": a tool of that name is registered already`, {
        tool: spec.name,
      });
    }
    this.#specs.set(spec.name, spec);
    return this;
  }

  /** Defines a tool and adds it. */
  tool<Schema extends InputSchema, Out, const Name extends string>(
    options: ToolOptions<Schema, Out, Name>,
  ): ToolSpec<CallerArguments<Schema>, Out, Name> {
    const spec = defineTool(options);
    this.add(spec);
    return spec;
  }

  /** The tool of that name, if any. */
  get(name: string): AnyToolSpec | undefined {
    return this.#specs.get(name);
  }

  has(name: string): boolean {
    return this.#specs.has(name);
  }

  /** All tools, in the order they were added. */
  list(): readonly AnyToolSpec[] {
    return [...this.#specs.values()];
  }

  /** A new registry with these tools only, in this registry's order; an unknown name is a `ToolUsageError`. */
  subset(names: Iterable<string>): Registry {
    const wanted = new Set(names);
    for (const name of wanted) {
      if (!this.#specs.has(name))
        throw new ToolUsageError(`subset: no tool named ${JSON.stringify(name)} is registered`);
    }
    return new Registry(this.list().filter((spec) => wanted.has(spec.name)));
  }

  [Symbol.iterator](): IterableIterator<AnyToolSpec> {
    return this.list()[Symbol.iterator]();
  }
}

// `Registry`: the tools a program has, in the order they were added. Names that came from a model meet a Map only.

import { ToolUsageError } from "../errors.js";
import { defineTool, isToolSpec } from "./define-tool.js";
import { readOnce, refused } from "./options.js";
import type { AnyToolSpec, CallerArguments, InputSchema, ToolOptions, ToolSpec } from "./spec.js";

// Never present at run time: it only carries a type.
declare const NAMES: unique symbol;

/** How strict a registry is. */
export interface RegistryOptions {
  /** Refuse a `destructive` tool that does not say `confirm` (`confirm: false` says it). Default `false`. */
  readonly strict?: boolean;
}

/**
 * Holds tools by name.
 * `Names` are the names of the tools it was made with, for an executor's `policy`; names added later are not in the type.
 *
 * @example
 * const registry = new Registry([shippingRate], { strict: true });
 * const greet = registry.tool({
 *   name: "greet",
 *   description: "A greeting.",
 *   inputSchema: z.object({ name: z.string() }),
 *   effects: "read",
 *   execute: ({ name }) => `Hello, ${name}.`,
 * });
 */
export class Registry<Names extends string = string> implements Iterable<AnyToolSpec> {
  declare readonly [NAMES]?: Names;
  readonly #specs = new Map<string, AnyToolSpec>();
  readonly #strict: boolean;

  /** @throws ToolUsageError as `add`, or naming the option that cannot be used */
  constructor(specs: Iterable<ToolSpec<never, unknown, Names>> = [], options: RegistryOptions = {}) {
    this.#strict = strictOption(options);
    for (const spec of specs) this.add(spec);
  }

  /**
   * Adds a defined tool.
   *
   * @throws ToolUsageError when a tool of that name is there, `defineTool` did not make it, or it is not `strict` enough
   */
  add(spec: AnyToolSpec): this {
    if (!isToolSpec(spec)) {
      throw new ToolUsageError("a registry holds what defineTool returned, itself: not a copy, not plain options");
    }
    if (this.#specs.has(spec.name)) throw refused(spec.name, "name", "a tool of that name is registered already");
    if (this.#strict && spec.effects === "destructive" && !spec.confirmStated) {
      throw refused(
        spec.name,
        "confirm",
        "in a strict registry a destructive tool says confirm: true, false or a function",
      );
    }
    this.#specs.set(spec.name, spec);
    return this;
  }

  /**
   * Defines a tool and adds it.
   *
   * @throws ToolUsageError as `defineTool` and `add`
   */
  // Three type parameters: the literal name is the third (see ToolSpec).
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

  /** Is there a tool of that name? */
  has(name: string): boolean {
    return this.#specs.has(name);
  }

  /** All tools, in the order they were added. */
  list(): readonly AnyToolSpec[] {
    return [...this.#specs.values()];
  }

  /**
   * A new registry, as strict, with these tools only, in this one's order.
   *
   * @throws ToolUsageError when there is no tool of one of the names
   */
  subset<const Part extends string>(names: Iterable<Part>): Registry<Part> {
    const wanted = new Set<string>(names);
    for (const name of wanted) {
      if (!this.#specs.has(name))
        throw new ToolUsageError(`subset: no tool named ${JSON.stringify(name)} is registered`);
    }
    const part = new Registry<Part>([], { strict: this.#strict });
    for (const spec of this.list()) if (wanted.has(spec.name)) part.add(spec);
    return part;
  }

  [Symbol.iterator](): IterableIterator<AnyToolSpec> {
    return this.list()[Symbol.iterator]();
  }
}

function strictOption(options: unknown): boolean {
  if (typeof options !== "object" || options === null) {
    throw new ToolUsageError("new Registry: its options must be an object: { strict }");
  }
  const { strict = false, ...others } = Object.fromEntries(readOnce(options, ["strict"]));
  // A misspelt option must not silently make a registry less strict.
  for (const other of Object.keys(others)) {
    throw new ToolUsageError(`new Registry: bad option "${other}": there is no such option; known: strict`);
  }
  if (typeof strict === "boolean") return strict;
  throw new ToolUsageError('new Registry: bad option "strict": it must be true or false');
}

// A state field of a flow as a LangGraph channel: its merge rule sees all writes of a step at once. Kept as JSON text, so that no
// serializer changes what is in it.
//   F1  LangGraph's `Overwrite` (a parsed input, a reviewer's edit) replaces the value before the writes of the step count

import { BaseChannel, EmptyChannelError } from "@langchain/langgraph";
import { FlowError } from "../../../index.js";
import { exactJson, fieldValue, mergeField, type Field, type JsonValue } from "../../../spi.js";
import { isRevived } from "../revived.js";

const OVERWRITE = "__overwrite__";
/** Beside it: there is no value from now on. */
const NOTHING = "aa_nothing";

export class FieldChannel extends BaseChannel<JsonValue, unknown> {
  override lc_graph_name = "AgentAdapterField";
  readonly #field: Field;
  #held: { readonly value: JsonValue } | undefined;
  #text: string | undefined;

  constructor(field: Field) {
    super();
    this.#field = field;
  }

  override fromCheckpoint(checkpoint?: unknown): this {
    const channel = new FieldChannel(this.#field);
    if (typeof checkpoint === "string") channel.#hold(JSON.parse(checkpoint), checkpoint);
    // A channel of the same class and field, which is all that `this` says here.
    return channel as this;
  }

  override update(writes: unknown[]): boolean {
    const overwrites = writes.filter(isOverwrite);
    const values = writes
      .filter((write) => !isOverwrite(write))
      .map((write) => fieldValue(this.#field.name, write, "a write"));
    const last = overwrites.at(-1);
    if (last !== undefined && Object.hasOwn(last, NOTHING)) this.#held = this.#text = undefined;
    const current =
      last === undefined || Object.hasOwn(last, NOTHING)
        ? this.#held?.value
        : fieldValue(this.#field.name, last[OVERWRITE], "an overwrite");
    if (values.length > 0) this.#hold(mergeField(this.#field, current, new Set(), values));
    else if (current !== undefined && last !== undefined) this.#hold(current);
    return writes.length > 0;
  }

  override get(): JsonValue {
    if (this.#held === undefined) throw new EmptyChannelError();
    return this.#held.value;
  }

  override isAvailable(): boolean {
    return this.#held !== undefined;
  }

  override checkpoint(): JsonValue {
    this.#text ??= exactJson(this.get());
    return this.#text;
  }

  override equals(other: BaseChannel): boolean {
    return other instanceof FieldChannel && other.#field === this.#field;
  }

  #hold(value: unknown, text?: string): void {
    this.#held = { value: fieldValue(this.#field.name, value, "a checkpoint") };
    this.#text = text;
  }
}

function isOverwrite(write: unknown): write is { readonly [OVERWRITE]: unknown } {
  return typeof write === "object" && write !== null && Object.hasOwn(write, OVERWRITE);
}

/**
 * A write that replaces the value, whatever the field's rule; `undefined`: there is none from now on.
 *
 * @throws FlowError naming the field
 */
export function replacedField(field: string, value: JsonValue | undefined): object {
  return value === undefined ? { [OVERWRITE]: null, [NOTHING]: true } : { [OVERWRITE]: carriedWrite(field, value) };
}

/**
 * A write passes LangGraph's serializer on its way to the channel when a sibling waits: what that would turn into something else
 * cannot be carried.
 *
 * @throws FlowError naming the field
 */
export function carriedWrite(field: string, value: JsonValue): JsonValue {
  refuseRevived(field, value);
  if (isOverwrite(value)) throw new FlowError(`field "${field}" cannot be kept: LangGraph reads it as an overwrite`);
  return value;
}

/** @throws FlowError naming the field, when LangGraph's serializer would make something else of the value */
export function refuseRevived(field: string, value: JsonValue): void {
  if (isRevived(value))
    throw new FlowError(`field "${field}" cannot be kept: LangGraph reads something in it as an object of its own`);
}

/** Does a value come out of a write as it went in? */
export function isCarried(value: JsonValue): boolean {
  return !isOverwrite(value) && !isRevived(value);
}

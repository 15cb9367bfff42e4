// Tool calls in, ToolMessages out. Owns which calls of a message are open, the ids of calls that have none, and what the
// model reads; runs nothing.

import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { messageContent, withFirstLine } from "./message-content.js";
import { readOutput } from "./tool-output.js";
import { isAgentAdapterError, ToolError, ToolUsageError, type JsonObject } from "../../index.js";
import { randomId } from "../../spi.js";

/** Longest tool name that is repeated in a message: names come from a model. */
const MAX_NAME = 64;
const HALF_PAIR = /\p{Surrogate}/u;

/** A call of the last AIMessage that needs a ToolMessage. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** Answered without running anything: a duplicate id, or one that is not text. */
  readonly refusal: Error | undefined;
}

export interface OpenCalls {
  readonly calls: readonly OpenCall[];
  /** The message with the missing ids filled in; `undefined` when none was missing. Providers refuse the pair otherwise. */
  readonly repaired: AIMessage | undefined;
}

interface RawCall {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly args?: unknown;
}

/** The calls of the last AIMessage that no later ToolMessage has answered. @throws ToolUsageError when there is none */
export function openCallsOf(messages: readonly BaseMessage[], namespace: string): OpenCalls {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const message = messages[at];
  if (message === undefined || !AIMessage.isInstance(message)) {
    throw new ToolUsageError("the tool node found no AIMessage: its input ends with the message whose calls it runs");
  }
  const answered = new Set(
    messages.slice(at + 1).flatMap((later) => (ToolMessage.isInstance(later) ? later.tool_call_id : [])),
  );
  const valid = message.tool_calls ?? [];
  const broken = message.invalid_tool_calls ?? [];
  const idAt = (call: RawCall, index: number) => idOf(call) ?? `${namespace}:${index}`;
  const calls = [
    ...valid.map((call, index) => openCall(call, idAt(call, index))),
    // Never an object: what a provider could not parse must not run by being parsed here.
    ...broken.map((call, index) => openCall({ ...call, args: String(call.args) }, idAt(call, valid.length + index))),
  ];
  const anyMissing = [...valid, ...broken].some((call) => idOf(call) === undefined);
  return {
    calls: refuseDuplicates(calls).filter((call) => !answered.has(call.id)),
    repaired: anyMissing ? withIds(message, idAt) : undefined,
  };
}

/** How many calls of earlier AIMessages no ToolMessage has answered: they are not run. */
export function leftOpen(messages: readonly BaseMessage[]): number {
  const last = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const earlier = messages.slice(0, Math.max(0, last));
  const answered = new Set(
    messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : [])),
  );
  const calls: RawCall[] = earlier.flatMap((message) =>
    AIMessage.isInstance(message) ? [...(message.tool_calls ?? []), ...(message.invalid_tool_calls ?? [])] : [],
  );
  return calls.filter((call) => !answered.has(idOf(call) ?? "")).length;
}

/** One call that a host hands over by itself. */
export function singleCall(call: RawCall, namespace: string): OpenCall {
  return openCall(call, idOf(call) ?? `${namespace}:0`);
}

/**
 * The model's reply with an id of its own for every call: a host that runs each call by itself could not keep two calls apart,
 * and the message that answers a call without an id would belong to none. A reply that is in order comes back as it is.
 */
export function withDistinctIds(reply: AIMessage): AIMessage {
  if (!AIMessage.isInstance(reply)) return reply;
  const seen = new Set<string>();
  const ids = new Map<RawCall, string>();
  for (const call of [...(reply.tool_calls ?? []), ...(reply.invalid_tool_calls ?? [])]) {
    const id = idOf(call);
    if (id === undefined || seen.has(id)) ids.set(call, `call-${randomId()}`);
    else seen.add(id);
  }
  return ids.size === 0 ? reply : withIds(reply, (call) => ids.get(call) ?? idOf(call) ?? "");
}

/** How results are shown to the model. */
export interface ResultStyle {
  /** Say in the content that a reviewer changed the arguments. */
  readonly announceEdits: boolean;
  readonly maxResultChars: number;
}

/** What the model reads of a result. @throws ToolUsageError when it cannot be written as JSON */
export function resultMessage(
  call: OpenCall,
  result: { value: unknown; edited: JsonObject | undefined },
  style: ResultStyle,
) {
  const { content: value, artifact } = readOutput(result.value);
  const { edited } = result;
  const content = messageContent(value, style.maxResultChars);
  const announced = edited !== undefined && style.announceEdits;
  return new ToolMessage({
    content: announced ? withFirstLine(editNote(edited), content) : content,
    tool_call_id: call.id,
    name: boundedName(call.name),
    status: "success",
    ...(artifact === undefined ? {} : { artifact }),
    ...(edited === undefined ? {} : { metadata: { agentAdapter: { arguments: edited } } }),
  });
}

function editNote(edited: JsonObject): string {
  return `[A reviewer changed the arguments of this call to ${JSON.stringify(edited)}]`;
}

/** What the model reads of an error it may read. */
export function errorMessage(call: OpenCall, error: unknown): ToolMessage {
  const kind = isAgentAdapterError(error) ? error.kind : "ToolError";
  const message = error instanceof Error ? error.message : "the call failed";
  return new ToolMessage({
    content: JSON.stringify({ error: { kind, message } }),
    tool_call_id: call.id,
    name: boundedName(call.name),
    status: "error",
  });
}

function openCall(call: RawCall, id: string): OpenCall {
  const refusal = HALF_PAIR.test(id) ? new ToolError("the id of this call is not well-formed text") : undefined;
  return { id, name: typeof call.name === "string" ? call.name : "", args: call.args, refusal };
}

function refuseDuplicates(calls: readonly OpenCall[]): OpenCall[] {
  const seen = new Set<string>();
  return calls.map((call) => {
    if (!seen.has(call.id)) {
      seen.add(call.id);
      return call;
    }
    return { ...call, refusal: new ToolError("two calls of this message have the same id; only the first one counts") };
  });
}

function idOf(call: RawCall): string | undefined {
  return typeof call.id === "string" && call.id !== "" ? call.id : undefined;
}

function withIds(message: AIMessage, idAt: (call: RawCall, index: number) => string): AIMessage {
  const valid = message.tool_calls ?? [];
  const { content, id, name, additional_kwargs, response_metadata, usage_metadata } = message;
  return new AIMessage({
    content,
    additional_kwargs,
    response_metadata,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(usage_metadata === undefined ? {} : { usage_metadata }),
    tool_calls: valid.map((call, index) => ({ ...call, id: idAt(call, index) })),
    invalid_tool_calls: (message.invalid_tool_calls ?? []).map((call, index) => ({
      ...call,
      id: idAt(call, valid.length + index),
    })),
  });
}

function boundedName(name: string): string {
  // By code point: a cut must not leave half a character.
  return Array.from(name.slice(0, 2 * MAX_NAME))
    .slice(0, MAX_NAME)
    .join("");
}

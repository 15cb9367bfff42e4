// `ApprovalRequest`: exactly what a reviewer sees, and its binding (one hash over all of it).
// Owns the shape; does not know who asks or how an answer travels.
//   R1  everything that is shown is hashed, everything that is hashed is shown
//   R2  nothing that changes on a re-run is part of it (the time of asking is beside it, not in it)

import { isJson, type JsonObject } from "../crypto/canonical-json.js";
import { digest } from "../crypto/digest.js";
import type { Effects } from "../tools/spec.js";
import { hasShape, isCount, isObject, isText, isTextOrNull, type Shape } from "./shape.js";

/** What became of the attempt before: set when a used answer's outcome is not known. */
export interface PreviousAttempt {
  /** It may have run, in whole or in part. */
  readonly outcome: "unknown";
  /** Milliseconds since the epoch. */
  readonly claimedAt: number;
}

/** The request a human decides about. Plain JSON; show all of it. */
export interface ApprovalRequest {
  /** The version of the format. */
  readonly v: 1;
  /** A tool call, or a gate of a flow. */
  readonly kind: "tool" | "gate";
  /** The run that asks. */
  readonly runId: string;
  /** The conversation; `null` without one. */
  readonly threadId: string | null;
  /** The visit of the node that asks: thread and checkpoint namespace in LangGraph, the run id elsewhere. */
  readonly taskRun: readonly string[];
  /** The tool's name; for a gate, the node's. */
  readonly tool: string;
  /** The tool's description. */
  readonly description: string;
  /** What the tool does to the world. */
  readonly effects: Effects;
  /** Of the tool's name, schema, effects and version: a changed tool is another request. */
  readonly definitionDigest: string;
  /** The parsed arguments: what runs if this is approved without an edit. */
  readonly arguments: JsonObject;
  /** The call within its task run. */
  readonly callId: string;
  /** How many answers this call has used before. */
  readonly generation: number;
  /** The principal when it was asked. */
  readonly requestedBy: string | null;
  /** Milliseconds since the epoch; `null`: never. */
  readonly expiresAt: number | null;
  /** The binding of the request this one replaces. */
  readonly supersedes: string | null;
  /** Set when an answer was used before and nobody knows how the tool ended. */
  readonly previousAttempt: PreviousAttempt | null;
}

/** SHA-256 (hex) over everything in the request; also its id in stores. Distinct requests have distinct bindings. */
export function bindingOf(request: ApprovalRequest): string {
  return digest("agent-adapter/binding/v1", request);
}

const PREVIOUS: Shape<PreviousAttempt> = { outcome: (value) => value === "unknown", claimedAt: isCount };

const REQUEST: Shape<ApprovalRequest> = {
  v: (value) => value === 1,
  kind: (value) => value === "tool" || value === "gate",
  runId: isText,
  threadId: isTextOrNull,
  taskRun: (value) => Array.isArray(value) && value.every(isText),
  tool: isText,
  description: isText,
  effects: (value) => value === "read" || value === "write" || value === "destructive",
  definitionDigest: isText,
  arguments: isObject,
  callId: isText,
  generation: isCount,
  requestedBy: isTextOrNull,
  expiresAt: (value) => value === null || isCount(value),
  supersedes: isTextOrNull,
  previousAttempt: (value) => value === null || hasShape(value, PREVIOUS),
};

/** Is this exactly a request of version 1: every field, no other field, all of it JSON? */
export function isApprovalRequest(value: unknown): value is ApprovalRequest {
  return isJson(value) && hasRequestShape(value);
}

/** The same of a value that is known to be JSON, because it was parsed or copied as such. */
export function hasRequestShape(value: unknown): value is ApprovalRequest {
  return hasShape(value, REQUEST);
}

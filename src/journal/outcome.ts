// What a finished call came to, as JSON, and what a replay of it gives. Owns the one form used in process, in sealed
// rows and (later) in checkpoints.

import { exactJson, NotJson, type JsonObject } from "../crypto/canonical-json.js";
import {
  ApprovalAlreadyDecided,
  ApprovalDenied,
  ApprovalExpired,
  BudgetExceeded,
  failureKind,
  isAgentAdapterError,
  ToolArgsInvalid,
  ToolError,
  ToolNotFound,
  ToolUsageError,
  type AgentAdapterError,
  type ErrorDetails,
} from "../errors.js";

/** What a call came to, as data that can be kept. */
export type Outcome =
  /** A result as JSON text; `null` stands for undefined, which JSON cannot say. */
  | { readonly status: "ok"; readonly json: string | null }
  /** It finished, but its result is not JSON and could not be kept. */
  | { readonly status: "ok-not-kept" }
  /** It ended with an error the model reads. */
  | { readonly status: "error"; readonly kind: string; readonly message: string }
  /** An approved call that failed: it must not run again. */
  | { readonly status: "failed"; readonly kind: string }
  | { readonly status: "expired" };

/** A finished call as it is kept beside its task run. */
export interface KeptOutcome {
  /** The call. */
  readonly callId: string;
  /** Of the tool's name and the arguments as they came. */
  readonly rawDigest: string;
  /** What it came to. */
  readonly outcome: Outcome;
}

/** How a call ended, before anybody decides what to do with it. */
export type Settled =
  | { readonly ok: true; readonly value: unknown }
  /** `lost`: it ended by a pause or an abort, so nobody knows what it did. */
  | { readonly ok: false; readonly error: unknown; readonly lost: boolean };

/** The outcome worth keeping, if there is one. Failures of unapproved calls are not kept: a re-run tries again. */
export function outcomeOf(settled: Settled, approved: boolean): Outcome | undefined {
  if (settled.ok) return keptValue(settled.value);
  if (settled.lost) return undefined;
  if (isAgentAdapterError(settled.error) && settled.error.modelVisible) {
    return { status: "error", kind: settled.error.kind, message: settled.error.message };
  }
  return approved ? { status: "failed", kind: failureKind(settled.error) } : undefined;
}

function keptValue(value: unknown): Outcome {
  if (value === undefined) return { status: "ok", json: null };
  try {
    return { status: "ok", json: exactJson(value) };
  } catch (error) {
    if (error instanceof NotJson) return { status: "ok-not-kept" };
    throw error;
  }
}

/** What a re-run of a finished call gets. */
export function replay(outcome: Outcome, about: Required<Pick<ErrorDetails, "tool" | "callId">>): Settled {
  switch (outcome.status) {
    case "ok":
      return { ok: true, value: outcome.json === null ? undefined : JSON.parse(outcome.json) };
    case "ok-not-kept":
      return refuse(
        new ToolUsageError(`the result of ${about.tool} is not JSON, so it cannot be given again; it ran once`, about),
      );
    case "error":
      return refuse(visibleError(outcome.kind, outcome.message, about));
    case "failed":
      return refuse(alreadyFailed(outcome.kind, about));
    case "expired":
      return refuse(new ApprovalExpired(`nobody decided about ${about.tool} in time`, about));
  }
}

function refuse(error: AgentAdapterError): Settled {
  return { ok: false, error, lost: false };
}

function alreadyFailed(kind: string, about: ErrorDetails): AgentAdapterError {
  const cause = new Error(kind);
  // Assigned, it fails where errors' prototypes are frozen.
  Object.defineProperty(cause, "name", { value: kind });
  return new ApprovalAlreadyDecided(
    `the approval of ${about.tool} was used and the call failed (${kind}); it is not run again`,
    {
      ...about,
      cause,
    },
  );
}

type ErrorClass = new (message: string, details: ErrorDetails) => AgentAdapterError;

const VISIBLE: Readonly<Record<string, ErrorClass>> = {
  ToolArgsInvalid,
  ToolNotFound,
  ApprovalDenied,
  ApprovalExpired,
  BudgetExceeded,
};

function visibleError(kind: string, message: string, about: ErrorDetails): AgentAdapterError {
  const ErrorOfKind = (Object.hasOwn(VISIBLE, kind) ? VISIBLE[kind] : undefined) ?? ToolError;
  return new ErrorOfKind(message, about);
}

/** The form in sealed rows. */
export function outcomeToJson(outcome: Outcome): { readonly [field: string]: string | null } {
  return { ...outcome };
}

/** `undefined` when it is not an outcome of a form this version knows. */
export function outcomeFromJson(value: unknown): Outcome | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { status, json, kind, message }: Readonly<Record<string, unknown>> = { ...value };
  if (status === "ok" && (json === null || typeof json === "string")) return { status, json };
  if (status === "ok-not-kept" || status === "expired") return { status };
  if (typeof kind !== "string") return undefined;
  if (status === "failed") return { status, kind };
  if (status !== "error" || typeof message !== "string") return undefined;
  return { status, kind, message };
}

/** A finished call as plain data. */
export function keptToJson({ callId, rawDigest, outcome }: KeptOutcome): JsonObject {
  return { callId, rawDigest, outcome: outcomeToJson(outcome) };
}

/** `undefined` when it is not of a form this version knows. */
export function keptFromJson(value: unknown): KeptOutcome | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { callId, rawDigest, outcome: json }: Readonly<Record<string, unknown>> = { ...value };
  const outcome = outcomeFromJson(json);
  if (typeof callId !== "string" || typeof rawDigest !== "string" || outcome === undefined) return undefined;
  return { callId, rawDigest, outcome };
}

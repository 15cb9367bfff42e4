// `ApprovalDecision`: approve or deny, made by code that speaks for a human. Owns the brand that tells a decision made
// here from JSON that came over the wire, and the strict parser of the wire form. Signs nothing.

import { isJson, jsonCopy, type JsonObject } from "../crypto/canonical-json.js";
import { ToolUsageError } from "../errors.js";
import type { ToolSpec } from "../tools/spec.js";
import { hasShape, isObject, isText, type Shape } from "./shape.js";

/** What the human decided, as plain JSON: this is what is signed. */
export type DecisionFields =
  | { readonly approved: true; readonly editedArgs?: JsonObject; readonly reason?: string; readonly by?: string }
  | { readonly approved: false; readonly reason?: string; readonly by?: string };

// A symbol key: JSON, structuredClone and the network drop it, so a parsed body can never pass for a decision.
// (`Symbol.for` is not typed as unique; the cast says what it is.)
const BRAND: unique symbol = Symbol.for("agent-adapter/decision/v1") as never;

/** A decision made by `approve` or `deny` in this process. Parsed JSON is not one. */
export type ApprovalDecision = DecisionFields & { readonly [BRAND]: true };

interface Remarks {
  /** For the model and the ledger. */
  readonly reason?: string;
  /** Who decided, as your application knows them. Under a shared HMAC key this is a claim, not a proof. */
  readonly by?: string;
}

interface Approval<In> extends Remarks {
  /** Runs the same tool with these arguments instead; parsed and checked like any arguments. */
  readonly editedArgs?: In;
}

/**
 * Approve the call, as it is or with edited arguments. Given a tool, the edit is typed by it.
 *
 * @throws ToolUsageError when the edit or a remark is not JSON
 * @example new LangGraphApproval().resumeValue(interrupt, approve({ by: "ana" }));
 */
export function approve<In = JsonObject>(
  options: Approval<NoInfer<In>> = {},
  _typedBy?: ToolSpec<In>,
): ApprovalDecision {
  return brand(true, options);
}

/**
 * Deny the call. The model reads the reason.
 *
 * @throws ToolUsageError when a remark is not text
 * @example new LangGraphApproval().resumeValue(interrupt, deny({ by: "ana", reason: "not this month" }));
 */
export function deny(options: Remarks = {}): ApprovalDecision {
  return brand(false, options);
}

/** Was this made by `approve` or `deny` (of any copy of the package) in this process? */
export function isApprovalDecision(value: unknown): value is ApprovalDecision {
  return typeof value === "object" && value !== null && Object.hasOwn(value, BRAND);
}

/** The plain JSON of a decision, or a refusal when it came from anywhere but `approve` and `deny`. */
export function fieldsOf(decision: ApprovalDecision): DecisionFields {
  const fields = isApprovalDecision(decision) ? parseDecision(decision) : undefined;
  if (fields !== undefined) return fields;
  throw new ToolUsageError("a decision is made by approve() or deny(); parsed JSON is not a decision");
}

const REMARKS: Shape<Required<Remarks>> = { reason: isText, by: isText };
const APPROVAL = { approved: (value: unknown) => value === true };
const DENIAL = { approved: (value: unknown) => value === false };

/** The wire form, checked to the last field; `undefined` when it is anything else. */
export function parseDecision(value: unknown): DecisionFields | undefined {
  if (!hasShape(value, APPROVAL, { ...REMARKS, editedArgs: isObject }) && !hasShape(value, DENIAL, REMARKS))
    return undefined;
  const plain = Object.fromEntries(Object.entries(value));
  // The shape is the type: every field was tested and no other is there.
  return isJson(plain) ? (jsonCopy(plain) as DecisionFields) : undefined;
}

function present(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function brand(approved: boolean, options: object): ApprovalDecision {
  // Options that came from somewhere must not turn a denial into an approval.
  const fields = Object.hasOwn(options, "approved") ? undefined : parseDecision({ ...present(options), approved });
  if (fields === undefined) {
    throw new ToolUsageError(
      "a decision takes JSON only and no other option: editedArgs (of approve) is an object of JSON values, reason and by are text",
    );
  }
  // The one constructor of the brand.
  return Object.freeze(Object.defineProperty({ ...fields }, BRAND, { value: true })) as ApprovalDecision;
}

// What somebody passes to a verb that answers: which request each answer is for, and how the port takes it. Never guesses: what
// does not fit exactly what waits is refused before anything is sent or written.

import { ApprovalAlreadyDecided, ToolUsageError } from "../errors.js";
import type { OneAnswer } from "./answer.js";
import { isApprovalDecision } from "./decision.js";
import { isAnswerable, type ApprovalPort, type Delivery } from "./port.js";
import type { PendingInterrupt } from "./review-request.js";

export type { OneAnswer };

/** One answer, or several named by binding (or by the host's own id). */
export type Answers = OneAnswer | Readonly<Record<string, OneAnswer>>;

/** A request that waits. */
export interface Answerable {
  readonly binding: string;
  /** Under which an answer may name it, beside its binding. */
  readonly id?: string | undefined;
  /** Its answer was used already. */
  readonly used: boolean;
}

export interface Matched<Waiting> {
  readonly waiting: Waiting;
  readonly answer: OneAnswer;
}

/**
 * Which request each answer is for.
 *
 * @throws ToolUsageError when nothing waits, one decision meets several requests, or an answer is for none of them
 * @throws ApprovalAlreadyDecided when the request was answered before
 */
export function matchAnswers<Waiting extends Answerable>(
  verb: string,
  port: ApprovalPort,
  { given, waiting }: { readonly given: Answers; readonly waiting: readonly Waiting[] },
): Matched<Waiting>[] {
  const matchOne = (answer: OneAnswer, candidates: readonly Waiting[]) => matched(verb, port, { answer, candidates });
  if (isOneAnswer(given)) {
    if (!isApprovalDecision(given))
      return [
        matchOne(
          given,
          waiting.filter(({ binding }) => binding === given.binding),
        ),
      ];
    if (waiting.length > 1)
      throw new ToolUsageError(
        `${verb}: ${waiting.length} requests wait; name each decision by the id or the binding of its request`,
      );
    return [matchOne(given, waiting)];
  }
  const named = typeof given === "object" && given !== null ? Object.entries(given) : undefined;
  if (named === undefined) throw notAnswers(verb);
  if (named.length === 0) throw new ToolUsageError(`${verb}: an empty map answers nothing; use null to continue`);
  const all = named.map(([name, answer]) =>
    matchOne(
      answer,
      waiting.filter(({ id, binding }) => name === id || name === binding),
    ),
  );
  if (new Set(all.map((one) => one.waiting)).size === all.length) return all;
  throw new ToolUsageError(`${verb}: one request is answered twice, under its id and under its binding`);
}

function matched<Waiting extends Answerable>(
  verb: string,
  port: ApprovalPort,
  { answer, candidates }: { readonly answer: OneAnswer; readonly candidates: readonly Waiting[] },
): Matched<Waiting> {
  if (!isOneAnswer(answer))
    throw new ToolUsageError(
      `${verb}: an answer is made by approve() or deny(), or is a signed one; parsed JSON is neither`,
    );
  const [waiting] = candidates;
  if (waiting?.used === true)
    throw new ApprovalAlreadyDecided(`this request was answered before; go on by ${verb} with null as the answer`);
  if (waiting !== undefined) return { waiting, answer };
  if (!isApprovalDecision(answer) && isAnswerable(port) && port.isGenuine(answer))
    throw new ApprovalAlreadyDecided("the request this answers is no longer pending");
  throw new ToolUsageError(`${verb}: nothing that waits is answered by this; nothing was sent`);
}

/** Is this one answer, or a map of nothing but answers? Anything else is not meant as one. */
export function isAnswers(value: unknown): value is Answers {
  if (isOneAnswer(value)) return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const named: unknown[] = Object.values(value);
  return named.length > 0 && named.every(isOneAnswer);
}

function notAnswers(verb: string): ToolUsageError {
  return new ToolUsageError(`${verb}: give an answer, several by binding, or null to continue`);
}

function isOneAnswer(value: unknown): value is OneAnswer {
  if (isApprovalDecision(value)) return true;
  if (typeof value !== "object" || value === null) return false;
  const { binding, mac, signature }: Readonly<Record<string, unknown>> = { ...value };
  return typeof binding === "string" && (mac !== undefined || signature !== undefined);
}

/**
 * Checked as far as that can be done before anything is written.
 *
 * @throws ToolUsageError when the port refuses it; ToolArgsInvalid when an edit does not fit the tool
 */
export function deliveryOf(
  verb: string,
  port: ApprovalPort,
  { interrupt, answer }: { readonly interrupt: PendingInterrupt; readonly answer: OneAnswer },
): Delivery {
  if (isAnswerable(port)) return port.deliver(interrupt, answer);
  throw new ToolUsageError(`${verb}: the executor's port decides by itself; nobody can answer it`);
}

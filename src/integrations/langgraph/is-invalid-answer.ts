// `isInvalidAnswer`: LangGraph's own test does not look into the AggregateError that several refused answers arrive in.

import { isInvalidResume } from "@langchain/langgraph";

/**
 * Was a resume value refused (one, or several at once)? Nothing was used; the same requests can be answered again.
 *
 * @example
 * try {
 *   await app.invoke(new Command({ resume: "yes" }), config);
 * } catch (error) {
 *   if (!isInvalidAnswer(error)) throw error; // else nothing was used: the request can still be answered
 * }
 */
export function isInvalidAnswer(error: unknown): boolean {
  if (isInvalidResume(error)) return true;
  return error instanceof AggregateError && error.errors.some((inner: unknown) => isInvalidAnswer(inner));
}

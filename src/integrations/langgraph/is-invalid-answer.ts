// `isInvalidAnswer`: LangGraph's own test does not look into the AggregateError that several refused answers arrive in.

import { isInvalidResume } from "@langchain/langgraph";

/**
 * Was a resume value refused (one, or several at once)? Nothing was used; the same requests can be answered again.
 *
 * @example try { await app.invoke(command, config) } catch (error) { if (!isInvalidAnswer(error)) throw error }
 */
export function isInvalidAnswer(error: unknown): boolean {
  if (isInvalidResume(error)) return true;
  return error instanceof AggregateError && error.errors.some((inner: unknown) => isInvalidAnswer(inner));
}

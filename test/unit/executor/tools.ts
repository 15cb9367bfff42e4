// Small tools whose options are what a test is about, and what else these tests share.
import { afterAll, beforeAll } from "vitest";
import { z } from "zod";
import { defineTool, type ToolOptions } from "../../../src/index.js";

export const where = z.object({ to: z.string() });
export const to = { to: "ana" };

export type Options = Partial<Omit<ToolOptions<typeof where, unknown>, "inputSchema">>;

/** A tool named "act", unless it is given another name. */
export function tool({ name = "act", execute = (args) => `did ${args.to}`, ...options }: Options = {}) {
  return defineTool({ name, description: "Acts.", inputSchema: where, ...options, execute });
}

/** The rejections of a file's tests that nobody handled. */
export function unhandledRejections(): readonly unknown[] {
  const seen: unknown[] = [];
  const note = (reason: unknown): void => void seen.push(reason);
  beforeAll(() => void process.on("unhandledRejection", note));
  afterAll(() => void process.off("unhandledRejection", note));
  return seen;
}

/** A promise that never settles. */
export const never = (): Promise<never> => new Promise(() => undefined);

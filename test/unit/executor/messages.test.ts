// Properties proved: whatever goes wrong, no message of ours holds an argument, a key, a result, or what somebody threw.
import { expect, test } from "vitest";
import { z } from "zod";
import {
  approve,
  defineTool,
  deny,
  Executor,
  isAgentAdapterError,
  MemoryLedger,
  Registry,
  toReviewRequest,
  type ExecutorOptions,
} from "../../../src/index.js";
import { failure, no, pay, pending, ScriptedPort, stand, yes } from "./stand.js";

const CANARY = "c4n4ry";
const deep = (): unknown => Array.from({ length: 70 }).reduce((inner) => ({ [CANARY]: inner }), CANARY);
const base = { description: "d", execute: () => "done" };

const picky = defineTool({
  ...base,
  name: "picky",
  inputSchema: z
    .strictObject({
      to: z.string({ error: (issue) => `bad ${String(issue.input)}` }).refine((to) => to === "ana", {
        error: (issue) => `not ${String(issue.input)}`,
      }),
    })
    .catchall(z.number({ error: () => CANARY })),
});
const plain = defineTool({
  ...base,
  name: "plain",
  inputSchema: {
    type: "object",
    properties: {
      to: { enum: ["ana"] },
      code: { type: "string", pattern: "^[a-b]+$" },
      list: { type: "array", uniqueItems: true },
    },
    additionalProperties: false,
  },
});
const throwing = defineTool({
  ...base,
  name: "throwing",
  inputSchema: z.object({ to: z.string() }).refine((args) => {
    throw new Error(args.to);
  }),
});
const drifting = defineTool({
  ...base,
  name: "drifting",
  inputSchema: z.object({ to: z.string().transform((to) => `${to}!`) }),
  confirm: true,
});
const promising = defineTool({
  ...base,
  name: "promising",
  inputSchema: z.object({}),
  outputSchema: z.object({ total: z.number({ error: (issue) => String(issue.input) }) }),
  execute: () => JSON.parse(`{"total":"${CANARY}","${CANARY}":1}`),
});
const failing = (thrown: unknown) =>
  pay({
    name: "failing",
    execute: () => {
      throw thrown;
    },
  });

function run(
  tool: Parameters<typeof stand>[0][number],
  args: unknown,
  options: ExecutorOptions = {},
): Promise<unknown> {
  return stand([tool], options).executor.run(tool.name, args);
}

async function twice(
  tool: Parameters<typeof stand>[0][number],
  options: ExecutorOptions,
  other?: object,
): Promise<unknown> {
  const { executor } = stand([tool], options);
  const context = executor.context();
  await executor.run(tool.name, { to: CANARY }, { context, callId: "c" }).catch(() => undefined);
  return executor.run(tool.name, other ?? { to: CANARY }, { context, callId: "c" });
}

const down = (method: "open" | "close") =>
  Object.assign(new MemoryLedger(), { [method]: () => Promise.reject(new Error(CANARY)) });
const thenThrow = () => {
  throw new Error(CANARY);
};

const CASES: readonly (readonly [what: string, fails: () => Promise<unknown>])[] = [
  ["arguments of the wrong type, with the schema's own words", () => run(picky, { to: { [CANARY]: CANARY } })],
  ["arguments that a refinement quotes", () => run(picky, { to: CANARY })],
  ["an unknown field", () => run(picky, { to: "ana", [CANARY]: CANARY })],
  ["a value that is not in a list", () => run(plain, { to: CANARY })],
  ["a value that misses a pattern", () => run(plain, { code: CANARY })],
  ["an unknown field of a JSON Schema", () => run(plain, { [CANARY]: 1 })],
  ["equal items", () => run(plain, { list: [CANARY, CANARY] })],
  ["text instead of an object", () => run(picky, CANARY)],
  ["arguments that are nested too deep", () => run(picky, deep())],
  ["arguments that are too large", () => run(picky, { to: CANARY.repeat(300_000) })],
  ["a bigint", () => run(picky, { [CANARY]: 1n })],
  ["half a surrogate pair", () => run(picky, { to: `${CANARY}\ud800`, [`${CANARY}\ud800`]: 1 })],
  ["a __proto__ key", () => run(plain, JSON.parse(`{"__proto__":{"${CANARY}":1}}`))],
  ["an unsafe integer", () => run(picky, { [CANARY]: 2 ** 60 })],
  ["a schema that throws", () => run(throwing, { to: CANARY })],
  [
    "a schema that changes what is approved",
    () => run(drifting, { to: CANARY }, { approval: new ScriptedPort(yes()) }),
  ],
  ["a tool that throws", () => run(failing(new Error(CANARY)), { to: CANARY })],
  ["a tool that throws text", () => run(failing(CANARY), { to: CANARY })],
  ["a result that does not fit", () => run(promising, {})],
  ["no approval port", () => run(pay({ confirm: true }), { to: CANARY })],
  ["nobody has decided", () => run(pay({ confirm: true }), { to: CANARY }, { approval: new ScriptedPort(pending) })],
  ["a denial", () => run(pay({ confirm: true }), { to: CANARY }, { approval: new ScriptedPort(no()) })],
  [
    "an edit that does not fit",
    () => run(pay({ confirm: true }), { to: "ana" }, { approval: new ScriptedPort(yes({ to: 1, [CANARY]: CANARY })) }),
  ],
  [
    "a replacement that does not fit",
    () => run(pay(), { to: "ana" }, { hooks: [{ beforeTool: () => ({ arguments: { to: [CANARY] } }) }] }),
  ],
  [
    "a replacement that the schema changes",
    () => run(pay(), { to: "ana" }, { hooks: [{ beforeTool: () => ({ arguments: { to: CANARY } }) }] }),
  ],
  ["a ledger that throws", () => run(pay(), { to: CANARY }, { ledger: down("open") })],
  ["an approved call that failed, again", () => twice(failing(new Error(CANARY)), {})],
  ["a used answer", () => twice(pay({ confirm: true, execute: thenThrow }), { approval: new ScriptedPort(yes()) })],
  ["a call id used twice", () => twice(pay(), {}, { to: `other ${CANARY}` })],
  ["a result that cannot be given again", () => twice(pay({ execute: () => new Map([[CANARY, CANARY]]) }), {})],
  ["an edit that is not JSON", async () => approve({ editedArgs: { [CANARY]: JSON.parse, to: CANARY } as never })],
  ["a remark that is not text", async () => deny({ reason: { [CANARY]: CANARY } as never })],
  ["a raw value that is not a pause", async () => toReviewRequest({ value: { [CANARY]: CANARY } })],
  ["a secret that is too short", async () => new Executor(new Registry(), { secret: CANARY })],
  [
    "a call nested in a body that needs a human",
    () => {
      const outer = pay({ name: "outer", execute: (args, ctx) => ctx.run("pay", args) });
      const { executor } = stand([outer, pay({ confirm: true })], { approval: new ScriptedPort(yes()) });
      return executor.run("outer", { to: CANARY });
    },
  ],
];

test.each(CASES)("E2, N1: the message about %s quotes nothing", async (_what, fails) => {
  let error = await failure(fails());
  expect(isAgentAdapterError(error)).toBe(true);
  for (let depth = 0; depth < 5 && isAgentAdapterError(error); depth += 1) {
    expect(error.message).not.toContain(CANARY);
    expect(JSON.stringify({ ...error, cause: undefined })).not.toContain(CANARY);
    error = error.cause;
  }
});

test("E2: what a tool tells the model by ToolError, and why a reviewer said no, is passed on: it is meant for the model", async () => {
  const port = new ScriptedPort(no("not this month"));
  const { executor } = stand([pay({ confirm: true })], { approval: port });
  await expect(executor.run("pay", { to: "ana" })).rejects.toThrow("not this month");
});

test("N1: a failing ledger close is logged without arguments, results or what the ledger said", async () => {
  const lines: unknown[] = [];
  const log = (...line: unknown[]) => void lines.push(line);
  const logger = { debug: log, info: log, warn: log, error: log };
  const { executor } = stand([pay()], { ledger: down("close"), logger });
  await expect(executor.run("pay", { to: CANARY })).resolves.toBe(`paid ${CANARY}`);
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain(CANARY);
});

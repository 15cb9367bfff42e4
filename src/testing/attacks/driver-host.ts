// The child process: loads a driver, gives it tools whose effects are counted in a file, and does what the kit says. Owns the
// other end of driver-process.ts; run as a program, never imported.

import { appendFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "../../index.js";
import { systemClock } from "../../spi.js";
import type { AttackDriver, AttackSession, AttackTool, MakeAttackDriver } from "./driver.js";
import type { FromHost, Hold, HostWorld, ToHost } from "./host-messages.js";

/** Bodies that are to stop, by `ref`: the next one before or after its effect, or each one before. */
const holds = new Map<string, Hold>();
/** Those that have stopped. */
const held = new Map<string, (() => void)[]>();
/** Long enough for whatever runs beside it to begin. */
const BODY_MS = 3;

function say(message: FromHost): void {
  process.send?.(message);
}

async function stop(ref: string): Promise<void> {
  if (holds.get(ref) !== "each") holds.delete(ref);
  const released = new Promise<void>((resolve) => held.set(ref, [...(held.get(ref) ?? []), resolve]));
  say({ held: ref });
  await released;
}

function tool(given: HostWorld["tools"][number], effects: string): AttackTool {
  const run = async (args: JsonObject): Promise<string> => {
    const ref = textOfRef(args["ref"]);
    // Only a call that was approved is held: another one of the case may run beside it.
    const hold = () => (given.asks ? holds.get(ref) : undefined);
    if (hold() === "before" || hold() === "each") await stop(ref);
    // One small write to a file that is open for appending: lines of several processes do not mix, and a killed process loses none.
    appendFileSync(effects, `${JSON.stringify({ tool: given.name, args })}\n`);
    if (hold() === "after") await stop(ref);
    await systemClock.sleep(BODY_MS, new AbortController().signal);
    return `${given.name} done`;
  };
  return { ...given, run };
}

async function driverOf(module: string, settings: JsonValue): Promise<AttackDriver> {
  const loaded: { readonly attackDriver?: unknown } = await import(module);
  if (typeof loaded.attackDriver !== "function") throw new Error(`${module} exports no attackDriver()`);
  // What a driver module promises to export; its methods are checked by being called.
  return (loaded.attackDriver as MakeAttackDriver)(settings);
}

function textOfRef(ref: JsonValue | undefined): string {
  return typeof ref === "string" ? ref : "";
}

/** An operation of the session, by name. */
async function perform(session: AttackSession, { op, args }: ToHost): Promise<unknown> {
  if (op === "ping") return;
  const ref = textOfRef(args[0]);
  // The kit says one of the three.
  if (op === "hold") return void holds.set(ref, args[1] as Hold);
  if (op === "release") {
    holds.delete(ref);
    for (const go of held.get(ref) ?? []) go();
    return void held.delete(ref);
  }
  const method: unknown = Reflect.get(session, op);
  if (typeof method !== "function") throw new Error(`the session has no ${op}()`);
  return Reflect.apply(method, session, args);
}

async function main(): Promise<void> {
  const world: HostWorld = JSON.parse(process.argv[2] ?? "null");
  const driver = await driverOf(world.module, world.settings);
  const { name, lacks, callerTricks = [] } = driver;
  const session = await driver.open({
    storage: world.storage,
    tools: world.tools.map((each) => tool(each, world.effects)),
  });
  process.on("message", (message: ToHost) => {
    perform(session, message).then(
      (value) => say({ n: message.n, value: value ?? null }),
      (error: unknown) => say({ n: message.n, error: textOf(error) }),
    );
  });
  say({ ready: { name, lacks, callerTricks } });
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

process.on("disconnect", () => process.exit());
// A stack that leaves a rejection behind is not to end the process: the cases go on and say what became of them.
process.on("unhandledRejection", (error) => say({ stray: textOf(error) }));
main().catch((error: unknown) => say({ failed: textOf(error) }));

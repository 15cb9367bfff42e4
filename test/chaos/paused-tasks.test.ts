// What ten thousand waiting tasks hold in a process. Slow, so it stands with the kills and races.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const TASKS = 10_000;
const MIB = 1024 * 1024;

test("S8: ten thousand paused tasks, each with a finished result of 1 KiB and a request, fit in 64 MiB", async () => {
  const flags = ["--expose-gc", "--import", "tsx", "--conditions=agent-adapter-source"];
  const script = "test/support/children/paused-tasks.ts";
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, String(TASKS)]);
  const { kept, bytes } = JSON.parse(stdout) as { kept: number; bytes: number };
  expect(kept).toBe(TASKS);
  expect(bytes / MIB).toBeLessThan(64);
  // The measurement itself: each holds its result at least.
  expect(bytes).toBeGreaterThan(TASKS * 1024);
});

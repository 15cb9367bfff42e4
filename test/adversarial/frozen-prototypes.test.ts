// A process of its own whose built-in prototypes are frozen, as `--frozen-intrinsics` and SES do.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const script = fileURLToPath(new URL("../support/children/frozen-prototypes.ts", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

async function come(mode: string): Promise<unknown> {
  const flags = ["--no-warnings", "--import", "tsx", "--conditions=agent-adapter-source"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, mode], { cwd: root });
  const told: unknown = JSON.parse(stdout);
  return told;
}

describe("G3, N1, A5: frozen prototypes", () => {
  test("of everything: what runs, what is refused and how is as ever", async () => {
    const plain = await come("plain");
    expect(plain).toHaveProperty("value");
    expect(await come("frozen")).toEqual(plain);
  });
});

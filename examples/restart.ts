// Runs the program of docs/quick-start.md as a reader does: asks, then ana approves what she was shown, then she does it
// again. Checks itself.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "quick-start-"));
const program = fileURLToPath(new URL("support/ask-then-approve.ts", import.meta.url));
const BINDING = /[0-9a-f]{64}/g;
const tsx = createRequire(import.meta.url).resolve("tsx");

function run(...args: readonly string[]): string {
  const flags = ["--import", tsx, "--conditions=agent-adapter-source"];
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, program, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  const text = stdout.trim() || (/^\w*Error: .*$/m.exec(stderr)?.[0] ?? stderr);
  console.log(shortened(`$ npx tsx app.ts ${args.join(" ")}`.trimEnd()));
  console.log(shortened(text));
  return text;
}

/** A binding is another one in every run. */
function shortened(text: string): string {
  return text.replaceAll(BINDING, "<binding>");
}

const shown = run().match(BINDING)?.[0] ?? "";
const said = [run("ana", shown), run("ana", shown)];
rmSync(folder, { recursive: true, force: true });
if (said[0] !== "sent 2026-09") throw new Error("the approved call did not run");

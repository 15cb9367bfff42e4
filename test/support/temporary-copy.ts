// A throw-away folder that looks like the repository: for seeding faults that a check must catch.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The root of this repository. */
export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Creates a folder with the named paths of the repository and the given files; gone when the test ends. */
export function temporaryCopy(paths: readonly string[], files: Readonly<Record<string, string>> = {}): string {
  const root = mkdtempSync(join(tmpdir(), "agent-adapter-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const path of paths) cpSync(join(repository, path), join(root, path), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"), "dir");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

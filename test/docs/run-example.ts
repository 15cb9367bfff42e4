// Runs an example as a reader does: its own process, from source, and what it printed.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../support/temporary-copy.js";

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export const page = (name: string): string => readFileSync(join(repository, name), "utf8");

/** The script of package.json, so that what is tested is what `npm run <name>` does. */
export function script(name: string): string {
  const { scripts } = JSON.parse(page("package.json")) as { scripts: Record<string, string> };
  const found = scripts[name];
  if (found === undefined) throw new Error(`package.json has no script ${name}`);
  return found;
}

/** Runs `npm run demo`'s command, or the same for another example. */
export async function runExample(
  file: string,
  args: readonly string[] = [],
  { input = "", env = {} }: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Run> {
  const [tool, ...flags] = script("demo").split(" ");
  const command = [join(repository, "node_modules/.bin", tool ?? ""), ...flags.slice(0, -1), join("examples", file)];
  const child = spawn(process.execPath, [...command, ...args], { cwd: repository, env: { ...process.env, ...env } });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.end(input);
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, out, err };
}

/** What stands beside a label, every time it is printed; a label's further lines have an empty label. */
export function beside(out: string, label: string): string[] {
  const lines = out.split("\n").map((text) => /^ {2}(.*?) {2,}(\S.*)$/.exec(text));
  return lines.flatMap((found) => (found?.[1] === label && found[2] !== undefined ? [found[2]] : []));
}

/** The lines of a section. */
export function section(out: string, title: string): string[] {
  const [, rest = ""] = out.split(`\n${title}`);
  const [lines = ""] = rest.split("\n\n");
  return lines.split("\n").slice(1);
}

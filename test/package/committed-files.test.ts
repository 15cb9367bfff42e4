// What is committed: no file that only means something on the machine it was written on. Owns which files those are.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

/** A file URL with a path, and the folders people work in. */
const MACHINE = /file:\/{3}\S|(?<![\w.*)}~-])\/(?:tmp|work)\//;

/** Files that may name such a place, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {};

const MADE =
  /(^|\/)(node_modules|dist|coverage|cache|\.git|\.tmp|\.shots|\.vitest[^/]*\.json|[^/]*\.tsbuildinfo)(\/|$)/;

/** What git tracks; in a copy without git (the run on the lowest LangGraph) all that no tool made. */
function committed(root: string): string[] {
  const git = spawnSync("git", ["-c", "safe.directory=*", "ls-files", "-z"], { cwd: root, encoding: "utf8" });
  if (git.status === 0 && git.stdout !== "") return git.stdout.split("\0").filter((path) => path !== "");
  return filesOf(root, "").filter((path) => !MADE.test(path));
}

function filesOf(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (MADE.test(path)) return [];
    return entry.isDirectory() ? filesOf(root, path) : entry.isFile() ? [path] : [];
  });
}

function withMachinePaths(root: string): string[] {
  return committed(root).filter((path) => {
    const text = textOf(join(root, path));
    return MACHINE.test(text) && !Object.hasOwn(ALLOWED, path);
  });
}

/** Empty for what is no text, and for what is deleted and not yet committed. */
function textOf(path: string): string {
  try {
    const text = readFileSync(path, "utf8");
    return text.includes("\0") ? "" : text;
  } catch {
    return "";
  }
}

test("no committed file names a place on the machine it was written on", () => {
  expect(committed(repository).length).toBeGreaterThan(300);
  expect(withMachinePaths(repository)).toEqual([]);
});

test("a profile and a line of a terminal are found, a link and a pattern are not", () => {
  const place = ["", "tmp", "x"].join("/");
  const root = temporaryCopy([], {
    ".bench/S1.cpuprofile": JSON.stringify({ url: `${["file:", "", ""].join("/")}${place}` }),
    "docs/run.md": `$ cd ${place}\n`,
    "docs/link.md": "See <https://example.com/tmp/x>, site/work/x and file: urls.\n",
  });
  expect(withMachinePaths(root)).toEqual([".bench/S1.cpuprofile", "docs/run.md"]);
});

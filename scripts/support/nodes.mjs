// Other versions of Node, from npm: a package per platform that holds nothing but the program. Owns fetching them once.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The program of a version, `22` or `20.19.0`, or why there is none.
 * @param {string} version
 * @param {string} folder where programs are kept
 * @returns {{ version: string, program: string } | { version: string, reason: string }}
 */
export function nodeOf(version, folder) {
  if (isThisOne(version)) return { version: process.versions.node, program: process.execPath };
  const home = join(folder, version);
  const name = `node-${process.platform}-${process.arch}`;
  const program = join(home, "node_modules", name, "bin/node");
  if (!existsSync(program)) {
    mkdirSync(home, { recursive: true });
    const command = [
      "install",
      "--prefix",
      home,
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `${name}@${version}`,
    ];
    const { status, stderr } = spawnSync("npm", command, { encoding: "utf8" });
    if (status !== 0)
      return { version, reason: `npm has no ${name}@${version} here: ${stderr.trim().split("\n")[0] ?? ""}` };
  }
  const { stdout, status } = spawnSync(program, ["--version"], { encoding: "utf8" });
  if (status !== 0) return { version, reason: `${name}@${version} does not run here` };
  return { version: stdout.trim().slice(1), program };
}

/** @param {string} version */
function isThisOne(version) {
  return `${process.versions.node}.`.startsWith(`${version}.`);
}

// Which Node a stack needs, and where one is on this machine. Installs nothing.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import semver from "semver";
import type { Stack } from "./stacks.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

export function manifestOf(name: string, { isOurs }: Pick<Stack, "isOurs">): Manifest {
  const ours = name === "agent-adapter" ? ROOT : join(ROOT, "node_modules", name);
  const folder = isOurs === true ? ours : join(HERE, "node_modules", name);
  // npm wrote it.
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

export interface FoundNode {
  readonly path: string;
  readonly version: string;
}

/** The ranges of all packages of the stack, none twice. */
export function neededNode(stack: Stack): readonly string[] {
  return [...new Set(stack.packages.flatMap((name) => manifestOf(name, stack).engines?.node ?? []))];
}

/** `NODE_FOR_AI`, `NODE_FOR_MASTRA_CORE`, `NODE_FOR_GOOGLE_ADK`: after the first package of the stack. */
export function variableFor({ packages: [name = ""] }: Stack): string {
  return `NODE_FOR_${name
    .replaceAll(/[^a-z0-9]+/gi, "_")
    .replace(/^_/, "")
    .toUpperCase()}`;
}

/** The one that was named, this one if it fits, or the newest that fits. */
export function findNode(stack: Stack): FoundNode | undefined {
  const named = process.env[variableFor(stack)];
  if (named !== undefined) return asFound(named);
  const fits = ({ version }: FoundNode) => neededNode(stack).every((range) => semver.satisfies(version, range));
  const [first, ...others] = allNodes();
  if (first !== undefined && fits(first)) return first;
  return others.filter(fits).toSorted((one, other) => semver.rcompare(one.version, other.version))[0];
}

let known: readonly FoundNode[] | undefined;

/** This one first. */
function allNodes(): readonly FoundNode[] {
  known ??= [process.execPath, ...places()].flatMap((path) => asFound(path) ?? []);
  return known;
}

function places(): string[] {
  const { NVM_DIR, FNM_DIR, VOLTA_HOME, PATH = "" } = process.env;
  const home = homedir();
  const binary = process.platform === "win32" ? "node.exe" : "node";
  return [
    ...PATH.split(delimiter).map((folder) => join(folder, binary)),
    join(HERE, ".node/node_modules/node/bin", binary),
    ...inEach(join(NVM_DIR ?? join(home, ".nvm"), "versions/node"), "bin/node"),
    ...inEach(join(FNM_DIR ?? join(home, ".local/share/fnm"), "node-versions"), "installation/bin/node"),
    ...inEach(join(VOLTA_HOME ?? join(home, ".volta"), "tools/image/node"), "bin/node"),
  ].filter((path) => existsSync(path));
}

function inEach(folder: string, path: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, path)) : [];
}

function asFound(path: string): FoundNode | undefined {
  try {
    return { path, version: execFileSync(path, ["-p", "process.versions.node"], { encoding: "utf8" }).trim() };
  } catch {
    return undefined;
  }
}

// On what it was measured: the machine, the commit, the versions, and whether the built package or its sources ran.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, platform, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import type { EffortName } from "../measure/effort.js";

export interface Setting {
  readonly date: string;
  readonly machine: string;
  /** Of the last minute, before the first row: above the number of cores others were at work. */
  readonly load: string;
  /** Of the working tree, "+ changes" when it differs from it; "no commit" outside of a repository. */
  readonly commit: string;
  readonly measured: "dist" | "src";
  readonly effort: EffortName;
  readonly versions: Readonly<Record<string, string>>;
}

const PACKAGES = ["@langchain/core", "@langchain/langgraph", "zod", "libsql", "pg"];

export function setting(effort: EffortName): Setting {
  const all = cpus();
  const gib = (totalmem() / 2 ** 30).toFixed(0);
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${all.length} x ${all[0]?.model.trim() ?? "?"}, ${gib} GiB, ${platform()} ${release()}`,
    load: (loadavg()[0] ?? 0).toFixed(2),
    commit: commitOf(fileURLToPath(new URL("../..", import.meta.url))),
    measured: measuredCode(),
    effort,
    versions: { node: process.version, ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])) },
  };
}

/** What `git` says of a folder. */
export function commitOf(folder: string): string {
  const git = (...words: string[]) => spawnSync("git", ["-C", folder, ...words], { encoding: "utf8" });
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head.status !== 0) return "no commit";
  return `${head.stdout.trim()}${git("status", "--porcelain").stdout.trim() === "" ? "" : " + changes"}`;
}

function measuredCode(): "dist" | "src" {
  return import.meta.resolve("agent-adapter").includes("/dist/") ? "dist" : "src";
}

function versionOf(name: string): string {
  const path = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { readonly version: string };
  return version;
}

// A CPU profile of one side at work, and who it was that worked.

import { writeFileSync } from "node:fs";
import { Session, type Profiler } from "node:inspector/promises";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import type { Run } from "./side.js";

export interface HotFunction {
  readonly name: string;
  readonly place: string;
  readonly share: number;
}

export interface ProfileSummary {
  readonly path: string;
  /** The share of each origin: this package, LangGraph and LangChain, Node, others. */
  readonly origins: readonly { readonly origin: string; readonly share: number }[];
  /** Of the origin, the functions with most self time. */
  readonly hottest: Readonly<Record<string, readonly HotFunction[]>>;
}

const TOP = 10;
const SAMPLING_US = 200;
const repository = fileURLToPath(new URL("../../", import.meta.url));

const OURS = "agent-adapter";
const LANGGRAPH = "LangGraph and LangChain";

/** Profile a body; keep the profile in a file. */
export async function profiled(path: string, body: () => Promise<unknown>): Promise<ProfileSummary> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLING_US });
  await session.post("Profiler.start");
  await body();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  writeFileSync(path, JSON.stringify(profile));
  return summary(path, profile);
}

/** Runs that are prepared one by one; the preparing is in the profile, too. */
export async function keepRunning(prepare: () => Run | Promise<Run>, ms: number): Promise<void> {
  const end = performance.now() + ms;
  do await (await prepare())();
  while (performance.now() < end);
}

function summary(path: string, profile: Profiler.Profile): ProfileSummary {
  const self = selfTimes(profile);
  const busy = [...self.values()].filter(({ name }) => name !== "(idle)");
  const total = busy.reduce((sum, { share }) => sum + share, 0);
  const shares = busy.map((one) => ({ ...one, share: one.share / total }));
  const byOrigin = new Map<string, (HotFunction & { readonly origin: string })[]>();
  for (const one of shares) byOrigin.set(one.origin, [...(byOrigin.get(one.origin) ?? []), one]);
  const sum = (functions: readonly HotFunction[]) => functions.reduce((all, { share }) => all + share, 0);
  const top = (origin: string) =>
    (byOrigin.get(origin) ?? [])
      .toSorted((a, b) => b.share - a.share)
      .slice(0, TOP)
      .map(({ name, place, share }) => ({ name, place, share }));
  return {
    path,
    origins: [...byOrigin]
      .map(([origin, functions]) => ({ origin, share: sum(functions) }))
      .toSorted((a, b) => b.share - a.share),
    hottest: { [OURS]: top(OURS), [LANGGRAPH]: top(LANGGRAPH) },
  };
}

type SelfTime = HotFunction & { readonly origin: string };

/** Self time by function; a function is a name and the line where it begins. */
function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, SelfTime> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map<string, SelfTime>();
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined) continue;
    const place = `${placeOf(frame.url)}:${frame.lineNumber + 1}`;
    const key = `${frame.functionName} ${place}`;
    const known = times.get(key);
    const name = frame.functionName === "" ? "(anonymous)" : frame.functionName;
    const share = (known?.share ?? 0) + (timeDeltas[index] ?? 0);
    times.set(key, { name, place, share, origin: originOf(name, frame.url) });
  }
  return times;
}

const placeOf = (url: string) =>
  url
    .replace(/^file:\/\//, "")
    .replace(repository, "")
    .replace(/.*node_modules\//, "");

function originOf(name: string, url: string): string {
  if (url.includes("/node_modules/@langchain/") || url.includes("/node_modules/langchain/")) return LANGGRAPH;
  const [, installed] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (installed !== undefined) return installed;
  if (url.includes("/bench/") && !url.includes("/dist/") && !url.includes("/src/")) return "the bench itself";
  if (url.includes(repository)) return OURS;
  return url === "" && name === "(garbage collector)" ? "garbage collector" : "Node and V8";
}

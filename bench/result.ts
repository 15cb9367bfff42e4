// What a measured row says: texts for the table, and the figures behind them for machines.

import type { Comparison } from "./measure/compare.js";
import type { Grown } from "./measure/grow.js";
import { LINEAR_EXPONENT, type Spread } from "./measure/statistics.js";
import type { Figure, FigureRow, GrowthRow, PairRow, Row } from "./row.js";

export interface Result {
  readonly row: string;
  readonly what: string;
  readonly ours: string;
  readonly peer: string;
  readonly against: string | null;
  /** Of all rounds, by the clock. */
  readonly ratio: Spread | null;
  /** The same of processor time, where that is all there is to it. */
  readonly cpuRatio: Spread | null;
  readonly goal: string;
  readonly met: "yes" | "no" | "-";
  readonly fit: string;
  /** Figures of rows with sizes. */
  readonly grown: Grown | null;
  readonly unit: string | null;
  readonly note: string;
  readonly profiles: readonly string[];
}

export function pairResult(row: PairRow, { ours, peer, ratio, cpuRatio }: Comparison): Result {
  const isMet = row.goal === null || ratio === null ? undefined : ratio.median <= row.goal;
  return {
    ...headOf(row),
    ours: time(ours.ms),
    peer: peer === null ? "" : time(peer.ms),
    ratio,
    cpuRatio,
    goal: row.goal === null ? "" : `<= ${row.goal.toFixed(2)}x`,
    met: yesNo(isMet),
  };
}

export function growthResult(row: GrowthRow, grown: Grown): Result {
  return {
    ...headOf(row),
    ...grownFields(grown, row.unit),
    goal: `n^<=${LINEAR_EXPONENT}`,
    met: yesNo(isLinear(grown.ours.exponent)),
  };
}

export function figureResult(row: FigureRow, { grown, note = "", met, ...figure }: Figure): Result {
  const fields = grown === undefined ? NOTHING : grownFields(grown, row.unit ?? "n");
  const judged = met ?? (grown === undefined ? undefined : isLinear(grown.ours.exponent));
  return { ...headOf(row), ...fields, ...figure, goal: row.goal ?? "", met: yesNo(judged), note };
}

const NOTHING = { ours: "", peer: "", ratio: null, cpuRatio: null };

/** The largest size stands for all, and the fit says the rest. */
function grownFields(grown: Grown, unit: string) {
  const last = grown.points.at(-1);
  if (last === undefined) return { ...NOTHING, fit: "", grown, unit };
  const at = `at ${last.n} ${unit}`;
  return {
    ours: `${time(last.ours.ms)} ${at}`,
    peer: last.peer === null ? "" : `${time(last.peer.ms)} ${at}`,
    ratio: last.ratio,
    cpuRatio: last.cpuRatio,
    fit: fitOf(grown, unit),
    grown,
    unit,
  };
}

const isLinear = (exponent: number) => exponent <= LINEAR_EXPONENT;

function headOf({ name, what, peer }: Row) {
  return { row: name, what, against: peer, fit: "", grown: null, unit: null, note: "", profiles: [] };
}

function fitOf({ ours, peer }: Grown, unit: string): string {
  const { fixed, perUnit, r2 } = ours.line;
  const line = `t = ${time(fixed)} + ${time(perUnit)} x ${unit}, R2 ${r2.toFixed(3)}`;
  const judged = isLinear(ours.exponent) ? "linear" : "not linear";
  return `${judged} (n^${ours.exponent.toFixed(2)}${peer === null ? "" : `; peer n^${peer.exponent.toFixed(2)}`}); ${line}`;
}

function yesNo(met: boolean | undefined): Result["met"] {
  if (met === undefined) return "-";
  return met ? "yes" : "no";
}

export function time(ms: number): string {
  if (ms < 0) return `-${time(-ms)}`;
  if (ms < 0.001) return `${(ms * 1e6).toFixed(1)} ns`;
  if (ms < 1) return `${(ms * 1000).toFixed(1)} us`;
  return ms < 100 ? `${ms.toFixed(2)} ms` : `${ms.toFixed(0)} ms`;
}

export function medianText({ median }: Spread): string {
  return `${short(median)}x`;
}

export function ratioText(ratio: Spread | null): string {
  if (ratio === null) return "";
  const [median, min, max] = [ratio.median, ratio.min, ratio.max].map(short);
  return min === max ? `${median}x` : `${median}x (${min} to ${max})`;
}

const short = (value: number) => (value < 0.1 ? value.toFixed(3) : value.toFixed(2));

// S3 and S7: pausing for a human and going on, and how that grows with arguments, finished calls and approvals in one node.

import { grow, grown } from "../measure/grow.js";
import { medianOf } from "../measure/compare.js";
import { always, type Timing } from "../measure/side.js";
import { LINEAR_EXPONENT, median, spread } from "../measure/statistics.js";
import type { FigureRow, GrowthRow, Row } from "../row.js";
import {
  driveAll,
  ourAskingApp,
  pausedOn,
  prebuiltAskingApp,
  rawAskingApp,
  registryOfRows,
  type AskingApp,
} from "../subjects/approvals.js";
import { argumentsOf, messageThatAsks, messageWith } from "../subjects/tools.js";
import { forgetProcess } from "../subjects/process.js";
import { AIMessage } from "@langchain/core/messages";

const text = (args: Record<string, unknown>) => `${String(args["item"])} ${String(args["n"])}`;
const byHand = "interrupt() in a node by hand";

const s3: Row = {
  kind: "pair",
  name: "S3",
  what: "pause, and resume with a signed answer by id (MemorySaver)",
  peer: byHand,
  goal: 1.1,
  open: () => approvalsOf(1),
};

const largeAsks: Row = {
  kind: "growth",
  name: "growth-asked-arguments",
  what: "pause and signed resume, arguments of n bytes",
  peer: byHand,
  unit: "B",
  sizes: [100, 1000, 10_000, 100_000, 1_000_000],
  open: (bytes) => {
    const ours = ourAskingApp({ registry: registryOfRows() });
    const theirs = rawAskingApp((args) => `${(args["rows"] as readonly unknown[]).length} rows`);
    const message = () =>
      new AIMessage({ content: "", tool_calls: [{ name: "pay", id: "c", args: argumentsOf(bytes) }] });
    return { ours: always(() => driveAll(ours, message())), peer: always(() => driveAll(theirs, message())) };
  },
};

function resuming(name: string, where: string, options: { readonly restart: boolean }): GrowthRow {
  return {
    kind: "growth",
    name,
    what: `resume of a message with n finished calls, ${where}`,
    peer: "LangGraph's ToolNode, interrupt() in the tool (runs all n again)",
    unit: "calls",
    sizes: [1, 10, 100, 1000],
    open: (calls) => {
      const prepared = (app: AskingApp, restart: boolean) => ({
        prepare: async () => {
          const { pending, config } = await pausedOn(app, messageThatAsks(calls));
          if (restart) forgetProcess();
          return () => app.resume(pending, config);
        },
      });
      return { ours: prepared(ourAskingApp(), options.restart), peer: prepared(prebuiltAskingApp(), false) };
    },
  };
}

/** Each resume runs the node again: one approval may cost more the more calls there are, but not more than in proportion. */
const manyApprovals: FigureRow = {
  kind: "figure",
  name: "growth-approvals",
  what: "one of n approvals in one node, mean of all n",
  peer: byHand,
  unit: "n",
  goal: `n^<=${LINEAR_EXPONENT}`,
  measure: async (effort) => {
    const { points } = await grow([1, 10, 50, 100, 200], approvalsOf, effort);
    const each = ({ ms, cpuMs }: Timing, n: number) => ({ ms: ms / n, cpuMs: cpuMs / n });
    const shared = points.map(({ n, ours, peer, ...rest }) => ({
      ...rest,
      n,
      ours: each(ours, n),
      peer: peer === null ? null : each(peer, n),
    }));
    return { grown: grown(shared) };
  },
};

function approvalsOf(calls: number) {
  const [ours, theirs] = [ourAskingApp(), rawAskingApp(text)];
  return {
    ours: always(() => driveAll(ours, messageWith("pay", calls))),
    peer: always(() => driveAll(theirs, messageWith("pay", calls))),
  };
}

/** How much longer the last tenth of the steps takes than the first tenth. */
function lastToFirst(times: readonly Timing[]): number {
  const tenth = Math.max(1, Math.floor(times.length / 10));
  const [last, first] = [times.slice(-tenth), times.slice(1, 1 + tenth)].map((some) => medianOf(some).cpuMs);
  return (last ?? Number.NaN) / (first ?? Number.NaN);
}

const s7: FigureRow = {
  kind: "figure",
  name: "S7",
  what: "100 approvals in one node: the last ten steps to the first ten (processor time)",
  peer: byHand,
  goal: "<= 1.30x of the peer's, 100 bodies",
  measure: async (effort) => {
    const calls = Math.min(100, effort.approvals);
    const rounds = Math.max(1, Math.ceil(effort.rounds / 3));
    let bodies = 0;
    const ratios: { readonly ours: number; readonly peer: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const app = ourAskingApp({ hooks: [{ afterTool: () => void (bodies += 1) }] });
      const ours = lastToFirst(await driveAll(app, messageWith("pay", calls)));
      ratios.push({ ours, peer: lastToFirst(await driveAll(rawAskingApp(text), messageWith("pay", calls))) });
    }
    const ratio = spread(ratios.map(({ ours, peer }) => ours / peer));
    const perRun = bodies / rounds;
    return {
      ours: `${median(ratios.map(({ ours }) => ours)).toFixed(2)}x, ${perRun} bodies`,
      peer: `${median(ratios.map(({ peer }) => peer)).toFixed(2)}x`,
      ratio,
      met: ratio.median <= 1.3 && perRun === calls,
    };
  },
};

export const approvalRows = [
  s3,
  s7,
  largeAsks,
  resuming("growth-journal", "in the same process", { restart: false }),
  resuming("growth-journal-restart", "after a restart (sealed rows)", { restart: true }),
  manyApprovals,
];

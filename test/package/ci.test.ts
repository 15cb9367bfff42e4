// The CI run: the line it ends with, and the versions it runs on.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository, temporaryCopy } from "../support/temporary-copy.js";

const report = (passed: number, failed: number, skipped: number) =>
  JSON.stringify({ numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped, numTodoTests: 0 });

type Steps = { readonly failed?: number; readonly skipped?: number };

function count({ failed = 0, skipped = 0 }: Steps, ...codes: readonly number[]) {
  const root = temporaryCopy([], { "0.json": report(10, 0, 1), "1.json": report(7, 2, 0) });
  const runs = codes.map((code, index) => `run ${index}=${code}=${join(root, `${index}.json`)}`);
  const command = [join(repository, "scripts/count-tests.mjs"), String(failed), String(skipped), ...runs];
  const { stdout, status } = spawnSync(process.execPath, command, { encoding: "utf8" });
  return { line: stdout.trimEnd().split("\n").at(-1) ?? "", status };
}

test("the line is the sum of the runs", () => {
  expect(count({}, 0)).toEqual({ line: "10 passed, 0 failed, 1 skipped", status: 0 });
  expect(count({}, 0, 1)).toEqual({ line: "17 passed, 2 failed, 1 skipped", status: 1 });
});

test("a failed step, a run that failed without a failed test and a missing report are failures", () => {
  expect(count({ failed: 1 }, 0)).toEqual({ line: "10 passed, 1 failed, 1 skipped", status: 1 });
  expect(count({}, 1)).toEqual({ line: "10 passed, 1 failed, 1 skipped", status: 1 });
  expect(count({}, 0, 1, 1)).toEqual({ line: "17 passed, 3 failed, 1 skipped", status: 1 });
  expect(count({ failed: 1 })).toEqual({ line: "0 passed, 1 failed, 0 skipped", status: 1 });
});

test("a skipped step counts as skipped and fails nothing", () => {
  expect(count({ skipped: 2 }, 0)).toEqual({ line: "10 passed, 0 failed, 3 skipped", status: 0 });
});

test("a step that cannot be done says why and is counted, and no step is left out in silence", () => {
  const script = readFileSync(join(repository, ".ci/run"), "utf8");
  expect(script).toContain('count-tests.mjs "$failed_steps" "$skipped_steps"');
  const skip = /^skip\(\) \{[^]*?^\}$/m.exec(script)?.[0] ?? "";
  const told = spawnSync(
    "bash",
    ["-c", `${skip}\nskipped_steps=0\nskip look "no browser"\nprintf %s "$skipped_steps"`],
    {
      encoding: "utf8",
    },
  );
  expect(told.stdout).toBe("\n==> look: SKIPPED: no browser\n1");
  expect(/if browser; then[^]*?else\n\s*skip "[^"]+" "[^"]+"\n/.test(script)).toBe(true);
  expect(script).not.toMatch(/left out, no/);
});

test("L7: the second run is on the lowest versions that the peer ranges allow", () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    peerDependencies: Record<string, string>;
  };
  const script = readFileSync(join(repository, ".ci/run"), "utf8");
  const lowest = (name: string) => new RegExp(`^LOWEST_${name}=(.*)$`, "m").exec(script)?.[1];
  const floor = (range: string | undefined) => {
    const [, digits = ""] = /(\d+(?:\.\d+)*)/.exec(range ?? "") ?? [];
    return [...digits.split("."), "0", "0"].slice(0, 3).join(".");
  };
  expect(lowest("LANGGRAPH")).toBe(floor(peerDependencies["@langchain/langgraph"]));
  expect(lowest("LANGCHAIN_CORE")).toBe(floor(peerDependencies["@langchain/core"]));
  expect(lowest("LANGCHAIN")).toBe(floor(peerDependencies["langchain"]));
});

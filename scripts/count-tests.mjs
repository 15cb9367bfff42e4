// The last line of .ci/run: the sum of vitest's json reports. Arguments: the number of steps that failed, of steps that were
// skipped, then one per run, `name=exit code=report file`; a run that failed without a failed test (or left no report)
// counts as one failure.
import { readFileSync } from "node:fs";

const [failedSteps, skippedSteps, ...runs] = process.argv.slice(2);
const total = { passed: 0, failed: Number(failedSteps), skipped: Number(skippedSteps) };

for (const run of runs) {
  const [name, code, file] = run.split("=");
  const report = readReport(file ?? "");
  const failed = report.numFailedTests + (code !== "0" && report.numFailedTests === 0 ? 1 : 0);
  const skipped = report.numPendingTests + report.numTodoTests;
  console.log(`${name}: ${report.numPassedTests} passed, ${failed} failed, ${skipped} skipped`);
  total.passed += report.numPassedTests;
  total.failed += failed;
  total.skipped += skipped;
}

console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** @param {string} file */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 };
  }
}

// The declarations as a user's compiler reads them, with nothing skipped: what `stripInternal` takes away must not be named by what
// is left. The entry points that need no framework only: LangChain's own declarations do not pass such a check.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";
import { repository } from "../support/temporary-copy.js";

// Inside the repository, so that the packages that declarations name are found.
const folder = mkdtempSync(join(repository, "node_modules", ".declarations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the core's declarations compile with skipLibCheck off", { timeout: 120_000 }, () => {
  const tsc = join(repository, "node_modules", "typescript", "bin", "tsc");
  const emit = ["-p", "tsconfig.build.json", "--outDir", folder, "--emitDeclarationOnly", "--declarationMap", "false"];
  execFileSync(process.execPath, [tsc, ...emit], { cwd: repository });
  const entries = ["index.d.ts", "flow/index.d.ts", "spi.d.ts", "testing/index.d.ts"].map((file) => join(folder, file));
  const program = ts.createProgram(entries, {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    typeRoots: [join(repository, "node_modules", "@types")],
  });
  const ours = ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file === undefined || file.fileName.startsWith(folder))
    .map(({ file, messageText }) => `${file?.fileName ?? ""}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`);
  expect(ours).toEqual([]);
});

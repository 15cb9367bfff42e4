// The source tree as text and imports, read without any of the tools whose work it double-checks.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";

/** One file of `src`, named as the repository names it (`src/tools/spec.ts`). */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Every TypeScript file below `src` of a repository. */
export function sourceFiles(root: string): SourceFile[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => posix.join("src", name.split("\\").join("/")))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** What a file imports (types, re-exports and dynamic imports included): a path below `src`, or a package or built-in. */
export function importsOf({ path, text }: SourceFile): string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith(".") ? posix.join(posix.dirname(path), fileName.replace(/\.js$/, ".ts")) : fileName,
    );
}

/** Every syntax node of a file, parents first. */
export function nodesOf({ path, text }: SourceFile): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return nodes;
}

/** Lines that are neither blank nor comment, as the linter counts them. */
export function codeLines({ text }: SourceFile): number {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/\*|\*)/.test(line)).length;
}

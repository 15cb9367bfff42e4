// Code in docstrings compiles. Owns writing each `@example` into a file of its own and running the compiler over them once.
// In an example the public names stand as they are (of its own entry point first), and so does what docstring-names.d.ts declares:
// a page of the reference says above it what to import. Everything else an example makes or imports itself.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { entryPoints, readSurface } from "../public-api.mjs";

/** @typedef {{ entry: string, name: string, code: string }} Example */

const NAMES = fileURLToPath(new URL("docstring-names.d.ts", import.meta.url));

/**
 * @param {string} root
 * @param {readonly Example[]} examples
 * @param {readonly string[]} [names] files that declare what examples use without making it
 * @returns {string[]} what does not compile
 */
export function compileExamples(root, examples, names = [NAMES]) {
  const exported = publicNames(root);
  // Inside the repository, so that its own name and those of its peers are found.
  mkdirSync(join(root, ".tmp"), { recursive: true });
  const folder = mkdtempSync(join(root, ".tmp", "examples-"));
  try {
    const files = examples.map((example, index) =>
      write(join(folder, `example-${index}.ts`), moduleOf(example, exported)),
    );
    const program = ts.createProgram([...files, ...names], options(root));
    return ts.getPreEmitDiagnostics(program).flatMap(({ file, start, messageText }) => {
      const at = files.indexOf(file?.fileName ?? "");
      const text = ts.flattenDiagnosticMessageText(messageText, " ");
      const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line;
      const place = examples[at]?.name ?? relative(root, file?.fileName ?? "");
      return [`${place.replace("./", "")}: its @example does not compile, line ${line}: ${text}`];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} root
 * @returns {{ entry: string, name: string }[]} public values and types by the entry point that exports them
 */
function publicNames(root) {
  return entryPoints(root)
    .filter(({ name, source }) => name !== "./spi" && existsSync(source))
    .flatMap(({ name: entry, source }) => {
      const { values, types } = readSurface(source).surface;
      return [...values, ...types].map((name) => ({ entry, name }));
    });
}

/**
 * The example below one line that imports the public names it uses and does not declare.
 * @param {Example} example
 * @param {{ entry: string, name: string }[]} names
 */
function moduleOf({ entry, code }, names) {
  const fenced = [...code.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, inside]) => inside);
  const text = fenced.length > 0 ? fenced.join("\n") : code;
  const ownFirst = names.toSorted((a, b) => Number(b.entry === entry) - Number(a.entry === entry));
  const used = new Map(ownFirst.toReversed().map(({ name, entry: from }) => [name, from]));
  const imports = [...used].filter(([name]) => isUsed(text, name) && !isDeclared(text, name));
  const lines = imports.map(([name, from]) => `import { ${name} } from "${from.replace(".", "agent-adapter")}";`);
  return `${lines.join(" ")}\n${text}\nexport {};\n`;
}

/**
 * @param {string} text
 * @param {string} name
 */
function isUsed(text, name) {
  return new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)${name}\\b(?!\\??:)`).test(text);
}

/**
 * @param {string} text
 * @param {string} name
 */
function isDeclared(text, name) {
  return new RegExp(
    `\\b(?:const|let|function|class)\\s+(?:\\{[^}]*)?\\b${name}\\b|\\bimport\\b[^;]*\\b${name}\\b`,
  ).test(text);
}

/**
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  writeFileSync(file, text);
  return file;
}

/**
 * The options of tsconfig.json.
 * @param {string} root
 * @returns {ts.CompilerOptions}
 */
export function compilerOptions(root) {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (file) => ts.sys.readFile(file));
  return ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
}

/** @param {string} root */
function options(root) {
  return { ...compilerOptions(root), noUnusedLocals: false, noUnusedParameters: false, verbatimModuleSyntax: false };
}

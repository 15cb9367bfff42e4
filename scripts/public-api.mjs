// What each entry point exports, and the pins of it in test/package/public-api.json.
// Owns reading the public files (syntax only, no build); the test compares, this script rewrites the pins.
//   npm run api                shows what differs from the pins
//   npm run api -- --update    rewrites the pins
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { isMain, rootFromArguments } from "./support/command.mjs";

/**
 * @typedef {{ values: string[], types: string[] }} Surface
 * @typedef {{ surface: Surface, problems: string[] }} Reading
 */

export const PINS = "test/package/public-api.json";

/**
 * The entry points of package.json and the source file each runs from.
 * @param {string} root
 * @returns {{ name: string, source: string }[]}
 */
export function entryPoints(root) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([name]) => name !== "./package.json")
    .map(([name, target]) => ({ name, source: join(root, target["agent-adapter-source"]) }));
}

/**
 * Named exports of one public file, and what makes it unreadable as a table of contents.
 * @param {string} file
 * @returns {Reading}
 */
export function readSurface(file) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  /** @type {Reading} */
  const reading = { surface: { values: [], types: [] }, problems: [] };
  for (const statement of source.statements) readStatement(statement, reading);
  reading.surface.values.sort();
  reading.surface.types.sort();
  return reading;
}

/**
 * @param {ts.Statement} statement
 * @param {Reading} reading
 */
function readStatement(statement, reading) {
  if (ts.isExportDeclaration(statement)) readExportList(statement, reading);
  else if (ts.isExportAssignment(statement)) reading.problems.push("a default export");
  else if (ts.canHaveModifiers(statement)) readDeclaration(statement, reading);
}

/**
 * @param {ts.ExportDeclaration} statement
 * @param {Reading} reading
 */
function readExportList(statement, { surface, problems }) {
  const list = statement.exportClause;
  if (list === undefined || ts.isNamespaceExport(list)) {
    problems.push(`\`${statement.getText()}\`: name every export`);
    return;
  }
  for (const { name, isTypeOnly } of list.elements) {
    if (name.text === "default") problems.push("a default export");
    (statement.isTypeOnly || isTypeOnly ? surface.types : surface.values).push(name.text);
  }
}

/**
 * @param {ts.Statement & ts.HasModifiers} statement
 * @param {Reading} reading
 */
function readDeclaration(statement, { surface, problems }) {
  const modifiers = new Set(ts.getModifiers(statement)?.map(({ kind }) => kind));
  if (!modifiers.has(ts.SyntaxKind.ExportKeyword)) return;
  if (modifiers.has(ts.SyntaxKind.DefaultKeyword)) problems.push("a default export");
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
  (isType ? surface.types : surface.values).push(...declaredNames(statement));
}

/**
 * @param {ts.Statement} statement
 * @returns {string[]}
 */
function declaredNames(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = /** @type {{ name?: ts.Identifier }} */ (/** @type {unknown} */ (statement));
  return name === undefined ? [] : [name.text];
}

/**
 * @param {string} root
 * @returns {Record<string, Surface>}
 */
export function readPins(root) {
  const file = join(root, PINS);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

/**
 * @param {string} root
 * @returns {Record<string, Surface>}
 */
function currentSurfaces(root) {
  const existing = entryPoints(root).filter(({ source }) => existsSync(source));
  return Object.fromEntries(existing.map(({ name, source }) => [name, readSurface(source).surface]));
}

/**
 * @param {Record<string, Surface>} surfaces
 * @returns {string[]} one line per exported name
 */
function lines(surfaces) {
  return Object.entries(surfaces).flatMap(([entry, { values, types }]) => [
    ...values.map((name) => `${entry} ${name}`),
    ...types.map((name) => `${entry} type ${name}`),
  ]);
}

/** @param {string} root */
function main(root) {
  const current = currentSurfaces(root);
  if (process.argv.includes("--update")) {
    writeFileSync(join(root, PINS), `${JSON.stringify(current, null, 2)}\n`);
    console.log(`${PINS}: ${lines(current).length} names of ${Object.keys(current).length} entry points`);
    return;
  }
  const [pinned, actual] = [lines(readPins(root)), lines(current)];
  const added = actual.filter((line) => !pinned.includes(line)).map((line) => `+ ${line}`);
  const removed = pinned.filter((line) => !actual.includes(line)).map((line) => `- ${line}`);
  for (const line of [...added, ...removed]) console.log(line);
  if (added.length + removed.length > 0) process.exitCode = 1;
  else console.log(`public API as pinned: ${actual.length} names`);
}

if (isMain(import.meta.url)) main(rootFromArguments());

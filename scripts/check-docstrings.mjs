// Every public symbol has a complete docstring. Owns the rules, which read the same way for every entry point of package.json:
//   1. an exported symbol has a first sentence; so has every member of an exported interface, object type and class
//   2. an optional member of an `…Options` type says what holds without it ("Default 100.", "Without it ...")
//   3. a function, class or method names each error of the package that its own code throws, in `@throws` (found by following
//      calls, see support/thrown-errors.mjs; a method without a docstring has that of its interface); where the code cannot get
//      there, it says `@throws nothing`
//   4. a function or class has an `@example`, and examples compile (support/docstring-examples.mjs)
// Errors have no `@example` (nobody makes them); `agent-adapter/spi` has neither 3 nor 4: it is experimental.
//   npm run docstrings
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { entryPoints } from "./public-api.mjs";
import { isMain, rootFromArguments } from "./support/command.mjs";
import { compileExamples, compilerOptions } from "./support/docstring-examples.mjs";
import { thrownErrors } from "./support/thrown-errors.mjs";

/**
 * @typedef {import("./support/docstring-examples.mjs").Example} Example
 * @typedef {{ problems: string[], symbols: number, members: number, examples: Example[] }} Report
 * @typedef {{ checker: ts.TypeChecker, thrownBy: import("./support/thrown-errors.mjs").ThrownBy, report: Report, root: string }} Reading
 * @typedef {{ entry: string, name: string, isType: boolean }} Place
 */

const EXPERIMENTAL = new Set(["./spi"]);
const SAYS_THE_DEFAULT = /\b(defaults?|without|unless|left out|not given)\b/i;

/**
 * @param {string} root
 * @returns {Report}
 */
export function readDocstrings(root) {
  const entries = entryPoints(root).filter(({ source }) => existsSync(source));
  const program = ts.createProgram(
    entries.map(({ source }) => source),
    compilerOptions(root),
  );
  const checker = program.getTypeChecker();
  const isOurs = (/** @type {string} */ name, /** @type {ts.Declaration} */ { parent }) =>
    ts.isSourceFile(parent) && parent.fileName === join(root, "src/errors.ts") && name !== "AgentAdapterError";
  /** @type {Report} */
  const report = { problems: [], symbols: 0, members: 0, examples: [] };
  const reading = { checker, thrownBy: thrownErrors(checker, isOurs), report, root };
  /** @type {Set<ts.Symbol>} */
  const seen = new Set();
  // The experimental entry last: what it shares with another one is read by the rules of that one.
  for (const { name, source } of entries.toSorted((a, b) => Number(isExperimental(a)) - Number(isExperimental(b)))) {
    const file = program.getSourceFile(source);
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) continue;
    for (const exported of checker.getExportsOfModule(module)) {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      if (seen.has(symbol)) continue;
      seen.add(symbol);
      const place = { entry: name, name: `${name} ${exported.name}`, isType: isTypeOnly(exported) };
      readSymbol(reading, symbol, place);
    }
  }
  return report;
}

/** @param {{ name: string }} entry */
function isExperimental({ name }) {
  return EXPERIMENTAL.has(name);
}

/** @param {ts.Symbol} exported a class of which only the type is exported is one that nobody makes */
function isTypeOnly({ declarations }) {
  return declarations?.some((declaration) => ts.isTypeOnlyExportDeclaration(declaration)) === true;
}

/**
 * @param {Reading} reading
 * @param {ts.Symbol} symbol
 * @param {Place} place
 */
function readSymbol(reading, symbol, place) {
  reading.report.symbols += 1;
  needSentence(reading, symbol, place.name);
  for (const declaration of symbol.declarations ?? []) readDeclaration(reading, declaration, place);
  const [declaration] = symbol.declarations ?? [];
  const isCalled = (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0 && !place.isType;
  if (declaration === undefined || !isCalled) return;
  keepExamples(reading, symbol, place);
  if (isExperimental({ name: place.entry })) return;
  needThrows(reading, declaration, { name: place.name, docs: [symbol, ...constructorsOf(symbol)] });
  if (!isError(reading, symbol) && !hasTag(symbol, "example")) fault(reading, place.name, "no @example");
}

/**
 * @param {Reading} reading
 * @param {ts.Declaration} declaration
 * @param {Place} place
 */
function readDeclaration(reading, declaration, place) {
  if (ts.isInterfaceDeclaration(declaration)) readMembers(reading, declaration.members, place);
  if (ts.isTypeAliasDeclaration(declaration)) readObjectType(reading, declaration.type, place);
  if (ts.isClassDeclaration(declaration)) readClass(reading, declaration, place);
}

/**
 * @param {Reading} reading
 * @param {ts.TypeNode} type
 * @param {Place} place
 */
function readObjectType(reading, type, place) {
  if (ts.isTypeLiteralNode(type)) readMembers(reading, type.members, place);
  else if (ts.isIntersectionTypeNode(type)) for (const part of type.types) readObjectType(reading, part, place);
}

/**
 * @param {Reading} reading
 * @param {readonly (ts.TypeElement | ts.ClassElement)[]} members
 * @param {Place} place
 */
function readMembers(reading, members, place) {
  for (const member of members) {
    const symbol = publicSymbol(reading, member);
    if (symbol === undefined) continue;
    reading.report.members += 1;
    const name = `${place.name}.${symbol.name}`;
    needSentence(reading, symbol, name);
    keepExamples(reading, symbol, { ...place, name });
    const text = sentenceOf(reading, symbol);
    const isOption = (symbol.flags & ts.SymbolFlags.Optional) !== 0 && /Options\b/.test(place.name);
    if (isOption && text !== "" && !SAYS_THE_DEFAULT.test(text)) fault(reading, name, "does not say its default");
  }
}

/**
 * @param {Reading} reading
 * @param {ts.ClassDeclaration} declaration
 * @param {Place} place
 */
function readClass(reading, declaration, place) {
  const members = declaration.members.filter((member) => !isInherited(reading, declaration, member));
  readMembers(reading, members, place);
  if (isExperimental({ name: place.entry })) return;
  for (const member of declaration.members) {
    const symbol = ts.isMethodDeclaration(member) ? publicSymbol(reading, member) : undefined;
    if (symbol === undefined) continue;
    const docs = [symbol, ...inherited(reading, declaration, symbol)];
    needThrows(reading, member, { name: `${place.name}.${symbol.name}`, docs });
  }
}

/**
 * A member that users can write: named, neither private nor internal, and no symbol of JavaScript.
 * @param {Reading} reading
 * @param {ts.TypeElement | ts.ClassElement} member
 */
function publicSymbol({ checker }, member) {
  const name = member.name;
  if (name === undefined || ts.isPrivateIdentifier(name) || ts.isComputedPropertyName(name)) return undefined;
  const flags = ts.getCombinedModifierFlags(/** @type {ts.Declaration} */ (member));
  if (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Override)) return undefined;
  const symbol = checker.getSymbolAtLocation(name);
  return symbol === undefined || hasTag(symbol, "internal") ? undefined : symbol;
}

/**
 * The same member in what the class implements or extends: a method without a docstring has that one.
 * @param {Reading} reading
 * @param {ts.ClassDeclaration} declaration
 * @param {ts.Symbol} symbol
 */
function inherited({ checker }, { heritageClauses = /** @type {any} */ ([]) }, symbol) {
  /** @type {ts.ExpressionWithTypeArguments[]} */
  const parents = [...heritageClauses].flatMap(({ types }) => [...types]);
  return parents.flatMap((parent) => checker.getTypeAtLocation(parent).getProperty(symbol.name) ?? []);
}

/**
 * @param {Reading} reading
 * @param {ts.ClassDeclaration} declaration
 * @param {ts.ClassElement} member
 */
function isInherited(reading, declaration, member) {
  const symbol = publicSymbol(reading, member);
  return symbol !== undefined && inherited(reading, declaration, symbol).length > 0;
}

/**
 * @param {Reading} reading
 * @param {ts.Symbol} symbol
 */
function isError({ root }, symbol) {
  return symbol.declarations?.some(
    (declaration) => declaration.getSourceFile().fileName === join(root, "src/errors.ts"),
  );
}

/** @param {ts.Symbol} symbol the constructors' own docstrings count as those of the class */
function constructorsOf(symbol) {
  return [symbol.members?.get(ts.InternalSymbolName.Constructor) ?? []].flat();
}

/**
 * @param {Reading} reading
 * @param {ts.Symbol} symbol
 */
function sentenceOf({ checker }, symbol) {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
}

/**
 * @param {Reading} reading
 * @param {ts.Symbol} symbol
 * @param {string} name
 */
function needSentence(reading, symbol, name) {
  const text = sentenceOf(reading, symbol);
  if (text === "") fault(reading, name, "no docstring");
  else if (!/[.?!:](\s|`|\)|$)/.test(text)) fault(reading, name, "its docstring has no sentence that ends");
}

/**
 * @param {Reading} reading
 * @param {ts.Node} declaration
 * @param {{ name: string, docs: ts.Symbol[] }} where
 */
function needThrows(reading, declaration, { name, docs }) {
  const said = docs.flatMap((symbol) => tagTexts(symbol, "throws")).join(" ");
  if (said.startsWith("nothing")) return;
  const missing = [...reading.thrownBy(declaration)].filter((error) => !new RegExp(`\\b${error}\\b`).test(said));
  for (const error of missing.toSorted()) fault(reading, name, `throws ${error}, and no @throws says so`);
}

/**
 * @param {Reading} reading
 * @param {ts.Symbol} symbol
 * @param {Place} place
 */
function keepExamples({ report }, symbol, { entry, name }) {
  for (const code of tagTexts(symbol, "example")) report.examples.push({ entry, name, code });
}

/**
 * @param {ts.Symbol} symbol
 * @param {string} tag
 * @returns {string[]}
 */
function tagTexts(symbol, tag) {
  return symbol
    .getJsDocTags()
    .filter(({ name }) => name === tag)
    .map(({ text }) => ts.displayPartsToString(text));
}

/**
 * @param {ts.Symbol} symbol
 * @param {string} tag
 */
function hasTag(symbol, tag) {
  return symbol.getJsDocTags().some(({ name }) => name === tag);
}

/**
 * @param {Reading} reading
 * @param {string} name
 * @param {string} what
 */
function fault({ report }, name, what) {
  report.problems.push(`${name.replace("./", "")}: ${what}`);
}

/** @param {string} root */
function main(root) {
  const { problems, symbols, members, examples } = readDocstrings(root);
  const faults = [...problems, ...compileExamples(root, examples)];
  for (const problem of faults) console.error(problem);
  if (faults.length > 0) process.exitCode = 1;
  const found = `${symbols} symbols, ${members} members, ${examples.length} examples`;
  console.log(
    `docstrings in ${relative(process.cwd(), join(root, "src")) || "src"}: ${found}, ${faults.length} faults`,
  );
}

if (isMain(import.meta.url)) main(rootFromArguments());

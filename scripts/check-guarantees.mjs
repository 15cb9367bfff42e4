// The gate behind docs/guarantees.md (whose first section is the rule this file executes):
//   every pinned part has a row and every row is pinned; a delivered part is cited by a test; a citation names a real part;
//   each delivered row links its tests. `--update` writes those links and docs/reference/proofs.md.
// Owns reading the table and the test titles. The pins are scripts/guarantees.json: rows are never deleted.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { isMain, rootFromArguments } from "./support/command.mjs";
import { linkProofs, proofsPage } from "./support/proofs.mjs";

/**
 * @typedef {{ id: string, promise: string, part: string, delivered: string }} Row
 * @typedef {{ title: string, place: string }} Title
 * @typedef {{ reference: string, place: string }} Citation
 * @typedef {{ problems: string[], rows: Row[], citations: Citation[] }} Report
 */

const TABLE = "docs/guarantees.md";
const PINS = "scripts/guarantees.json";
const PROOFS = "docs/reference/proofs.md";
const REFERENCE = /^[A-Z]\d{1,2}(?:\/[a-z0-9-]+)?$/;
// Bug reports have two digits (B01); promises have none that start with B. They are cited the same way and not checked here.
const BUG_REPORT = /^B\d\d$/;

/**
 * The rows of the table in docs/guarantees.md.
 * @param {string} text
 * @returns {Row[]}
 */
export function readRows(text) {
  return text
    .split("\n")
    .filter((line) => /^\| [A-Z]\d{1,2} \|/.test(line))
    .map((line) => {
      const [id = "", promise = "", part = "", delivered = ""] = line
        .split("|")
        .slice(1)
        .map((cell) => cell.trim());
      return { id, promise, part, delivered };
    });
}

/**
 * The name of a row: `G1/strict`, or `G2` when the promise has one part only.
 * @param {Row} row
 */
export function nameOf({ id, part }) {
  return part === "" ? id : `${id}/${part}`;
}

/**
 * What a title cites: the references in front of a colon, and every bracket that holds references and nothing else.
 * @param {string} title
 * @returns {string[]}
 */
export function citationsIn(title) {
  const front = /^([^:]*):(?:\s|$)/.exec(title)?.[1];
  const brackets = [...title.matchAll(/[([]([^()[\]]*)[)\]]/g)].map(([, inside]) => inside);
  return [front, ...brackets].flatMap((group) => {
    const words = (group ?? "").split(/[\s,]+/).filter((word) => word !== "");
    return words.every((word) => REFERENCE.test(word)) ? words : [];
  });
}

/**
 * The titles of tests and suites in a test file, without skipped ones and what is inside them.
 * @param {string} file
 * @param {string} text
 * @returns {Title[]}
 */
export function titlesIn(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Title[]} */
  const titles = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      const words = calleeWords(node.expression);
      const isTest = ["test", "it", "describe"].includes(words[0] ?? "");
      if (isTest && words.some((word) => ["skip", "todo", "skipIf", "runIf", "fails"].includes(word))) return;
      const title = isTest ? literalText(node.arguments[0]) : undefined;
      if (title !== undefined) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        titles.push({ title, place: `${file}:${line + 1}` });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

/**
 * `test.concurrent.each(table)` reads as test, concurrent, each.
 * @param {ts.Expression} expression
 * @returns {string[]}
 */
function calleeWords(expression) {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isPropertyAccessExpression(expression)) return [...calleeWords(expression.expression), expression.name.text];
  if (ts.isCallExpression(expression)) return calleeWords(expression.expression);
  if (ts.isTaggedTemplateExpression(expression)) return calleeWords(expression.tag);
  return [];
}

/**
 * @param {ts.Expression | undefined} node
 * @returns {string | undefined}
 */
function literalText(node) {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("…");
}

/**
 * Faults of the table by itself and against the pins.
 * @param {Row[]} rows
 * @param {string[]} pins
 * @returns {string[]}
 */
function tableProblems(rows, pins) {
  const names = rows.map(nameOf);
  const split = rows.filter((row) => row.part === "" && rows.some((other) => other !== row && other.id === row.id));
  return [
    ...pins.filter((pin) => !names.includes(pin)).map((pin) => `${pin}: its row is missing (rows are never deleted)`),
    ...names.filter((name) => !pins.includes(name)).map((name) => `${name}: add it to ${PINS}`),
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${name}: two rows`),
    ...split.map(({ id }) => `${id}: has other parts, so this row needs a part too`),
    ...rows.flatMap((row) => [
      ...(["yes", "no"].includes(row.delivered) ? [] : [`${nameOf(row)}: delivered is "yes" or "no"`]),
      ...(row.promise === "" ? [`${nameOf(row)}: no promise`] : []),
    ]),
  ];
}

/**
 * The row a reference stands for: a bare id of a split promise stands for its first row.
 * @param {Row[]} rows
 * @param {string} reference
 * @returns {string | undefined}
 */
function resolveReference(rows, reference) {
  const row = rows.find((candidate) => nameOf(candidate) === reference || candidate.id === reference);
  return row === undefined ? undefined : nameOf(row);
}

/**
 * @param {{ table: string, pins: string[], titles: Title[] }} input
 * @returns {Report}
 */
export function checkGuarantees({ table, pins, titles }) {
  const rows = readRows(table);
  const problems = tableProblems(rows, pins);
  /** @type {Citation[]} */
  const citations = [];
  for (const { title, place } of titles) {
    for (const reference of citationsIn(title).filter((word) => !BUG_REPORT.test(word))) {
      const name = resolveReference(rows, reference);
      if (name === undefined) problems.push(`${place}: cites ${reference}, which does not exist`);
      else citations.push({ reference: name, place });
    }
  }
  const cited = new Set(citations.map(({ reference }) => reference));
  for (const row of rows) {
    const name = nameOf(row);
    if (row.delivered === "yes" && !cited.has(name)) problems.push(`${name}: delivered, but no test cites it`);
  }
  return { problems, rows, citations };
}

/**
 * Checks a whole repository.
 * @param {string} root
 * @returns {Report}
 */
export function checkRepository(root) {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((name) => join("test", name))
    .filter((name) => /\.test(-d)?\.ts$/.test(name) && !name.includes("node_modules"))
    .toSorted();
  return checkGuarantees({
    table: readFileSync(join(root, TABLE), "utf8"),
    pins: JSON.parse(readFileSync(join(root, PINS), "utf8")),
    titles: files.flatMap((file) => titlesIn(file, readFileSync(join(root, file), "utf8"))),
  });
}

/**
 * The two pages that say which tests prove what, as they should be, by their path.
 * @param {string} root
 * @param {Report} report
 * @returns {[string, string][]}
 */
function proofPages(root, { rows, citations }) {
  return [
    [TABLE, linkProofs(readFileSync(join(root, TABLE), "utf8"), readRows)],
    [PROOFS, proofsPage(rows, citations)],
  ];
}

/**
 * The pages among them that are not what they should be.
 * @param {string} root
 * @param {Report} report
 * @returns {[string, string][]}
 */
export function stalePages(root, report) {
  return proofPages(root, report).filter(([path, text]) => {
    const file = join(root, path);
    return !existsSync(file) || readFileSync(file, "utf8") !== text;
  });
}

function main() {
  const root = rootFromArguments();
  const report = checkRepository(root);
  const { problems, rows, citations } = report;
  for (const [path, text] of stalePages(root, report)) {
    if (process.argv.includes("--update")) writeFileSync(join(root, path), text);
    else problems.push(`${path}: stale, run npm run guarantees -- --update`);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  const parts = rows.filter(({ delivered }) => delivered === "yes").length;
  const ids = [...new Set(rows.map(({ id }) => id))];
  const whole = ids.filter((id) => rows.every((row) => row.id !== id || row.delivered === "yes"));
  console.log(
    `guarantees: ${parts} of ${rows.length} parts, ${whole.length} of ${ids.length} whole promises delivered; ` +
      `${citations.length} citations`,
  );
  if (!process.argv.includes("--uncited")) return;
  const cited = new Set(citations.map(({ reference }) => reference));
  console.log(
    `without a citing test: ${rows
      .map(nameOf)
      .filter((name) => !cited.has(name))
      .join(" ")}`,
  );
}

if (isMain(import.meta.url)) main();

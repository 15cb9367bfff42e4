// Code in README and docs comes from files that are compiled and run. Owns copying marked regions into marked blocks.
//   in a page:     <!-- snippet: examples/foo.ts#region -->  ...replaced...  <!-- /snippet -->
//   in a source:   // region: name  ...  // endregion
//   npm run snippets               rewrites the pages
//   npm run snippets -- --check    fails when a page is stale, a file or region is missing, a block is not closed
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { isMain, rootFromArguments } from "./support/command.mjs";

const OPEN = /^<!-- snippet: (\S+?)(?:#(\S+))? -->$/;
const CLOSE = "<!-- /snippet -->";
const REGION_END = /^\s*\/\/ endregion\b/;
const REGION_START = /^\s*\/\/ region: (\S+)\s*$/;

/**
 * The pages that may hold snippets: Markdown at the root and below docs/.
 * @param {string} root
 */
export function pages(root) {
  const top = readdirSync(root).filter((name) => name.endsWith(".md"));
  const docs = existsSync(join(root, "docs"))
    ? readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((name) => join("docs", name))
    : [];
  return [...top, ...docs.filter((name) => name.endsWith(".md") && !name.includes("node_modules"))].toSorted();
}

/**
 * The lines of one region (the whole file without a region), without the region markers and the common indentation.
 * @param {string} text
 * @param {string | undefined} region
 * @returns {string[] | undefined} undefined when the region is missing or not closed
 */
export function regionOf(text, region) {
  const all = text.trimEnd().split("\n");
  const kept = region === undefined ? all : linesOfRegion(all, region);
  if (kept === undefined) return undefined;
  const lines = kept.filter((line) => !REGION_START.test(line) && !REGION_END.test(line));
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents, Infinity);
  return lines.map((line) => line.slice(Math.min(indent, line.length)));
}

/**
 * Regions may nest: the end that counts is the one at the depth of the start.
 * @param {string[]} all
 * @param {string} region
 */
function linesOfRegion(all, region) {
  const start = all.findIndex((line) => REGION_START.exec(line)?.[1] === region);
  if (start === -1) return undefined;
  let depth = 1;
  for (let index = start + 1; index < all.length; index += 1) {
    const line = all[index] ?? "";
    if (REGION_START.test(line)) depth += 1;
    else if (REGION_END.test(line)) depth -= 1;
    if (depth === 0) return all.slice(start + 1, index);
  }
  return undefined;
}

/**
 * A page with every snippet block rewritten from its source.
 * @param {string} root
 * @param {string} text
 * @returns {{ text: string, problems: string[], count: number }}
 */
export function syncPage(root, text) {
  const lines = text.split("\n");
  /** @type {string[]} */
  const out = [];
  /** @type {string[]} */
  const problems = [];
  let count = 0;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    out.push(line);
    const [, file, region] = OPEN.exec(line) ?? [];
    if (file === undefined) continue;
    count += 1;
    const end = lines.indexOf(CLOSE, index);
    const next = lines.findIndex((other, at) => at > index && OPEN.test(other));
    const block = snippet(root, file, region);
    if (end === -1 || (next !== -1 && next < end)) problems.push(`${line}: no ${CLOSE} after it`);
    else if (block === undefined) problems.push(`${line}: no such file or region`);
    else {
      out.push(...block, CLOSE);
      index = end;
    }
  }
  return { text: out.join("\n"), problems, count };
}

/**
 * @param {string} root
 * @param {string} file
 * @param {string | undefined} region
 */
function snippet(root, file, region) {
  const path = join(root, file);
  if (!existsSync(path)) return undefined;
  const lines = regionOf(readFileSync(path, "utf8"), region);
  return lines === undefined ? undefined : [`\`\`\`${extname(file).slice(1)}`, ...lines, "```"];
}

/**
 * @param {string} root
 * @param {{ check: boolean }} options
 */
function main(root, { check }) {
  /** @type {string[]} */
  const problems = [];
  let count = 0;
  for (const page of pages(root)) {
    const before = readFileSync(join(root, page), "utf8");
    const after = syncPage(root, before);
    count += after.count;
    problems.push(...after.problems.map((problem) => `${page}: ${problem}`));
    if (after.text === before) continue;
    if (check) problems.push(`${page}: stale, run npm run snippets`);
    else if (after.problems.length === 0) writeFileSync(join(root, page), after.text);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`snippets: ${count} in step with their sources`);
}

if (isMain(import.meta.url)) main(rootFromArguments(), { check: process.argv.includes("--check") });

// Code in README and docs comes from files that are compiled and run. Owns copying marked regions into marked blocks.
//   in a page:     <!-- snippet: examples/foo.ts#region -->  ...replaced...  <!-- /snippet -->
//   in a source:   // region: name  ...  // endregion
//   npm run snippets               rewrites the pages
//   npm run snippets -- --check    fails when a page is stale, a file or region is missing, a block is not closed
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { rewriteBlocks, rewritePages } from "./support/blocks.mjs";
import { isMain, rootFromArguments } from "./support/command.mjs";

const REGION_END = /^\s*\/\/ endregion\b/;
const REGION_START = /^\s*\/\/ region: (\S+)\s*$/;

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
 */
export function syncPage(root, text) {
  return rewriteBlocks(text, "snippet", (file, region) => {
    const path = join(root, file);
    const lines = existsSync(path) ? regionOf(readFileSync(path, "utf8"), region) : undefined;
    if (lines === undefined) return { problem: "no such file or region" };
    return [`\`\`\`${extname(file).slice(1)}`, ...lines, "```"];
  });
}

function main() {
  const root = rootFromArguments();
  const { count, failed } = rewritePages(root, "npm run snippets", (text) => syncPage(root, text));
  if (!failed) console.log(`snippets: ${count} in step with their sources`);
}

if (isMain(import.meta.url)) main();

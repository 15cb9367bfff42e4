// What pages say that an example prints, it prints. Owns running examples and copying their output into marked blocks.
//   <!-- output: examples/foo.ts -->            all of it
//   <!-- output: examples/foo.ts#refused -->    the section whose heading begins with "refused"
//   node scripts/sync-outputs.mjs               rewrites the pages; with --check it fails when a page is stale
// Hashes differ from run to run: two outputs that differ in nothing else are the same.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rewriteBlocks, rewritePages } from "./support/blocks.mjs";
import { isMain, rootFromArguments } from "./support/command.mjs";

/**
 * The lines of an output, or of one of its sections: a heading stands after an empty line, a section ends before the next.
 * @param {string} output
 * @param {string | undefined} section
 * @returns {string[] | undefined} undefined when no heading begins so
 */
export function partOf(output, section) {
  const lines = output.trim().split("\n");
  if (section === undefined) return lines;
  const start = lines.findIndex(
    (line, index) => (index === 0 || lines[index - 1] === "") && slug(line).startsWith(section),
  );
  if (start === -1) return undefined;
  const end = lines.indexOf("", start);
  return lines.slice(start, end === -1 ? undefined : end);
}

/** @param {string} text */
const slug = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

/** @param {string[]} lines */
const withoutHashes = (lines) => lines.join("\n").replaceAll(/\b[0-9a-f]{8,}\b/g, "#");

/**
 * A page with every output block rewritten.
 * @param {string} text
 * @param {(file: string) => string | undefined} outputOf
 */
export function syncOutputs(text, outputOf) {
  return rewriteBlocks(text, "output", (file, section, before) => {
    const output = outputOf(file);
    if (output === undefined) return { problem: "it does not run" };
    const lines = partOf(output, section);
    if (lines === undefined) return { problem: "it prints no such section" };
    const block = ["```text", ...lines, "```"];
    return withoutHashes(block) === withoutHashes(before) ? before : block;
  });
}

/**
 * Runs each example once, as `npm run demo` runs the demo.
 * @param {string} root
 */
function runner(root) {
  /** @type {Map<string, string | undefined>} */
  const outputs = new Map();
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [tool, ...flags] = scripts.demo.split(" ").slice(0, -1);
  return (/** @type {string} */ file) => {
    if (!outputs.has(file)) {
      const command = [join(root, "node_modules/.bin", tool), ...flags, file];
      const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
      if (status !== 0) console.error(stderr);
      outputs.set(file, status === 0 ? stdout : undefined);
    }
    return outputs.get(file);
  };
}

function main() {
  const root = rootFromArguments();
  const outputOf = runner(root);
  const { count, failed } = rewritePages(root, "node scripts/sync-outputs.mjs", (text) => syncOutputs(text, outputOf));
  if (!failed) console.log(`outputs: ${count} as printed`);
}

if (isMain(import.meta.url)) main();

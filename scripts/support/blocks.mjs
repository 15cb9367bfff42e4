// Blocks of a page that a script fills. Owns finding and replacing them, not what goes in.
//   <!-- kind: source#part -->  ...replaced...  <!-- /kind -->
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What goes into a block: its lines, or why there are none.
 * @typedef {(source: string, part: string | undefined, before: string[]) => string[] | { problem: string }} Render
 */

/**
 * A page with every block of a kind rewritten.
 * @param {string} text
 * @param {string} kind
 * @param {Render} render
 * @returns {{ text: string, problems: string[], count: number }}
 */
export function rewriteBlocks(text, kind, render) {
  const open = new RegExp(`^<!-- ${kind}: (\\S+?)(?:#(\\S+))? -->$`);
  const close = `<!-- /${kind} -->`;
  const lines = text.split("\n");
  /** @type {string[]} */
  const out = [];
  /** @type {string[]} */
  const problems = [];
  let count = 0;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    out.push(line);
    const [, source, part] = open.exec(line) ?? [];
    if (source === undefined) continue;
    count += 1;
    const end = lines.indexOf(close, index);
    const next = lines.findIndex((other, at) => at > index && open.test(other));
    if (end === -1 || (next !== -1 && next < end)) {
      problems.push(`${line}: no ${close} after it`);
      continue;
    }
    const block = render(source, part, lines.slice(index + 1, end));
    if (Array.isArray(block)) {
      out.push(...block, close);
      index = end;
    } else problems.push(`${line}: ${block.problem}`);
  }
  return { text: out.join("\n"), problems, count };
}

/**
 * The pages: Markdown at the root and below docs/.
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
 * Rewrites every page, or with `--check` only says which are stale; problems go to stderr and fail the process.
 * @param {string} root
 * @param {string} command what to run when a page is stale
 * @param {(text: string) => { text: string, problems: string[], count: number }} rewrite
 */
export function rewritePages(root, command, rewrite) {
  const check = process.argv.includes("--check");
  /** @type {string[]} */
  const problems = [];
  let count = 0;
  for (const page of pages(root)) {
    const before = readFileSync(join(root, page), "utf8");
    const after = rewrite(before);
    count += after.count;
    problems.push(...after.problems.map((problem) => `${page}: ${problem}`));
    if (after.text === before) continue;
    if (check) problems.push(`${page}: stale, run ${command}`);
    else if (after.problems.length === 0) writeFileSync(join(root, page), after.text);
  }
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  return { count, failed: problems.length > 0 };
}

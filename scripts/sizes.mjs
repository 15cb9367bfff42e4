// How large the package is. Owns docs/reference/sizes.md: the packed file, and each entry point bundled alone with peers left out.
//   npm run sizes                          builds, measures, rewrites the page
//   node scripts/sizes.mjs --check         fails when something grew by more than a tenth, or the page lacks an entry point
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { isMain, rootFromArguments } from "./support/command.mjs";
import { pack } from "./support/packed.mjs";

/** @typedef {Record<string, number[]>} Sizes */

const PAGE = "docs/reference/sizes.md";
/** What may grow before the page is out of step. */
const TOLERANCE = 1.1;

/**
 * @param {string} root
 * @returns {Sizes} bytes by row
 */
function measure(root) {
  const { name, exports, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "agent-adapter-sizes-"));
  /** @type {Sizes} */
  const sizes = {};
  try {
    const { size, unpackedSize, files } = pack(root, folder);
    sizes["packed file"] = [size];
    sizes["unpacked"] = [unpackedSize];
    sizes["files"] = [files.length];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const [entry, target] of Object.entries(exports)) {
    if (entry === "./package.json") continue;
    const [raw, small] = [false, true].map((minify) =>
      bundled(join(root, target.default), minify, Object.keys(peerDependencies)),
    );
    sizes[entry.replace(".", name)] = [
      raw?.length ?? 0,
      small?.length ?? 0,
      gzipSync(small ?? "", { level: 9 }).length,
    ];
  }
  return sizes;
}

/**
 * @param {string} file
 * @param {boolean} minify
 * @param {string[]} peers
 */
function bundled(file, minify, peers) {
  const { outputFiles } = buildSync({
    entryPoints: [file],
    bundle: true,
    minify,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    external: peers,
    logLevel: "error",
  });
  return outputFiles[0]?.contents;
}

/** @param {Sizes} sizes */
function pageOf(sizes) {
  const rows = Object.entries(sizes);
  const line = (/** @type {string} */ name, /** @type {number[]} */ numbers) =>
    `| ${[`\`${name}\``, ...numbers.map((number) => number.toLocaleString("en-US"))].join(" | ")} |`;
  return `# Sizes

What \`npm run sizes\` measured, in bytes; \`npm run check\` fails when something has grown by more than a tenth since.

| packed file | unpacked | files |
| ---: | ---: | ---: |
| ${["packed file", "unpacked", "files"].map((name) => sizes[name]?.[0]?.toLocaleString("en-US")).join(" | ")} |

The unpacked package has the compiled files, their types and maps, and the sources that the maps lead to. Each entry point bundled
alone by esbuild, with everything it needs but the peers; they share most of it, so the numbers do not add up:

| entry point | bundled | minified | minified, gzip |
| --- | ---: | ---: | ---: |
${rows
  .filter(([, numbers]) => numbers.length === 3)
  .map(([name, numbers]) => line(name, numbers))
  .join("\n")}
`;
}

/**
 * @param {string} page
 * @returns {Sizes}
 */
function read(page) {
  /** @type {Sizes} */
  const sizes = {};
  const cells = page.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll(/[`,]/g, "")),
  );
  for (const [first = "", ...rest] of cells) {
    if (/^\d+$/.test(first))
      Object.assign(sizes, { "packed file": [Number(first)], unpacked: [Number(rest[0])], files: [Number(rest[1])] });
    else if (rest.length === 3 && rest.every((cell) => /^\d+$/.test(cell))) sizes[first] = rest.map(Number);
  }
  return sizes;
}

/**
 * What of the measured sizes the page does not cover.
 * @param {string} page
 * @param {Sizes} sizes
 * @returns {string[]}
 */
export function outgrown(page, sizes) {
  const kept = read(page);
  const gone = Object.keys(kept).filter((name) => sizes[name] === undefined);
  const grown = Object.entries(sizes).filter(([name, numbers]) =>
    numbers.some((number, at) => !(number <= (kept[name]?.[at] ?? 0) * TOLERANCE)),
  );
  return [
    ...gone.map((name) => `${name}: in ${PAGE}, and there is no such entry point`),
    ...grown.map(
      ([name, numbers]) => `${name}: ${numbers.join(" / ")} bytes, ${kept[name]?.join(" / ") ?? "nothing"} in ${PAGE}`,
    ),
  ];
}

/** @param {string} root */
function main(root) {
  const sizes = measure(root);
  if (!process.argv.includes("--check")) {
    writeFileSync(join(root, PAGE), pageOf(sizes));
    console.log(`${PAGE}: ${Object.keys(sizes).length} rows`);
    return;
  }
  const problems = outgrown(readFileSync(join(root, PAGE), "utf8"), sizes);
  for (const problem of problems) console.error(`${problem}; on purpose? npm run sizes`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`sizes: ${Object.keys(sizes).length} rows within a tenth of ${PAGE}`);
}

if (isMain(import.meta.url)) main(rootFromArguments());

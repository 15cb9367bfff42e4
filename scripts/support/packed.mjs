// The packed file as a user gets it. Owns packing it, which peers each entry point imports, and the probe that says what one exports.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/** @typedef {{ file: string, size: number, unpackedSize: number, files: string[] }} Packed */
/** @typedef {{ names?: string[], error?: string }} Probed */

/**
 * Packs what is built. No script runs.
 * @param {string} root
 * @param {string} folder where the file goes
 * @returns {Packed}
 */
export function pack(root, folder) {
  const command = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", folder];
  const output = execFileSync("npm", command, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [packed] = JSON.parse(output);
  const files = packed.files.map((/** @type {{ path: string }} */ { path }) => path);
  return { file: join(folder, packed.filename), size: packed.size, unpackedSize: packed.unpackedSize, files };
}

/**
 * The entry points of an unpacked package by their import name, with the peers that each imports when it is loaded.
 * @param {string} folder
 * @returns {{ name: string, entry: string, peers: string[] }[]}
 */
export function builtEntries(folder) {
  const { name, exports, peerDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const known = Object.keys(peerDependencies);
  return Object.entries(exports)
    .filter(([entry]) => entry !== "./package.json")
    .map(([entry, target]) => {
      const packages = packagesOf(join(folder, target.default));
      const peers = known.filter((peer) => packages.has(peer));
      return { name: entry.replace(".", name), entry, peers };
    });
}

/**
 * The packages that a module imports, itself or through modules of its own package. `import()` does not count: it runs later.
 * @param {string} file
 * @param {Set<string>} [seen]
 * @returns {Set<string>}
 */
function packagesOf(file, seen = new Set()) {
  /** @type {Set<string>} */
  const packages = new Set();
  if (seen.has(file)) return packages;
  seen.add(file);
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  for (const statement of source.statements) {
    const from = specifierOf(statement);
    if (from === undefined) continue;
    if (!from.startsWith(".")) packages.add(/^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
    else for (const name of packagesOf(join(dirname(file), from), seen)) packages.add(name);
  }
  return packages;
}

/** @param {ts.Statement} statement */
function specifierOf(statement) {
  const isImport = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
  const specifier = isImport ? statement.moduleSpecifier : undefined;
  return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier.text : undefined;
}

/**
 * Loads each module in a node process of its own kind and place, and says what it exports or why it does not load.
 * @param {{ node?: string, folder: string, names: readonly string[], by: "import" | "require" }} options
 * @returns {Record<string, Probed>}
 */
export function probe({ node = process.execPath, folder, names, by }) {
  const load = by === "import" ? "await import(name)" : "require(name)";
  const program = `const found = {};
    for (const name of ${JSON.stringify(names)}) {
      try { found[name] = { names: Object.keys(${load}).filter((key) => key !== "module.exports").sort() }; }
      catch (error) { found[name] = { error: String(error.code) + ": " + error.message }; }
    }
    console.log(JSON.stringify(found));`;
  const type = by === "import" ? "module" : "commonjs";
  const output = execFileSync(node, [`--input-type=${type}`, "-e", program], { cwd: folder, encoding: "utf8" });
  return JSON.parse(output);
}

/**
 * What is wrong with what was probed: with its peers an entry point exports the pinned names, without one it says which is missing.
 * @param {Record<string, Probed>} found
 * @param {{ entries: ReturnType<typeof builtEntries>, installed: readonly string[], pins: Record<string, { values: string[] }> }} expected
 * @returns {string[]}
 */
export function faultsOf(found, { entries, installed, pins }) {
  return entries.flatMap(({ name, entry, peers }) => {
    const { names, error = "" } = found[name] ?? {};
    const missing = peers.filter((peer) => !installed.includes(peer));
    if (missing.length === 0) {
      const pinned = pins[entry]?.values ?? [];
      return JSON.stringify(names) === JSON.stringify(pinned)
        ? []
        : [`${name}: ${error || `exports ${names?.join(", ")}`}`];
    }
    const isSaid = /MODULE_NOT_FOUND/.test(error) && missing.some((peer) => error.includes(`'${peer}`));
    return isSaid ? [] : [`${name} without ${missing.join(", ")}: ${error || "loads"}`];
  });
}
